/** A new version that does not start has changed nothing: the version of before serves on, with its rows, whatever failed and whenever the daemon ended. */
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, removeThirdParties, stopTestKernels, type ThirdPartySpec, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { endDaemons, newHome, packaged, startDaemon, until } from './real-daemon.js';

const ID = 'acme-notes';
const CONFIG = '[extensions]\nthird_party = "any"\n';
const LOSES = "{ name: '0002_loses', up: (m) => { m.sql('DELETE FROM {notes}'); m.addColumn('notes', 'late', { kind: 'text' }); } },";
const FAILS = "{ name: '0003_fails', up: (m) => { m.sql('INSERT INTO {notes} (id) VALUES (NULL)'); } },";

const notes = (version: string, { migrations = '', rest = '', activate = '' }: { migrations?: string; rest?: string; activate?: string } = {}): ThirdPartySpec => ({
  id: ID,
  version,
  manifest: { tables: ['notes'] },
  before: `const columns = { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, text: { kind: 'text', notNull: true } };
    const Notes = api.defineTable('notes', '1.0.0', { columns: { ...columns, ${migrations.includes('late') ? "late: { kind: 'text' }" : ''} }, owner: 'owner_id' });`,
  rest: `tables: [Notes], migrations: [{ name: '0001_init', up: (m) => m.createTable('notes', columns) }, ${migrations}], ${rest}`,
  activate: `${activate} const rows = api.ownedRows(ctx.db, Notes, { order: [{ column: 'id' }], missing: () => new Error('none') });
    ctx.routes.add(
      api.defineRoute({ id: 'addNote', method: 'POST', path: '/api/acme-notes/notes', summary: 'Adds', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { await ctx.db.commit([rows.insert({ id: ctx.ids.uuid(), owner_id: req.actor.ownerId, text: '${version}' })]); return api.reply(200, {}); } }),
      api.defineRoute({ id: 'listNotes', method: 'GET', path: '/api/acme-notes/notes', summary: 'Lists', auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { const { rows: all } = await rows.page(req.actor, { limit: 10 }); return api.reply(200, { version: '${version}', texts: all.map(({ text }) => text) }); } }),
    );`,
});

const failing: ReadonlyArray<readonly [what: string, version: Parameters<typeof notes>[1]]> = [
  ['its start throws after its migration has deleted the rows', { migrations: LOSES, rest: "start() { throw new Error('not today'); }," }],
  ['its first migration deletes the rows and its second fails', { migrations: LOSES + FAILS }],
  ['its activate throws', { migrations: LOSES, activate: "if (ctx.generation > 0) throw new Error('not today');" }],
  [
    'its start writes over the rows before it throws',
    { migrations: LOSES, rest: "async start(ctx) { await ctx.db.commit([ctx.db.insert('notes', [{ id: 'x', owner_id: 'owner', text: 'mine' }])]); throw new Error('not today'); }," },
  ],
  ['its process ends while it starts', { migrations: LOSES, rest: 'start() { process.exit(3); },' }],
];

const kept = { version: '1.0.0', texts: ['1.0.0', '1.0.0'] };
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: unknown) => (isSvcError(error) ? error.code : String(error)),
  );

