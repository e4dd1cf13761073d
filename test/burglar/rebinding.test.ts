/** A name that changes its address between the check and the connection: what was checked is what is connected to. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import { systemClock } from '../../kernel/platform/src/clock/clock.js';
import { expect } from 'chai';

const GOOD = '127.0.0.2';
const BAD = '127.0.0.1';

describe('a name that changes its address', () => {
  const hits: string[] = [];
  const servers: Server[] = [];
  let port = 0;
  /** What the resolver of the attacker answers, one list a question; the last stays. */
  let answers: string[][] = [];
  let questions = 0;
  let adapter: ReturnType<typeof createFetchAdapter>;

  before(async function () {
    if (process.platform !== 'linux') return this.skip(); // other systems have one address of loopback
    for (const address of [GOOD, BAD]) {
      const server = createServer((req, res) => {
        hits.push(`${address} ${req.url}`);
        if (req.url === '/away') return void res.writeHead(302, { location: `http://rebind.test:${port}/secret` }).end();
        res.end('x');
      });
      await new Promise<void>((done) => server.listen(port, address, done));
      port = (server.address() as AddressInfo).port; // listening, so it has one
      servers.push(server);
    }
  });
  beforeEach(() => {
    hits.length = 0;
    questions = 0;
    adapter = createFetchAdapter({
      config: { get: () => ({ fetch: { ssrf_allowed_hosts: [GOOD], max_response_bytes: 10_000, timeout_secs: 5 } }) },
      secrets: { resolve: async () => undefined, where: async () => undefined } as never,
      clock: systemClock(),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined } as never,
      isModelUrl: () => false,
      resolveHost: async () => {
        const found = answers[Math.min(questions, answers.length - 1)] ?? [];
        questions += 1;
        return found.map((address) => ({ address, family: 4 }));
      },
    });
  });
  afterEach(() => adapter.close());
  after(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });
  const ask = async (path: string): Promise<string> => {
    try {
      const answer = await adapter.fetch(`http://rebind.test:${port}${path}`, { purpose: 'tool' });
      await answer.text();
      return String(answer.status);
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  };

  it('is connected to at the address that was checked, and asked for once', async () => {
    answers = [[GOOD], [BAD]];
    expect(await ask('/')).to.equal('200');
    expect([hits, questions]).to.deep.equal([[`${GOOD} /`], 1]);
  });

  it('is refused when it has changed by the next request, whatever connection is still open', async () => {
    answers = [[GOOD], [BAD]];
    await ask('/');
    expect(await ask('/secret')).to.equal('fetch_refused_address');
    expect(hits).to.deep.equal([`${GOOD} /`]);
  });

  it('is refused when it has changed by the redirect', async () => {
    answers = [[GOOD], [BAD]];
    expect(await ask('/away')).to.equal('fetch_refused_address');
    expect(hits).to.deep.equal([`${GOOD} /away`]);
  });

  it('is refused when one of its addresses is bad, wherever it stands', async () => {
    for (answers of [[[GOOD, BAD]], [[BAD, GOOD]]]) expect(await ask('/secret')).to.equal('fetch_refused_address');
    expect(hits).to.deep.equal([]);
  });

  it('turns a hundred times and is never followed', async () => {
    answers = Array.from({ length: 100 }, (_, n) => [n % 2 === 0 ? GOOD : BAD]);
    await Promise.all(Array.from({ length: 100 }, () => ask('/secret')));
    expect(hits.filter((hit) => hit.startsWith(BAD))).to.deep.equal([]);
    expect(hits).to.have.lengthOf(50);
  });
});
