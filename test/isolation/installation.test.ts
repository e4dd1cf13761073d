/** Installing, upgrading, going back and removing while the daemon runs, with packages that lie in folders. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { generateKey, signFolder } from '@svc/installer/signing';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-notes';
const CONFIG = `${OPEN_RATE}[extensions]\nthird_party = "any"\nisolation = "isolated"\n`;

const TABLE = `const Notes = api.defineTable('notes', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, text: { kind: 'text', notNull: true } }, owner: 'owner_id' });`;

const notes = (version: string, more: Partial<ThirdPartySpec> = {}): ThirdPartySpec => ({
  id: ID,
  version,
  manifest: { tables: ['notes'] },
  before: TABLE,
  rest: "tables: [Notes], migrations: [api.createTables('0001_init', [Notes])],",
  activate: `const rows = api.ownedRows(ctx.db, Notes, { order: [{ column: 'id' }], missing: () => new Error('none') });
    ctx.routes.add(
      api.defineRoute({ id: 'addNote', method: 'POST', path: '/api/acme-notes/notes', summary: 'Adds', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { await ctx.db.commit([rows.insert({ id: ctx.ids.uuid(), owner_id: req.actor.ownerId, text: '${version}' })]); return api.reply(200, {}); } }),
      api.defineRoute({ id: 'listNotes', method: 'GET', path: '/api/acme-notes/notes', summary: 'Lists', auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { const { rows: all } = await rows.page(req.actor, { limit: 10 }); return api.reply(200, { version: '${version}', texts: all.map(({ text }) => text) }); } }),
    );`,
  ...more,
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: unknown) => (isSvcError(error) ? error.code : String(error)),
  );

describe('an extension that is installed while the daemon runs', function () {
  this.timeout(60_000);
  const folders: string[] = [];
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  /** The folder of its package, as a build would leave it. */
  const packaged = async (spec: ThirdPartySpec): Promise<string> => {
    const one = await thirdParty(spec);
    const name = { name: `@acme/${one.id}`, version: one.version, description: 'Notes of strangers', license: 'MIT' };
    await writeFile(join(one.folder, 'package.json'), JSON.stringify(name));
    await writeFile(join(one.folder, 'contributions.json'), JSON.stringify(one.contributions));
    return one.folder;
  };
  const home = async (): Promise<string> => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-home-')));
    folders.push(folder);
    return folder;
  };
  const list = async (kernel: TestKernel) => (await kernel.http.expect(200, 'GET', '/api/acme-notes/notes')).body;
  const installation = (kernel: TestKernel) => kernel.daemon.kernel.installation;

  it('is refused by name where it listens to who somebody is, or to secrets, without the grant that says so', async () => {
    const kernel = await bootTestKernel({ config: CONFIG, home: await home() });
    for (const [hook, grant] of [
      ['http.authenticate', 'callers'],
      ['socket.upgrade', 'callers'],
      ['secret.resolve', 'secret-values'],
    ] as const) {
      const source = await packaged(notes('1.0.0', { manifest: { tables: ['notes'], hooks: [{ name: hook }] } }));
      const refused = await installation(kernel)
        .install({ source, grants: 'all' })
        .catch((error: unknown) => error);
      expect(String(refused), hook).to.contain(`the hook ${hook} needs the grant "${grant}"`);
    }
    expect(kernel.daemon.kernel.extensions().map(({ id }) => id)).not.to.include(ID);
  });

  it('is refused where it listens to a hook that is not open to other processes, and the hook is named', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    const source = await packaged(notes('1.0.0', { manifest: { tables: ['notes'], hooks: [{ name: 'kernel.greet' }] } }));
    const refused = await installation(kernel)
      .install({ source, grants: 'all' })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'install_cannot_isolate', message: `${ID} cannot run apart from the daemon: it listens to the hook kernel.greet, which is not open to other processes.` });
  });

  it('is refused where it names presets: it would be on wherever it is installed', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    const source = await packaged(notes('1.0.0', { manifest: { tables: ['notes'], presets: ['minimal', 'standard'] } }));
    const refused = await installation(kernel)
      .install({ source, grants: 'all' })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'install_cannot_isolate' }).and.property('message').that.contains('it names presets (minimal, standard), which only extensions that come with svc join');
    expect(kernel.daemon.kernel.extensions().map(({ id }) => id)).not.to.include(ID);
  });

  it('runs in a process of its own after an upgrade from a daemon that ran it inside, with its rows, and the doctor says so', async () => {
    const at = await home();
    const source = await packaged(notes('1.0.0'));
    await signFolder(source, await generateKey(), { now: new Date() });
    const before = await bootTestKernel({ home: at, config: CONFIG });
    await installation(before).install({ source, grants: 'all', trustKey: true, enable: true });
    await before.http.expect(200, 'POST', '/api/acme-notes/notes');
    await before.stop();
    for (const [file, from, to] of [
      ['installed.json', '"isolation": "isolated"', '"isolation": "in-process"'],
      ['trust.toml', 'id = ', 'isolation = "in-process"\nid = '],
    ] as const) {
      const path = join(at, 'data/extensions', file);
      await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
    }

    const after = await bootTestKernel({ home: at, config: CONFIG });
    expect(await list(after)).to.deep.equal({ version: '1.0.0', texts: ['1.0.0'] });
    const status = after.daemon.kernel.extensions().find(({ id }) => id === ID);
    expect(status?.origin?.isolation).to.equal('isolated');
    expect(status?.process?.pid).to.be.a('number').and.not.equal(process.pid);
    const { doctor } = (await after.http.expect(200, 'GET', '/api/health/detail')).body;
    const finding = doctor.find((one: { check: string }) => one.check === 'TrustCheck');
    expect(finding.result).to.equal('warn');
    expect(finding.message).to.contain('isolation = "in-process"').and.contain('now run in a process of their own');
  });

  it('answers at once, is there after a restart, and gone when it was removed, its rows kept or purged', async () => {
    const at = await home();
    const first = await bootTestKernel({ home: at, config: CONFIG });
    const status = await installation(first).install({ source: await packaged(notes('1.0.0')), enable: true });
    expect(status).to.deep.include({ id: ID, version: '1.0.0', state: 'active', bundled: false });
    expect(status.origin).to.deep.include({ trust: 'unsigned', isolation: 'isolated', isolationWhy: '[extensions] isolation sets it', publisher: null });
    await first.http.expect(200, 'POST', '/api/acme-notes/notes');
    expect(await list(first)).to.deep.equal({ version: '1.0.0', texts: ['1.0.0'] });
    await first.stop();

    const second = await bootTestKernel({ home: at, config: CONFIG });
    expect(await list(second)).to.deep.equal({ version: '1.0.0', texts: ['1.0.0'] });
    await installation(second).uninstall(ID, { purge: false });
    expect((await second.http.get('/api/acme-notes/notes')).status).to.equal(404);
    await installation(second).install({ source: await packaged(notes('1.0.1')), enable: true });
    expect(await list(second), 'its rows were kept').to.deep.equal({ version: '1.0.1', texts: ['1.0.0'] });
    await installation(second).uninstall(ID, { purge: true });
    await installation(second).install({ source: await packaged(notes('1.0.2')), enable: true });
    expect(await list(second), 'its rows were purged').to.deep.equal({ version: '1.0.2', texts: [] });
  });

  it('asks before it gets what it asks for, and gets no more than was agreed to', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    const grants = [
      { grant: 'net:fetch:api.weather.test', why: 'it asks for the weather' },
      { grant: 'secrets:acme.*', why: 'a key', optional: true },
    ];
    const source = await packaged(notes('1.0.0', { manifest: { tables: ['notes'], grants } }));
    const refusal = await installation(kernel)
      .install({ source })
      .catch((error: unknown) => error);
    expect(isSvcError(refusal) && [refusal.code, refusal.status]).to.deep.equal(['install_needs_consent', 409]);
    const offer = isSvcError(refusal) ? (refusal.details as { digest: string; grants: Array<{ grant: string; why: string; optional: boolean }>; not_kept: string[] }) : undefined;
    expect(offer?.grants.map(({ grant, why, optional }) => ({ grant, why, optional }))).to.deep.equal(grants.map((one) => ({ optional: false, ...one })));
    expect(offer?.not_kept.join()).to.contain('the network');
    expect(kernel.daemon.kernel.extensions().some(({ id }) => id === ID)).to.equal(false);

    expect(await codeOf(installation(kernel).install({ source, grants: 'all', digest: 'f'.repeat(64) }))).to.equal('install_changed');
    const status = await installation(kernel).install({ source, grants: ['net:fetch:api.weather.test'], digest: offer?.digest ?? '', enable: true });
    expect(status.grants.map(({ grant }) => grant)).to.deep.equal(['net:fetch:api.weather.test']);
  });

  it('asks as well for what it gets by a declaration: hooks, events, services and public routes; those of a new version stop its upgrade', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    const offerOf = async (spec: ThirdPartySpec): Promise<string[]> => {
      const { offer } = await installation(kernel).upgrade(ID, { source: await packaged(spec), dryRun: true });
      return offer.grants.filter((one) => one.new).map(({ grant }) => grant);
    };
    await installation(kernel).install({ source: await packaged(notes('1.0.0', { manifest: { tables: ['notes'], hooks: [{ name: 'health.probe' }] } })) });
    const base = notes('2.0.0');
    expect(await offerOf(base)).to.deep.equal([]);
    expect(await offerOf({ ...base, manifest: { tables: ['notes'], hooks: [{ name: 'tool.before', why: 'it looks' }] } })).to.deep.equal(['hook:tool.before']);
    expect(await offerOf({ ...base, manifest: { tables: ['notes'], events: { listens: ['run.ended'] } } })).to.deep.equal(['event:run.ended']);
    expect(await offerOf({ ...base, manifest: { tables: ['notes'], optional: { agents: '^1' } } })).to.deep.equal(['service:agents']);
    expect(await offerOf({ ...base, activate: base.activate.replaceAll("auth: 'bearer'", "auth: 'public'") })).to.deep.equal(['public:GET /api/acme-notes/notes', 'public:POST /api/acme-notes/notes']);
    const source = await packaged({ ...base, manifest: { tables: ['notes'], hooks: [{ name: 'tool.before' }] }, activate: `${base.activate} ctx.hooks.tap(api.ToolBefore, () => undefined);` });
    expect(await codeOf(installation(kernel).upgrade(ID, { source }))).to.equal('install_needs_consent');
    expect((await installation(kernel).upgrade(ID, { source, grants: ['hook:tool.before'] })).extension.version).to.equal('2.0.0');
  });

  it('is refused where the operator takes signed ones alone, which is what stands in no config.toml', async () => {
    const kernel = await bootTestKernel({ config: OPEN_RATE });
    expect(await codeOf(installation(kernel).install({ source: await packaged(notes('1.0.0')) }))).to.equal('install_unsigned');
  });

  it('is upgraded under its callers, and goes back to the version of before', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    await installation(kernel).install({ source: await packaged(notes('1.0.0')), enable: true });
    await kernel.http.expect(200, 'POST', '/api/acme-notes/notes');
    const source = await packaged(notes('2.0.0'));
    const dry = await installation(kernel).upgrade(ID, { source, dryRun: true });
    expect([dry.outcome, dry.offer.version, dry.offer.replaces?.version]).to.deep.equal(['offered', '2.0.0', '1.0.0']);
    expect((await list(kernel)).version).to.equal('1.0.0');

    expect((await installation(kernel).upgrade(ID, { source })).extension.version).to.equal('2.0.0');
    expect(await list(kernel)).to.deep.equal({ version: '2.0.0', texts: ['1.0.0'] });
    expect(
      installation(kernel)
        .previous(ID)
        ?.map(({ version }) => version),
    ).to.deep.equal(['1.0.0']);
    expect((await installation(kernel).rollback(ID)).version).to.equal('1.0.0');
    expect(await list(kernel)).to.deep.equal({ version: '1.0.0', texts: ['1.0.0'] });
    expect(await codeOf(installation(kernel).rollback(ID))).to.equal('install_none_before');
  });

  it('stops at what a new version asks for beyond the old, and goes on when somebody agrees', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    await installation(kernel).install({ source: await packaged(notes('1.0.0')), enable: true });
    const more = await packaged(notes('2.0.0', { manifest: { tables: ['notes'], grants: [{ grant: 'egress:tool', why: 'more' }] } }));
    expect(await codeOf(installation(kernel).upgrade(ID, { source: more }))).to.equal('install_needs_consent');
    expect(installation(kernel).waiting(ID)).to.deep.equal({ version: '2.0.0', newGrants: ['egress:tool'] });
    expect((await list(kernel)).version).to.equal('1.0.0');
    await installation(kernel).upgrade(ID, { source: more, grants: ['egress:tool'] });
    expect((await list(kernel)).version).to.equal('2.0.0');
    expect(installation(kernel).waiting(ID)).to.equal(undefined);
  });

  describeDaemonOnEngines('serves on in its version of before, with its rows,', () => {
    const failing: ReadonlyArray<readonly [what: string, spec: Partial<ThirdPartySpec>, why: RegExp]> = [
      ['activate throws', { activate: "ctx.routes.add(); if (ctx.generation > 0) throw new Error('not today');" }, /not today/],
      ['start throws', { rest: "tables: [Notes], migrations: [api.createTables('0001_init', [Notes])], start() { throw new Error('no start'); }," }, /no start/],
      [
        'a migration fails',
        { rest: "tables: [Notes], migrations: [api.createTables('0001_init', [Notes]), { name: '0002_more', up: (m) => m.createIndex('notes', ['text'], { unique: true }) }]," },
        /0002_more/,
      ],
    ];
    for (const [what, spec, why] of failing) {
      it(`when the ${what} of a new one`, async () => {
        const kernel = await bootTestKernel({ config: CONFIG });
        await installation(kernel).install({ source: await packaged(notes('1.0.0')), enable: true });
        for (let i = 0; i < 2; i++) await kernel.http.expect(200, 'POST', '/api/acme-notes/notes');
        const source = await packaged(notes('2.0.0', spec));
        const error = await installation(kernel)
          .upgrade(ID, { source })
          .catch((one: unknown) => one);
        expect(isSvcError(error) && [error.code, why.test(error.message)], String(error)).to.deep.equal(['daemon_upgrade_failed', true]);
        expect(await list(kernel)).to.deep.equal({ version: '1.0.0', texts: ['1.0.0', '1.0.0'] });
        const status = kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
        expect([status?.state, status?.version]).to.deep.equal(['active', '1.0.0']);
        expect(status?.reason).to.match(why);
      });
    }
  });

  it('is refused at the start when a file of it was changed, added or taken away, and the rest starts', async () => {
    const at = await home();
    const first = await bootTestKernel({ home: at, config: CONFIG });
    await installation(first).install({ source: await packaged(notes('1.0.0')), enable: true });
    await first.stop();
    const installed = JSON.parse(await readFile(join(at, 'data/extensions/installed.json'), 'utf8'));
    const folder = join(at, 'data/extensions', installed.extensions[0].folder);
    const { chmod } = await import('node:fs/promises');
    for (const path of [folder, join(folder, 'dist')]) await chmod(path, 0o755);
    await mkdir(join(folder, 'dist'), { recursive: true });
    await writeFile(join(folder, 'dist/more.js'), '// added');

    const second = await bootTestKernel({ home: at, config: CONFIG });
    expect((await second.http.get('/api/acme-notes/notes')).status).to.equal(404);
    expect(installation(second).refused()).to.have.length(1);
    expect(installation(second).refused()[0]).to.include({ id: ID, code: 'install_modified' });
    expect((await second.http.get('/api/health')).status).to.equal(200);
    await installation(second).uninstall(ID, { purge: false });
    expect(installation(second).refused()).to.deep.equal([]);
  });

  it('is looked at anew by a reload where its folder is linked', async () => {
    const kernel = await bootTestKernel({ config: CONFIG });
    const source = await packaged(notes('1.0.0'));
    await installation(kernel).install({ source, link: true, enable: true });
    expect((await list(kernel)).version).to.equal('1.0.0');
    const file = join(source, 'dist/index.js');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll("version: '1.0.0'", "version: 'edited'"));
    await kernel.daemon.kernel.reload(ID);
    expect((await list(kernel)).version).to.equal('edited');
  });

  it('is stopped as soon as the key that signed it is revoked, and refused at the next start', async () => {
    const at = await home();
    const kernel = await bootTestKernel({ home: at, config: OPEN_RATE });
    const source = await packaged(notes('1.0.0'));
    await signFolder(source, await generateKey(), { now: new Date() });
    expect(await codeOf(installation(kernel).install({ source })), 'a key that nobody knows').to.equal('install_unknown_key');
    await installation(kernel).install({ source, grants: 'all', trustKey: true, enable: true });
    expect((await list(kernel)).version).to.equal('1.0.0');

    const trust = join(at, 'data/extensions/trust.toml');
    await writeFile(trust, `${await readFile(trust, 'utf8')}\nrevoked = "2026-01-01T00:00:00Z"\n`);
    while ((await kernel.http.get('/api/acme-notes/notes')).status === 200) await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await kernel.http.get('/api/acme-notes/notes')).status).to.equal(404);
    expect(installation(kernel).refused()).to.deep.include.members([{ id: ID, code: 'install_revoked', message: installation(kernel).refused()[0]?.message }]);
    await kernel.stop();

    const again = await bootTestKernel({ home: at, config: OPEN_RATE });
    expect((await again.http.get('/api/acme-notes/notes')).status).to.equal(404);
    expect(
      installation(again)
        .refused()
        .map(({ code }) => code),
    ).to.deep.equal(['install_revoked']);
  });
});
