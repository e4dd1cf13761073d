/** What an extension in a process of its own answers, as browsers, proxies and clients meet it. */
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-answers';

/** Said to a browser, to whatever stands before the daemon, or to a client that follows. */
const HOSTILE: Readonly<Record<string, string>> = {
  'www-authenticate': 'Basic realm="svc: enter your API key"',
  'proxy-authenticate': 'Basic',
  location: 'https://evil.example/login',
  'content-location': '/api/agents',
  refresh: '0; url=https://evil.example',
  link: '</api/shutdown>; rel=preload',
  'set-cookie': 'svc=1',
  'clear-site-data': '"*"',
  'service-worker-allowed': '/',
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': '*',
  'strict-transport-security': 'max-age=0',
  'content-security-policy-report-only': 'default-src *; report-uri https://evil.example',
  'cross-origin-opener-policy': 'unsafe-none',
  'cross-origin-resource-policy': 'cross-origin',
  'permissions-policy': 'camera=*',
  'referrer-policy': 'unsafe-url',
  'report-to': '{}',
  nel: '{}',
  'alt-svc': 'h3="evil.example:443"',
  'origin-agent-cluster': '?0',
  'public-key-pins': 'x',
  sourcemap: 'https://evil.example/x.map',
  'x-sourcemap': 'https://evil.example/x.map',
  'x-accel-redirect': '/etc/passwd',
  'x-sendfile': '/etc/passwd',
  'x-frame-options': 'ALLOWALL',
  'x-request-id': 'forged',
  'x-api-version': 'v9',
  'x-svc-run': 'forged',
  'x-forwarded-for': '127.0.0.1',
  'x-http-method-override': 'DELETE',
  'x-content-type-options': 'sniff',
  'surrogate-control': 'max-age=99',
  'cdn-cache-control': 'public',
  'content-type': 'text/html',
  'transfer-encoding': 'chunked',
  'content-length': '1',
  connection: 'upgrade',
  upgrade: 'h2c',
  trailer: 'x',
  vary: '*',
  date: 'Thu, 01 Jan 1970 00:00:00 GMT',
  age: '0',
  expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
  server: 'evil',
  'mcp-session-id': 'forged',
};

/** An isolated extension makes the daemon ask for one. */
const KEY = 'the-key-of-this-test';

describe('an answer of an extension from elsewhere', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  before(async () => {
    const one = await thirdParty({
      id: ID,
      activate: `
        ctx.routes.add(api.defineRoute({ id: 'answerAny', method: 'POST', path: '/api/${ID}/any', summary: 'Answers as asked', auth: 'bearer', permission: '${ID}.write', cost: 1, body: api.Type.Any(), responses: { 200: api.Type.Any() }, handler: async (req) => {
          if (req.body.kind === 'error') throw new api.SvcError('acme_no', 'No.', { status: 401, headers: req.body.headers });
          return { kind: req.body.kind ?? 'json', status: req.body.status ?? 200, contentType: req.body.contentType, body: req.body.body ?? 'text', headers: req.body.headers ?? {} };
        } }));`,
    });
    kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`, thirdParties: [one] });
  });
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });
  const ask = (body: object): Promise<Response> =>
    fetch(`${kernel.url}/api/${ID}/any`, { method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }, body: JSON.stringify(body) });

  for (const kind of ['json', 'bytes', 'error'])
    it(`says nothing by headers that a browser, a proxy or a client would obey (${kind})`, async () => {
      const plain = await ask({ kind, contentType: 'text/plain' });
      const hostile = await ask({ kind, contentType: 'text/plain', headers: HOSTILE });
      const [before, after] = [plain, hostile].map(({ headers }) => Object.fromEntries([...headers].filter(([name]) => !['x-request-id', 'date'].includes(name))));
      expect(after).to.deep.equal(before);
      expect(hostile.headers.get('x-request-id')).to.not.equal('forged');
    });

  it('says what describes it, and headers of its own by their own beginning', async () => {
    const said = {
      etag: '"1"',
      'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      'content-disposition': 'attachment; filename="a.csv"',
      'retry-after': '3',
      'x-ext-mine': 'yes',
      'x-total-count': '7',
    };
    const { headers } = await ask({ kind: 'bytes', contentType: 'text/csv', headers: said });
    for (const [name, value] of Object.entries(said)) expect(headers.get(name), name).to.equal(value);
    expect(headers.get('content-type')).to.equal('text/csv');
  });

  for (const [given, taken] of [
    ['public, max-age=31536000, immutable', 'private, max-age=31536000, immutable'],
    ['s-maxage=600, max-age=5', 'private, max-age=5'],
    ['PUBLIC', 'private'],
    ['no-store, public', 'no-store'],
    ['max-age=5, x="\\"public"', 'private, max-age=5'],
  ] as const)
    it(`is kept by nobody but the one who asked: ${given}`, async () => {
      expect((await ask({ headers: { 'cache-control': given } })).headers.get('cache-control')).to.equal(taken);
    });

  it('leads nowhere', async () => {
    for (const status of [201, 301, 302, 303, 307, 308]) expect((await ask({ status, headers: { location: '/api/shutdown', refresh: '0' } })).headers.get('location'), String(status)).to.equal(null);
  });

  for (const type of [
    'text/javascript',
    'application/javascript; charset=utf-8',
    'TEXT/JavaScript',
    'application/x-javascript',
    'text/ecmascript',
    'text/css',
    'application/wasm',
    'multipart/x-mixed-replace; boundary=x',
    'text/xsl',
    'text/cache-manifest',
    'text/html, text/javascript',
    'nonsense',
  ])
    it(`is no script, style or list of documents, whatever it calls itself: ${type}`, async () => {
      const { headers } = await ask({ kind: 'bytes', contentType: type, body: 'alert(1)' });
      expect([headers.get('content-type'), headers.get('x-content-type-options')]).to.deep.equal(['text/plain; charset=utf-8', 'nosniff']);
    });

  for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml', 'application/pdf'])
    it(`is a document of nobody's origin in which nothing runs: ${type}`, async () => {
      const { headers } = await ask({ kind: 'bytes', contentType: type, body: '<script>alert(1)</script>' });
      expect(headers.get('content-type')).to.equal(type);
      expect(headers.get('content-security-policy')).to.match(/^sandbox; default-src 'none'/);
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options')]).to.deep.equal(['nosniff', 'DENY']);
    });
});
