/** Where an extension from elsewhere may answer. What it may not is refused where it is built, installed, started and gone back to. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grantFaults, grantsOf, pathFault } from '@svc/api/internal';
import { expect } from 'chai';
import { type InstallRig, installRig, type MadePackage } from '../../kernel/installer/test/install/install-rig.js';
import { refusal } from '../../kernel/installer/test/package-rig.js';
import { ROOT } from '../conformance/operations.js';

const ID = 'acme-weather';
const granted = (...paths: string[]) => grantsOf({ grants: paths.map((path) => ({ grant: `routes:${path}` })) });
const taking = (path: string, grants: readonly string[] = []): MadePackage => ({
  id: ID,
  manifest: { grants: grants.map((grant) => ({ grant, why: 'callers know it by this path' })) },
  contributions: { routes: [{ method: 'GET', path, auth: 'bearer' }] },
});

/** Every path of the interface, and every one that the extensions of the house serve. */
const interfacePaths = (): string[] => {
  const spec: Array<{ path: string }> = JSON.parse(readFileSync(join(ROOT, 'schemas/routes.spec.json'), 'utf8'));
  const served = readdirSync(join(ROOT, 'extensions'), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .flatMap(({ name }) => {
      const { routes, sockets } = JSON.parse(readFileSync(join(ROOT, 'extensions', name, 'contributions.json'), 'utf8'));
      return [...routes, ...sockets].map(({ path }: { path: string }) => path);
    });
  return [...new Set([...spec.map(({ path }) => path), ...served])];
};

const FOREIGN = [
  '/',
  '/api',
  '/api/memory',
  '/api/memory/mine',
  '/API/agents',
  '/Api/Agents/{id}',
  '/api/v1/agents',
  '/api/v2/agents',
  '/v1/embeddings',
  '/V1/embeddings',
  '/v2/chat',
  '/mcp',
  '/sw.js',
  '/favicon.ico',
  '/robots.txt',
  '/.well-known/oauth-authorization-server',
  '/ui/panels/webchat/evil.js',
  '/docs',
  '/auth/session/mine',
  '/{anything}',
  '/{*anything}',
  '/api/{anything}',
  '/api/{*anything}',
  '/api/ext',
  '/api/ext/{id}',
  '/api/ext/acme-storm/x',
  '/api/ext/acme-weatherman',
  '/api/acme-weatherman',
  '/api/acme-weather%2f..%2fagents',
  '/api/acme-weather/../agents',
  '/api/acme-weather/./x',
  '/api/acme-weather//x',
  '/api/%61gents',
  '/%61pi/agents',
  '/api\\agents',
  '/api/agents;x',
  '/api/ａgents',
  '/anything/else',
];

describe('a route of an extension from elsewhere', () => {
  it('stands below the paths that bear its id, whatever their parameters', () => {
    for (const path of [`/api/${ID}`, `/api/${ID}/{id}`, `/api/${ID}/{*rest}`, `/api/ext/${ID}`, `/api/ext/${ID}/Forecasts/{day}`]) expect(pathFault(path, ID, []), path).to.equal(undefined);
    for (const path of FOREIGN) expect(pathFault(path, ID, []), path).to.be.a('string');
  });

  it('takes no name of the interface by its own id: there is /api/ext/<id> for it', () => {
    expect(pathFault('/api/memory/x', 'memory', [])).to.equal('belongs to the interface of svc');
    expect(pathFault('/api/ext/memory/x', 'memory', [])).to.equal(undefined);
  });

  it('takes no path of the interface, served today or not, by no grant, and in no case of letters', () => {
    const paths = interfacePaths();
    expect(paths.length).to.be.at.least(250);
    for (const path of paths) {
      expect(pathFault(path, ID, []), path).to.be.a('string');
      expect(pathFault(path.toUpperCase().replace(/\{[^}]*\}/g, 'x'), ID, []), `${path} in capitals`).to.be.a('string');
      expect(grantFaults({ grants: [{ grant: `routes:${path.replace(/\{[^}]*\}/g, 'x')}` }] }), `a grant for ${path}`).to.not.deep.equal([]);
    }
  });

  it('takes another path by a grant for it, whole names only', () => {
    expect(pathFault('/hooks-of-acme/{id}', ID, granted('/hooks-of-acme'))).to.equal(undefined);
    expect(pathFault('/hooks-of-acme', ID, granted('/hooks-of-acme'))).to.equal(undefined);
    expect(pathFault('/hooks-of-acmes', ID, granted('/hooks-of-acme'))).to.be.a('string');
    expect(pathFault('/Hooks-Of-Acme', ID, granted('/hooks-of-acme'))).to.be.a('string');
    for (const grant of ['routes:', 'routes:/', 'routes:/api', 'routes:/api/agents', 'routes:/API/x', 'routes:/v1', 'routes:/x/../api/agents', 'routes:/x%2f', 'routes:/{x}', 'routes:/x/', 'routes:x'])
      expect(grantFaults({ grants: [{ grant }] }), grant).to.have.length(1);
    expect(grantFaults({ grants: [{ grant: 'routes:/x', optional: true }] })).to.deep.equal(['the grant routes:/x cannot be optional: routes are there from the start']);
  });

  describe('when it is installed', () => {
    let rig: InstallRig;
    beforeEach(async () => {
      rig = await installRig();
    });
    afterEach(() => rig.done());

    for (const path of ['/api/memory', '/mcp', '/v1/embeddings', '/sw.js', '/.well-known/agent.json', '/API/agents', '/favicon.ico'])
      it(`at ${path} is refused before anything is kept, as a socket too`, async () => {
        const installer = await rig.open();
        for (const made of [taking(path), { id: ID, contributions: { sockets: [{ path }] } }]) {
          const { code, message } = await refusal(installer.stage(await rig.pack(made)));
          expect(code).to.equal('install_route_refused');
          expect(message).to.include(path);
        }
        expect(await rig.stored()).to.deep.equal([]);
      });

    it('at a path that it asks for shows that in plain words, and stays only while it is agreed to', async () => {
      const installer = await rig.open();
      const staged = await installer.stage(await rig.pack(taking('/hooks-of-acme/{id}', ['routes:/hooks-of-acme'])));
      expect(staged.grants).to.deep.include({
        grant: 'routes:/hooks-of-acme',
        what: 'answers requests at this path and below it, outside of the paths that bear its own name: who calls there talks to the extension',
        why: 'callers know it by this path',
        optional: false,
        isNew: true,
      });
      expect((await refusal(installer.commit(staged, { grants: [] }))).code).to.equal('install_needs_consent');
      const record = await installer.commit(staged, { grants: 'all' });
      expect((await installer.validateAtBoot()).refused).to.deep.equal([]);
      // As a record of an earlier release, or one that somebody changed, would be.
      await installer.restore({ ...record, grants: [] });
      expect((await installer.validateAtBoot()).refused.map(({ code }) => code)).to.deep.equal(['install_route_refused']);
    });
  });
});
