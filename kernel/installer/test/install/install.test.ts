import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Installer } from '../../src/install/contract.js';
import { packFolder } from '../../src/package/pack.js';
import { generateKey, type SigningKey } from '../../src/signing/keys.js';
import { rotate } from '../../src/signing/rotation.js';
import { parseTrust, trustText } from '../../src/signing/trust.js';
import { withoutSecrets } from '../../src/sources/source.js';
import { refusal } from '../package-rig.js';
import { bundledArea, codeOf, type InstallRig, installRig, type MadePackage, NOW } from './install-rig.js';

const ASKS = {
  manifest: {
    grants: [
      { grant: 'egress:tool', why: 'asks the weather service' },
      { grant: 'env:WEATHER_KEY', why: 'a key for more calls', optional: true },
    ],
  },
};

describe('installing an extension', () => {
  let rig: InstallRig;
  let installer: Installer;
  let key: SigningKey;
  before(async () => {
    key = await generateKey();
  });
  beforeEach(async () => {
    rig = await installRig();
    installer = await rig.open();
  });
  afterEach(() => rig.done());

  /** The code of the refusal, and that nothing is left of it. */
  const refused = async (made: MadePackage) => {
    const error = await refusal(installer.stage(await rig.pack(made)));
    expect(await rig.stored()).to.deep.equal([]);
    return error;
  };

  it('shows nothing of a package before somebody agreed', async () => {
    const staged = await installer.stage(await rig.pack({ ...ASKS, key }));
    expect(staged).to.deep.include({ id: 'acme-weather', version: '1.0.0', trust: 'signed', isolation: 'isolated', replaces: undefined });
    expect(staged.key).to.deep.include({ keyId: key.keyId, standing: 'unknown' });
    expect(staged.grants).to.deep.equal([
      { grant: 'egress:tool', what: 'fetches public addresses for an agent', why: 'asks the weather service', optional: false, isNew: true },
      { grant: 'env:WEATHER_KEY', what: 'reads this environment variable', why: 'a key for more calls', optional: true, isNew: true },
    ]);
    expect(installer.records()).to.deep.equal([]);
    await installer.discard(staged);
    expect(await rig.stored()).to.deep.equal([]);
  });

  it('keeps what was agreed to, read-only, under its version and digest', async () => {
    const staged = await installer.stage(await rig.pack({ ...ASKS, key }));
    const record = await installer.commit(staged, { grants: ['egress:tool'], trustKey: true });
    expect(record).to.deep.equal({
      id: 'acme-weather',
      version: '1.0.0',
      digest: staged.digest,
      folder: `store/acme-weather/1.0.0-${staged.digest.slice(0, 8)}`,
      grants: ['egress:tool'],
      isolation: 'isolated',
      trust: 'signed',
      keyId: key.keyId,
      installedAt: NOW,
      source: staged.source,
      previous: [],
    });
    expect((await stat(join(rig.ext, record.folder, 'dist/index.js'))).mode & 0o222).to.equal(0);
    expect((await stat(join(rig.ext, 'installed.json'))).mode & 0o777).to.equal(0o600);
    expect((await rig.stored()).filter((path) => !path.startsWith('store/'))).to.deep.equal(['installed.json', 'trust.toml']);
    expect((await rig.open()).records()).to.deep.equal([record]);
  });

  it('pins a key that was agreed to, and only then', async () => {
    const staged = await installer.stage(await rig.pack({ key }));
    expect(await codeOf(installer.commit(staged, { grants: 'all' }))).to.equal('install_unknown_key');
    expect(installer.keys()).to.deep.equal([]);
    await installer.commit(staged, { grants: 'all', trustKey: true });
    expect(parseTrust(await readFile(join(rig.ext, 'trust.toml'), 'utf8'))).to.deep.equal([{ id: key.keyId, name: '', public: key.publicKey, allow: ['acme-weather'], since: NOW }]);
    const thirdParty = await rig.pack({ version: '1.1.0', key: await generateKey() });
    expect(await codeOf(installer.stage(thirdParty))).to.equal('install_wrong_key');
  });

  it('refuses without consent to what it cannot do without, and says to what', async () => {
    const staged = await installer.stage(await rig.pack(ASKS));
    const error = await refusal(installer.commit(staged, { grants: ['env:WEATHER_KEY'] }));
    expect([error.code, error.message]).to.deep.equal(['install_needs_consent', 'acme-weather requests egress:tool, which was not granted.']);
    expect(error.details).to.deep.include({ id: 'acme-weather', digest: staged.digest, isolation: 'isolated' });
    expect(JSON.stringify(error.details)).to.include('the network: without bubblewrap this extension can open network connections');
    expect(installer.records()).to.deep.equal([]);
  });

  it('takes nothing that nobody was shown, also what asks for nothing', async () => {
    const staged = await installer.stage(await rig.pack());
    const error = await refusal(installer.commit(staged, { grants: [], isShown: false }));
    expect([error.code, error.message]).to.deep.equal(['install_needs_consent', 'acme-weather waits for you to agree.']);
    expect(await codeOf(installer.commit(staged, { grants: [], isShown: true }))).to.equal('taken');
  });

  it('takes a folder by its package, and copies it', async () => {
    const dir = await rig.folder({ files: { 'src/index.ts': 'x', '.env': 'SECRET' } });
    await mkdir(join(dir, 'node_modules'));
    await symlink('/', join(dir, 'node_modules', 'root'));
    const record = await installer.commit(await installer.stage(dir), { grants: 'all' });
    await rm(dir, { recursive: true });
    expect((await rig.stored()).filter((path) => path.startsWith(record.folder)).map((path) => path.slice(record.folder.length + 1))).to.deep.equal([
      'README.md',
      'contributions.json',
      'dist/index.js',
      'extension.json',
      'package.json',
    ]);
  });

  it('uses a linked folder where it lies, and says so', async () => {
    const dir = await rig.folder();
    const record = await installer.commit(await installer.stage(dir, { link: true }), { grants: 'all' });
    expect(record).to.include({ trust: 'linked', folder: dir, isolation: 'isolated', keyId: null });
    await chmod(join(dir, 'dist/index.js'), 0o644);
    await writeFile(join(dir, 'dist/index.js'), 'exports.default = 2;');
    const { usable, refused: none } = await installer.validateAtBoot();
    expect([usable.map((one) => one.dir), none]).to.deep.equal([[dir], []]);
    expect(await codeOf(installer.stage(await rig.pack(), { link: true }))).to.equal('install_source');
  });

  it('reports each step', async () => {
    const steps: string[] = [];
    await installer.stage(await rig.pack(), { onProgress: ({ step, done, total }) => steps.push(step === 'unpack' ? `${step} ${done === total}` : step) });
    expect(steps.at(-2)).to.equal('unpack true');
    expect(steps.at(-1)).to.equal('judge');
  });

  it('leaves nothing of an installation that was called off', async () => {
    const stop = new AbortController();
    const work = installer.stage(await rig.pack(), { signal: stop.signal, onProgress: () => stop.abort(new Error('called off')) });
    expect(await work.catch((error: Error) => error.message)).to.equal('called off');
    expect(await rig.stored()).to.deep.equal([]);
  });

  describe('refuses', () => {
    it('what is made for another API', async () => {
      const error = await refused({ manifest: { api: '^9.0.0' } });
      expect([error.code, error.message]).to.deep.equal(['install_api_range', 'acme-weather is made for @svc/api ^9.0.0; this daemon has 0.1.0.']);
    });

    it('what is not signed, where signatures are asked for, and everything where nothing is taken', async () => {
      rig.policy = { ...rig.policy, thirdParty: 'signed' };
      expect((await refused({})).code).to.equal('install_unsigned');
      rig.policy = { ...rig.policy, thirdParty: 'none' };
      expect((await refused({ key })).code).to.equal('install_not_allowed');
      expect(await codeOf(installer.stage(await rig.folder(), { link: true }))).to.equal('install_not_allowed');
    });

    it('an unsigned upgrade of what was signed, and what belongs to a key', async () => {
      await rig.install(installer, { key });
      expect(await codeOf(installer.stage(await rig.pack({ version: '1.1.0' })))).to.equal('install_unsigned');
      await installer.remove('acme-weather', { purge: false });
      expect(await codeOf(installer.stage(await rig.pack({ version: '1.1.0' })))).to.equal('install_unsigned');
    });

    it('a revoked key', async () => {
      await mkdir(rig.ext, { recursive: true });
      await writeFile(join(rig.ext, 'trust.toml'), trustText([{ id: key.keyId, name: 'Acme', public: key.publicKey, allow: ['acme-*'], revoked: '2026-02-02T00:00:00Z' }]));
      expect(await codeOf(installer.stage(await rig.pack({ key })))).to.equal('install_revoked');
    });

    it('a package that was changed after it was signed', async () => {
      const dir = await rig.folder({ key });
      await writeFile(join(dir, 'dist/index.js'), 'evil()');
      await writeFile(join(rig.root, 'evil.tgz'), (await packFolder(dir)).bytes);
      const error = await refusal(installer.stage(join(rig.root, 'evil.tgz')));
      expect([error.code, error.message]).to.deep.equal(['install_modified', 'acme-weather was modified after it was signed or installed: dist/index.js was changed.']);
    });

    it('the id of what comes with svc', async () => {
      rig.bundled = [bundledArea('acme-weather')];
      expect((await refused({})).code).to.equal('install_id_taken');
    });

    it('what excludes something that is installed, from either side', async () => {
      rig.bundled = [bundledArea('runs'), bundledArea('shell', { conflicts: ['acme-storm'] })];
      expect((await refused({ manifest: { conflicts: ['runs'] } })).message).to.include('it and runs exclude each other');
      expect((await refused({ id: 'acme-storm' })).message).to.include('it and shell exclude each other');
    });

    it('a name that somebody else claims', async () => {
      rig.bundled = [bundledArea('notes', { events: { publishes: ['note.created'] } })];
      const error = await refused({ manifest: { events: { publishes: ['note.created'] } } });
      expect([error.code, error.message]).to.deep.equal(['install_conflict', 'acme-weather conflicts with an installed extension: it claims the event note.created, which notes has.']);
    });

    it('a route, a socket and a tool of somebody else, whatever its parameters are called', async () => {
      rig.bundled = [
        bundledArea('notes', {}, { routes: [{ method: 'GET', path: '/api/notes/{id}' }], sockets: [{ path: '/api/notes/ws' }], tools: [{ name: 'note_list', risk: 'read', replay: 'safe' }] }),
      ];
      const route = await refused({ contributions: { routes: [{ method: 'GET', path: '/api/notes/{which}' }] } });
      expect([route.code, route.message]).to.deep.equal(['install_route_taken', 'acme-weather has the route GET /api/notes/{which}, which notes serves.']);
      expect((await refused({ contributions: { sockets: [{ path: '/api/notes/ws' }] } })).code).to.equal('install_route_taken');
      const routeAt = (path: string) => refused({ contributions: { routes: [{ method: 'GET', path }] } });
      expect((await routeAt('/api/notes/mine')).code, 'in front of a parameter').to.equal('install_route_taken');
      expect((await routeAt('/api/{*all}')).code, 'behind everything').to.equal('install_route_taken');
      expect((await routeAt('api//notes')).code, 'no path').to.equal('install_manifest');
      expect((await refused({ contributions: { tools: [{ name: 'note_list', risk: 'read', replay: 'safe' }] } })).code).to.equal('install_tool_taken');
    });

    it('nothing of a manifest with fields that nothing reads any more', async () => {
      expect(await codeOf(installer.stage(await rig.pack({ manifest: { cli: [{ command: 'weather', summary: 'old', entry: 'old.js' }], doctor: ['Old'], security: ['old'] } })))).to.equal('taken');
    });

    it('a command word of somebody else, or of svc itself', async () => {
      rig.bundled = [bundledArea('notes', {}, { commandWords: [{ word: 'notes', summary: 'notes' }] })];
      const taking = (word: string) => refused({ contributions: { commandWords: [{ word, summary: 'mine' }] } });
      const [first, second] = [await taking('notes'), await taking('status')];
      expect([first.code, first.message]).to.deep.equal(['install_command_taken', 'acme-weather adds the command svc notes, which belongs to notes.']);
      expect([second.code, second.message]).to.deep.equal(['install_command_taken', 'acme-weather adds the command svc status, which belongs to svc itself.']);
      expect(await codeOf(installer.stage(await rig.pack({ contributions: { commandWords: [{ word: 'weather', summary: 'mine' }] } })))).to.equal('taken');
    });

    it('what requires a service that nobody provides', async () => {
      rig.bundled = [bundledArea('llm', { provides: { llm: '1.2.0' } })];
      const error = await refused({ manifest: { requires: { llm: '^2.0.0' } } });
      expect([error.code, error.message]).to.deep.equal(['install_requirement', 'acme-weather requires the service llm ^2.0.0, which no installed extension provides.']);
      expect(await codeOf(installer.stage(await rig.pack({ manifest: { requires: { llm: '^1.0.0' } } })))).to.equal('taken');
    });

    it('requirements that form a ring', async () => {
      expect((await refused({ manifest: { provides: { sky: '1.0.0' }, requires: { sky: '^1.0.0' } } })).code).to.equal('install_ring');
      await rig.install(installer, { manifest: { provides: { sky: '1.0.0' } } });
      await rig.install(installer, { id: 'acme-storm', manifest: { provides: { storm: '1.0.0' }, requires: { sky: '^1.0.0' } } });
      const error = await refusal(installer.stage(await rig.pack({ version: '2.0.0', manifest: { provides: { sky: '1.0.0' }, requires: { storm: '^1.0.0' } } })));
      expect(error.code).to.equal('install_ring');
      expect(error.message).to.include('acme-storm').and.include('→');
    });

    it('what cannot be isolated', async () => {
      installer = await rig.open({ isolationFaults: ({ manifest }) => (manifest.replace === 'stop-first' ? ['it listens on a port'] : []) });
      const error = await refused({ manifest: { replace: 'stop-first' } });
      expect([error.code, error.message]).to.deep.equal(['install_cannot_isolate', 'acme-weather cannot run apart from the daemon: it listens on a port.']);
    });

    it('what is there already, and another one than was to be upgraded', async () => {
      await rig.install(installer, {});
      expect(await codeOf(installer.stage(await rig.pack({ version: '1.1.0' }), { expect: 'new' }))).to.equal('install_installed');
      expect(await codeOf(installer.stage(await rig.pack({ id: 'acme-storm' }), { expect: { id: 'acme-weather' } }))).to.equal('install_other_id');
    });

    it('a package that was staged for another state than the one of now', async () => {
      const [first, second] = [await installer.stage(await rig.pack()), await installer.stage(await rig.pack({ version: '1.1.0' }))];
      await installer.commit(second, { grants: 'all' });
      expect(await codeOf(installer.commit(first, { grants: 'all' }))).to.equal('install_busy');
    });

    it('everything while trust.toml or installed.json cannot be read, and touches neither', async () => {
      await rig.install(installer, { key });
      await writeFile(join(rig.ext, 'trust.toml'), '[[key');
      expect(await codeOf(installer.stage(await rig.pack({ version: '2.0.0', key })))).to.equal('install_trust_file');
      const { refused: all } = await (await rig.open()).validateAtBoot();
      expect(all.map(({ code }) => code)).to.deep.equal(['install_trust_file']);
      await writeFile(join(rig.ext, 'installed.json'), '{"format":1,"extensions":[{}]}');
      const before = await rig.stored();
      expect(await codeOf(rig.open())).to.equal('install_store_broken');
      expect(await rig.stored()).to.deep.equal(before);
    });
  });

  describe('runs a package', () => {
    const trusted = () => ({ id: key.keyId, name: 'Acme', public: key.publicKey, allow: ['acme-*'] });
    const isolationOf = async (isolation?: 'isolated' | 'walled') => {
      await installer.trust(() => [{ ...trusted(), ...(isolation ? { isolation } : {}) }]);
      return (await installer.stage(await rig.pack({ key }))).isolation;
    };

    it('as its key says', async () => {
      expect([await isolationOf(), await isolationOf('walled')]).to.deep.equal(['isolated', 'walled']);
    });

    it('in a process of its own where files of an older svc say in-process, unless it asks for what no such process can have', async () => {
      await isolationOf();
      await rig.install(installer, { key });
      for (const [file, from, to] of [
        ['installed.json', '"isolation": "isolated"', '"isolation": "in-process"'],
        ['trust.toml', 'id = ', 'isolation = "in-process"\nid = '],
      ] as const) {
        const text = (await readFile(join(rig.ext, file), 'utf8')).replace(from, to);
        expect(text, file).to.contain('in-process');
        await writeFile(join(rig.ext, file), text);
      }
      const [usable] = (await (await rig.open()).validateAtBoot()).usable;
      expect(usable?.record.isolation).to.equal('isolated');
      expect(usable?.isolationWhy).to.contain('"in-process" for its key, which svc no longer has');
      const { refused } = await (await rig.open({ isolationFaults: () => ['it has sockets'] })).validateAtBoot();
      expect(refused).to.deep.include({ id: 'acme-weather', code: 'install_cannot_isolate', message: 'acme-weather cannot run apart from the daemon: it has sockets.' });
    });

    it('behind walls where the settings ask for them', async () => {
      rig.policy = { ...rig.policy, isolation: 'walled' };
      expect([await isolationOf(), await isolationOf('isolated')]).to.deep.equal(['walled', 'walled']);
    });

    it('as trust.toml says now, not as it said when it was installed', async () => {
      await isolationOf('walled');
      await rig.install(installer, { key });
      expect(installer.records()[0]?.isolation).to.equal('walled');
      await installer.trust((keys) => keys.map(({ isolation: _gone, ...one }) => one));
      expect((await installer.validateAtBoot()).usable[0]?.record.isolation).to.equal('isolated');
    });
  });

  it('hands an extension on to the key that the old one names', async () => {
    const next = await generateKey();
    await rig.install(installer, { key });
    await rig.install(installer, { version: '2.0.0', key: next, rotations: [await rotate('acme-weather', key, next.publicKey, new Date(NOW))] });
    expect(installer.keys().map(({ id, allow }) => [id, allow])).to.deep.equal([
      [key.keyId, []],
      [next.keyId, ['acme-weather']],
    ]);
    expect(await codeOf(installer.stage(await rig.pack({ version: '3.0.0', key })))).to.equal('install_wrong_key');
    expect((await installer.rollback('acme-weather')).version).to.equal('1.0.0');
    expect((await installer.validateAtBoot()).refused).to.deep.equal([]);
  });

  it('shows sources without what is secret in them', () => {
    expect(withoutSecrets('https://me:pw@host/a.tgz?token=1#sha256=00')).to.equal('https://host/a.tgz?…#sha256=00');
    expect(withoutSecrets('git+https://tok@host/a.git#v1')).to.equal('git+https://host/a.git#v1');
    expect(withoutSecrets('npm:@acme/weather@^1')).to.equal('npm:@acme/weather@^1');
  });
});