describe('an upgrade that is refused', function () {
  this.timeout(120_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });
  const list = async (http: TestHttp) => (await http.expect(200, 'GET', '/api/acme-notes/notes')).body;
  const installed = async (settings = ''): Promise<TestKernel> => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${CONFIG}${settings}` });
    await kernel.daemon.kernel.installation.install({ source: await packaged(notes('1.0.0')), enable: true });
    for (let i = 0; i < 2; i++) await kernel.http.expect(200, 'POST', '/api/acme-notes/notes');
    return kernel;
  };

  describeDaemonOnEngines('leaves the old version with its rows', () => {
    for (const [what, version] of failing) {
      it(`when ${what}`, async () => {
        const kernel = await installed();
        const { installation } = kernel.daemon.kernel;
        expect(await codeOf(installation.upgrade(ID, { source: await packaged(notes('2.0.0', version)) }))).to.equal('daemon_upgrade_failed');
        expect(await list(kernel.http)).to.deep.equal(kept);
        await kernel.http.expect(200, 'POST', '/api/acme-notes/notes');
        const status = kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
        expect([status?.state, status?.version]).to.deep.equal(['active', '1.0.0']);
        expect(status?.reason).to.contain('2.0.0 did not start');
        expect(await kernel.daemon.parts.storage.tableCopies()).to.deep.equal([]);
        // A corrected one, whose migration of the same name does something else, is not refused for what never counted.
        const better = notes('2.0.1', { migrations: "{ name: '0002_loses', up: (m) => m.addColumn('notes', 'late', { kind: 'text' }) }," });
        await installation.upgrade(ID, { source: await packaged(better) });
        expect(await list(kernel.http)).to.deep.equal({ version: '2.0.1', texts: ['1.0.0', '1.0.0', '1.0.0'] });
        expect(await kernel.daemon.parts.storage.tableCopies()).to.deep.equal([]);
      });
    }
  });

  it('leaves it for a walled one too', async function () {
    if ((await wallFault()) !== undefined) this.skip();
    const kernel = await installed('isolation = "walled"\n');
    const source = await packaged(notes('2.0.0', failing[0]?.[1]));
    expect(await codeOf(kernel.daemon.kernel.installation.upgrade(ID, { source }))).to.equal('daemon_upgrade_failed');
    expect(await list(kernel.http)).to.deep.equal(kept);
  });

  it('goes back to a version that then does not start: the newer one is put back', async () => {
    const kernel = await installed();
    const { installation } = kernel.daemon.kernel;
    await installation.upgrade(ID, { source: await packaged(notes('1.5.0', { rest: "start(ctx) { if (ctx.generation > 2) throw new Error('once is enough'); }," })) });
    await installation.upgrade(ID, { source: await packaged(notes('2.0.0')) });
    expect(await codeOf(installation.rollback(ID))).to.equal('daemon_upgrade_failed');
    expect(await list(kernel.http)).to.deep.equal({ ...kept, version: '2.0.0' });
  });

  it('of one that is off is found out when it is switched on', async () => {
    const kernel = await installed();
    const { installation } = kernel.daemon.kernel;
    await kernel.daemon.kernel.disable(ID);
    await installation.upgrade(ID, { source: await packaged(notes('2.0.0', failing[0]?.[1])) });
    const status = await kernel.daemon.kernel.enable(ID);
    expect([status.state, status.version]).to.deep.equal(['active', '1.0.0']);
    expect(status.reason).to.contain('2.0.0 did not start (start: not today)');
    expect(await list(kernel.http)).to.deep.equal(kept);
  });

  it('while the daemon was stopped is found out by its next start, which goes back', async () => {
    const at = await realpath(await mkdtemp(join(tmpdir(), 'svc-home-')));
    const first = await bootTestKernel({ home: at, config: `${OPEN_RATE}${CONFIG}` });
    await first.daemon.kernel.installation.install({ source: await packaged(notes('1.0.0')), enable: true });
    for (let i = 0; i < 2; i++) await first.http.expect(200, 'POST', '/api/acme-notes/notes');
    await first.stop();
    const { withLocalInstaller } = await import('@svc/daemon/offline/local-installer');
    const { upgradeFrom } = await import('@svc/installer/install');
    const { releaseFile } = await import('@svc/testing');
    const source = await packaged(notes('2.0.0', { migrations: LOSES, activate: "if (ctx.generation > 0) throw new Error('not today');", rest: "start() { throw new Error('not today'); }," }));
    // One that taps or starts at once is tried by the start itself.
    const { writeFile } = await import('node:fs/promises');
    const manifest = JSON.parse(await readFile(join(source, 'extension.json'), 'utf8'));
    await writeFile(join(source, 'extension.json'), JSON.stringify({ ...manifest, activation: 'onStartup' }));
    await withLocalInstaller({ env: { HOME: at, SVC_HOME: at }, releaseFile: releaseFile(), act: undefined }, (installer) => upgradeFrom(installer, ID, { source }, { grants: 'all' }, {}));

    const second = await bootTestKernel({ home: at });
    expect(await list(second.http)).to.deep.equal(kept);
    expect(second.daemon.kernel.extensions().find(({ id }) => id === ID)?.reason).to.contain('2.0.0 did not start');
    await second.stop();
    await rm(at, { recursive: true, force: true });
  });
});

describeDaemonOnEngines('a daemon that is killed between migration and switch', function () {
  this.timeout(120_000);
  afterEach(async () => {
    await endDaemons();
    await removeThirdParties();
  });

  it('comes up with the old version and its rows, and says so', async () => {
    const home = await newHome(CONFIG);
    const first = await startDaemon(home);
    await first.http().expect(200, 'POST', '/api/extensions/install', { path: await packaged(notes('1.0.0')), grants: 'all', enable: true });
    for (let i = 0; i < 2; i++) await first.http().expect(200, 'POST', '/api/acme-notes/notes');
    const source = await packaged(notes('2.0.0', { migrations: LOSES, rest: 'start() { return new Promise(() => undefined); },' }));
    const upgrading = first
      .http()
      .post(`/api/extensions/${ID}/upgrade`, { source, grants: 'all' })
      .catch(() => undefined);
    // The rows are gone by now, and the new one is starting.
    const trying = async (): Promise<boolean> => {
      const record = JSON.parse(await readFile(join(home, 'data/extensions/installed.json'), 'utf8')).extensions[0];
      const { body } = await first.http().get(`/api/extensions/${ID}`);
      return record.trial?.isBegun === true && body.phase === 'start';
    };
    await until(trying);
    first.process.kill('SIGKILL');
    await first.gone;
    await upgrading;

    const second = await startDaemon(home);
    // It listens before its extensions have started.
    await until(async () => (await second.http().get('/api/acme-notes/notes')).status === 200);
    expect((await second.http().expect(200, 'GET', '/api/acme-notes/notes')).body).to.deep.equal(kept);
    const { body } = await second.http().expect(200, 'GET', `/api/extensions/${ID}`);
    expect([body.state, body.version]).to.deep.equal(['active', '1.0.0']);
    expect(body.reason).to.contain('the daemon ended while it tried 2.0.0; 1.0.0 is back, with its earlier tables');
  });
});
