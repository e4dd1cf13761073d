/** Who may call what: every mounted route with every kind of credential: a key as a bearer token, one of each role, a wrong one, none. */
import { createHash } from 'node:crypto';
import { bootTestKernel, OPEN_RATE, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { call, expectWellFormed, refusalOrUpgrade, type Walked, walk } from './route-walk.js';

const KEYS = { owner: 'owner-key-1', admin: 'admin-key-1', user: 'user-key-1', viewer: 'viewer-key-1' } as const;
type Holder = keyof typeof KEYS;

const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const person = (role: Holder): string => `[[users]]\nname = "${role}"\nrole = "${role}"\napi_key_hash = "${hash(KEYS[role])}"\n`;
/** Closed by the settings as they come; here the roles are what is looked at. */
const OPEN_TOOLS = '[tool_invoke]\nenabled = true\nallowlist = ["*"]\n';
const WITH_KEYS = `api_key = "${KEYS.owner}"\n[extensions]\npreset = "full"\n${OPEN_RATE}${OPEN_TOOLS}${person('admin')}${person('user')}${person('viewer')}[terminal]\nenabled = true\nroles = ["owner", "admin"]\n`;

/**
 * GET / and GET /api/health are the interface's. /api/ready is not of the interface: a probe that has no key asks it. Nor are the pages at / and /docs with their files, which hold no data and must be there to ask a person for the key.
 * What a person shared by a link is read by whoever has the link.
 * Whoever logs in or out has no key to show yet, or no more: these validate by themselves what they are given.
 */
const PUBLIC = new Set([
  'GET /',
  'GET /.well-known/agent.json',
  'GET /.well-known/agent-card.json',
  'GET /api/health',
  'GET /api/ready',
  'GET /docs',
  'GET /docs/{file}',
  'GET /ui/{asset}',
  'GET /ui/panels/{extension}/{chunk}',
  'GET /ui/frames/{extension}/{panel}',
  'GET /api/auth/callback',
  'GET /api/mcp/servers/{id}/auth/callback',
  'GET /api/auth/login',
  'GET /api/auth/login/{provider}',
  'GET /api/auth/providers',
  'POST /api/auth/callback',
  'GET /auth/session',
  'GET /shared/{token}',
  'POST /api/pairing/complete',
  'POST /api/channels/{name}/webhook',
  'POST /auth/session',
  'POST /mcp',
  'POST /auth/logout',
]);
/** Validate the key or code in their body, and a walk has none: the claims of auth and pairing are about them. */
const LOGINS = ['createLogin', 'completePairing'];
/** Senders show the secret of a trigger there, and no key counts: the claims of triggers are about it. */
const SIGNED = new Set(['triggerByHook']);
/** Changes nothing, although it is a POST: it says what a change would do. */
const DRY_RUNS = new Set(['planExtensionChange']);
/** A socket that tells and takes nothing but a ping. */
const REPORTS_ONLY = new Set(['followChanges']);

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const isPublic = (one: Walked): boolean => PUBLIC.has(`${one.method} ${one.template}`);

/** Without a hub of skills, and without a provider to sign in at, their routes answer 503. */
const refusalsOf = (what: string): number[] => (/\/api\/(skillhub|clawhub-cn|auth)\//.test(what) ? [401, 403, 500] : [401, 403, 500, 503]);

/** Public routes of what is not there. A form without a code is none. */
const UNANSWERED: ReadonlyArray<readonly [RegExp, number]> = [
  [/ \/(ui\/frames|shared|api\/channels)\//, 404],
  [/^GET \/api\/auth\/(login|callback)/, 503],
  [/^GET \/api\/mcp\/servers\/[^/]+\/auth\/callback/, 400],
  [/^POST \/api\/auth\/callback/, 400],
];

describe('authentication', () => {
  describe('with an API key set', () => {
    let kernel: TestKernel;
    let routes: Walked[];
    before(async () => {
      kernel = await bootTestKernel({ config: WITH_KEYS });
      // A public file answers where it is named.
      const [panel] = (await kernel.as(KEYS.owner).expect(200, 'GET', '/api/panels')).body.panels;
      routes = walk(kernel, { file: 'docs.js', asset: 'kit.js', extension: panel.extension, chunk: panel.script }).filter(({ id }) => !LOGINS.includes(id));
    });
    after(stopTestKernels);

    const tryAll = async (which: (one: Walked) => boolean, headers: Record<string, string>, decide: (status: number, what: string, one: Walked) => void) => {
      for (const one of routes.filter(which)) {
        const answer = await call(new TestHttp(kernel.url), one, headers);
        const what = `${one.method} ${one.template} (${answer.status})`;
        expectWellFormed(answer, what);
        if (answer.status === 401) expect(answer.headers.get('www-authenticate'), what).to.equal('Bearer');
        decide(answer.status, what, one);
      }
    };

    it('only GET /, GET /api/health, the readiness probe, the files of pages, the agent card, what was shared by a link, where people log in and out, signed messages of channels, where sign-ins at MCP servers come back, where a device brings its code, and /mcp are declared public', () => {
      const open = walk(kernel)
        .filter((one) => one.decl.auth === 'public')
        .map((one) => `${one.method} ${one.template}`);
      expect(open.sort()).to.deep.equal([...PUBLIC].sort());
    });

    it('every other route refuses a call without the header', () =>
      tryAll(
        (one) => !isPublic(one),
        {},
        (status, what) => expect(status, what).to.equal(401),
      ));

    it('every other route refuses a wrong key', async () => {
      const wrong = [
        bearer('wrong'),
        bearer(`${KEYS.owner}x`),
        bearer(hash(KEYS.user)),
        { authorization: KEYS.owner },
        { authorization: `Basic ${btoa(`owner:${KEYS.owner}`)}` },
        { 'x-api-key': 'wrong' },
      ];
      // Each route one of them in turn: what a key is worth is decided before a route is known.
      const closed = routes.filter((one) => !isPublic(one));
      for (const [index, headers] of wrong.entries())
        await tryAll(
          (one) => closed.indexOf(one) % wrong.length === index,
          headers,
          (status, what) => expect(status, what).to.equal(401),
        );
    });

    it('public routes answer with, without and with a wrong key', async () => {
      // Nobody from elsewhere is installed here, who could have a panel in a frame, nothing is shared, no channel has that name, and there is no provider to sign in at.
      for (const headers of [{}, bearer('wrong'), bearer(KEYS.owner)])
        await tryAll(isPublic, headers, (status, what) => expect(status, what).to.equal(UNANSWERED.find(([route]) => route.test(what))?.[1] ?? 200));
    });

    it('the root key opens every route', () =>
      tryAll(
        (one) => !SIGNED.has(one.id),
        bearer(KEYS.owner),
        (status, what) => expect(status, what).to.not.be.oneOf(refusalsOf(what)),
      ));

    it('the key in x-api-key and as a WebSocket subprotocol counts too', async () => {
      expect((await new TestHttp(kernel.url).get('/api/agents', { 'x-api-key': KEYS.owner })).status).to.equal(200);
      const { body } = await kernel.as(KEYS.owner).expect(200, 'GET', '/api/agents');
      const path = `/api/agents/${body.agents[0].id}/ws`;
      const upgraded = await refusalOrUpgrade(kernel.url, path, {}, [`bearer.${KEYS.owner}`]);
      expect(upgraded.status).to.equal(101);
      expect(upgraded.headers.get('sec-websocket-protocol')).to.equal(`bearer.${KEYS.owner}`);
      expect((await refusalOrUpgrade(kernel.url, path, {}, ['bearer.wrong'])).status).to.equal(401);
    });

    it('a key in the query is no key', async () => {
      const answer = await new TestHttp(kernel.url).get(`/api/agents?token=${KEYS.owner}&api_key=${KEYS.owner}`);
      expect(answer.status).to.equal(401);
      expect(answer.text).to.not.contain(KEYS.owner);
    });

    for (const role of ['viewer', 'user', 'admin'] as const)
      it(`a ${role} gets what the role allows, and 403 naming the role for the rest`, async () => {
        await tryAll(
          (one) => !isPublic(one) && !SIGNED.has(one.id),
          bearer(KEYS[role]),
          (status, what, one) => expect(status === 403, `${what} needs ${one.decl.permission}`).to.equal(!mayDo(role, one.decl.permission)),
        );
        const refused = await kernel.as(KEYS.viewer).post('/api/agents', {});
        expect(refused.status).to.equal(403);
        expect(refused.body.error).to.contain('viewer');
      });

    it('a viewer only reads: every route that changes something asks for more than reading', () => {
      const loose = routes.filter((one) => (one.method !== 'GET' || one.isSocket) && one.decl.permission.endsWith('.read') && !DRY_RUNS.has(one.id) && !REPORTS_ONLY.has(one.id));
      expect(loose.map((one) => one.id)).to.deep.equal([]);
    });

    it('what stops, reconfigures or holds keys is for admins', () => {
      const administrative = routes.filter(
        (one) => /\/(shutdown|providers\/\{name\}\/(key|url)|extensions\/\{name\}\/(enable|disable|reset|reload))|^\/api\/config/.test(one.template) && one.method !== 'GET',
      );
      expect(administrative.length).to.be.above(6);
      expect(administrative.filter((one) => !one.decl.permission.endsWith('.admin')).map((one) => one.id)).to.deep.equal([]);
    });
  });

  describe('is asked for', () => {
    afterEach(stopTestKernels);

    for (const [what, config, env, key] of [
      ['the key itself', 'api_key = "k1"\n', {}, 'k1'],
      ['the hash of a key', `api_key_hash = "${hash('k2')}"\n`, {}, 'k2'],
      ['the key of a person, and none of the owner', person('user'), {}, KEYS.user],
      ['a key in SVC_API_KEY', '', { SVC_API_KEY: 'k4' }, 'k4'],
    ] as const)
      it(`as soon as the daemon knows ${what}`, async () => {
        const kernel = await bootTestKernel({ config, env });
        expect((await kernel.http.get('/api/agents')).status).to.equal(401);
        expect((await kernel.as('').get('/api/agents', { authorization: 'Bearer ' })).status).to.equal(401);
        expect((await kernel.as(key).get('/api/agents')).status).to.equal(200);
      });
  });

  describe('without an API key', () => {
    after(stopTestKernels);

    it('every route answers whoever calls from this machine', async () => {
      const kernel = await bootTestKernel({ config: `[extensions]\npreset = "full"\n${OPEN_RATE}${OPEN_TOOLS}` });
      // Without a key there is no terminal: its own claims are about that.
      for (const one of walk(kernel).filter(({ id, template }) => !template.startsWith('/api/terminal/') && !SIGNED.has(id))) {
        const answer = await call(kernel.http, one);
        expectWellFormed(answer, one.template);
        expect(answer.status, `${one.method} ${one.template}`).to.not.be.oneOf(refusalsOf(one.template));
      }
    });
  });
});

/** The roles as the interface means them: viewers read, users also talk and make things of their own, admins also administer; what the owner alone may do is `own`. */
const mayDo = (role: Holder, permission: string): boolean => {
  const verb = permission.split('.').at(-1) ?? '';
  const verbs = { viewer: ['read'], user: ['read', 'send', 'write'], admin: ['read', 'send', 'write', 'admin'], owner: ['read', 'send', 'write', 'admin', 'own'] };
  return verbs[role].includes(verb);
};
