import { chmod, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { expect } from 'chai';
import type { Installer } from '../../src/install/contract.js';
import { generateKey, type SigningKey } from '../../src/signing/keys.js';
import { refusal } from '../package-rig.js';
import { bundledArea, codeOf, type InstallRig, installRig } from './install-rig.js';

const asking = (...grants: string[]) => ({ manifest: { grants: grants.map((grant) => ({ grant, why: 'needs it' })) } });

describe('upgrading an extension', () => {
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

  const versions = async (): Promise<string[]> => (await readdir(join(rig.ext, 'store/acme-weather'))).map((name) => name.split('-')[0] ?? '').sort();
  const record = () => installer.records()[0];

  it('keeps two versions to go back to, and no more', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) {
      await rig.install(installer, { version });
      await installer.confirmTrial('acme-weather');
    }
    expect(record()?.previous.map((one) => one.version)).to.deep.equal(['1.2.0', '1.1.0']);
    await rig.open();
    expect(await versions()).to.deep.equal(['1.1.0', '1.2.0', '1.3.0']);
  });

  it('keeps the version that ran last until a newer one has started, however many follow it unstarted', async () => {
    await rig.install(installer, { version: '1.0.0' });
    for (const version of ['1.1.0', '1.2.0', '1.3.0', '1.4.0']) await rig.install(installer, { version });
    await rig.open();
    expect(await versions()).to.contain('1.0.0');
    await installer.beginTrial('acme-weather');
    const validated = await installer.validateAtBoot();
    expect(
      validated.usable.map(({ record: { version } }) => version),
      'a start that finds it begun',
    ).to.deep.equal(['1.0.0']);
    const code = await rig.install(installer, { version: '1.5.0' }).then(
      () => 'nothing',
      (error: unknown) => (isSvcError(error) ? error.code : String(error)),
    );
    expect(code).to.equal('install_trial_open');
    await installer.undoTrial('acme-weather');
    expect([record()?.version, record()?.trial]).to.deep.equal(['1.0.0', undefined]);
  });

  it('needs no consent where it asks for nothing more, also where it asks for less or narrower', async () => {
    await rig.install(installer, asking('exec', 'egress:tool'));
    const staged = await installer.stage(await rig.pack({ version: '1.1.0', ...asking('exec:git', 'egress:tool') }));
    expect(staged.grants.map(({ isNew }) => isNew)).to.deep.equal([false, false]);
    expect((await installer.commit(staged, { grants: [] })).grants).to.deep.equal(['exec:git', 'egress:tool']);
  });

  it('stops where it asks for more, keeps what was, and waits with the difference', async () => {
    await rig.install(installer, asking('egress:tool'));
    const former = record();
    const staged = await installer.stage(await rig.pack({ version: '2.0.0', ...asking('egress:tool', 'exec') }));
    const error = await refusal(installer.commit(staged, { grants: [] }));
    expect([error.code, error.message]).to.deep.equal(['install_needs_consent', 'acme-weather requests exec, which was not granted.']);
    const { pending, ...rest } = record() ?? {};
    expect(rest).to.deep.equal(former);
    expect(pending).to.deep.include({ version: '2.0.0', newGrants: ['exec'] });
    // It outlives a restart, and somebody agrees later.
    installer = await rig.open();
    const again = await installer.stagePending('acme-weather');
    const upgraded = await installer.commit(again, { grants: ['exec'] });
    expect([upgraded.version, upgraded.grants, upgraded.pending]).to.deep.equal(['2.0.0', ['egress:tool', 'exec'], undefined]);
    expect((await installer.validateAtBoot()).usable.map((one) => one.package.version)).to.deep.equal(['2.0.0']);
    expect(await codeOf(installer.stagePending('acme-weather'))).to.equal('install_none_pending');
  });

  it('validates what waits for consent anew', async () => {
    await rig.install(installer, { key });
    await codeOf(installer.commit(await installer.stage(await rig.pack({ version: '2.0.0', key, ...asking('exec') })), { grants: [] }));
    await installer.trust((keys) => keys.map((one) => ({ ...one, revoked: '2026-03-02T00:00:00Z' })));
    expect(await codeOf(installer.stagePending('acme-weather'))).to.equal('install_revoked');
  });

  it('goes back to the version before, with what was agreed to then', async () => {
    await rig.install(installer, { ...asking('egress:tool') });
    await rig.install(installer, { version: '2.0.0', ...asking('exec') });
    const back = await installer.rollback('acme-weather');
    expect([back.version, back.grants, back.previous]).to.deep.equal(['1.0.0', ['egress:tool'], []]);
    expect(await codeOf(installer.rollback('acme-weather'))).to.equal('install_none_before');
    expect((await installer.stored('acme-weather')).package.version).to.equal('1.0.0');
  });

  it('does not go back to what was changed, revoked or cannot stand here any more', async () => {
    await rig.install(installer, { key });
    await rig.install(installer, { version: '2.0.0', key });
    const target = join(rig.ext, record()?.previous[0]?.folder ?? '', 'dist/index.js');
    const original = await readFile(target);
    await chmod(target, 0o644);
    await writeFile(target, 'evil()');
    expect(await codeOf(installer.rollback('acme-weather'))).to.equal('install_modified');
    await writeFile(target, original);
    rig.bundled = [bundledArea('rain', { conflicts: ['acme-weather'] })];
    expect(await codeOf(installer.rollback('acme-weather'))).to.equal('install_conflict');
    rig.bundled = [];
    await installer.trust((keys) => keys.map((one) => ({ ...one, revoked: '2026-03-02T00:00:00Z' })));
    expect(await codeOf(installer.rollback('acme-weather'))).to.equal('install_revoked');
    expect(record()?.version).to.equal('2.0.0');
  });

  it('puts an earlier record back as it was, with all it can go back to', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await rig.install(installer, { version });
    const former = record();
    await rig.install(installer, { version: '2.0.0' });
    // Somebody installs something else in between.
    await installer.discard(await installer.stage(await rig.pack({ id: 'acme-storm' })));
    if (former) await installer.restore(former);
    expect(record()).to.deep.equal(former);
    expect((await installer.validateAtBoot()).refused).to.deep.equal([]);
    expect(await versions()).to.include.members(['1.0.0', '1.1.0', '1.2.0']);
  });

  it('installs the same package again without a second copy', async () => {
    await rig.install(installer, { key });
    await rig.install(installer, { key });
    expect([await versions(), record()?.previous]).to.deep.equal([['1.0.0'], []]);
  });

  it('replaces a folder that somebody damaged, and the same files with another signature', async () => {
    await rig.install(installer, {});
    const file = join(rig.ext, record()?.folder ?? '', 'dist/index.js');
    await chmod(file, 0o644);
    await writeFile(file, 'evil()');
    expect((await installer.validateAtBoot()).refused.map(({ code }) => code)).to.deep.equal(['install_modified']);
    await rig.install(installer, {});
    expect((await installer.validateAtBoot()).refused).to.deep.equal([]);
    await rig.install(installer, { key });
    expect((await installer.validateAtBoot()).usable[0]?.record).to.include({ trust: 'signed', keyId: key.keyId });
  });

  it('removes all of it, and with purge whose it was', async () => {
    await rig.install(installer, { key });
    await rig.install(installer, { version: '2.0.0', key });
    await installer.remove('acme-weather', { purge: false });
    expect([installer.records(), (await rig.stored()).filter((path) => path.startsWith('store/'))]).to.deep.equal([[], []]);
    expect(installer.keys()[0]?.allow).to.deep.equal(['acme-weather']);
    await rig.install(installer, { key });
    await installer.remove('acme-weather', { purge: true });
    expect(installer.keys()[0]?.allow).to.deep.equal([]);
    const error = await refusal(installer.remove('acme-wether', { purge: false }));
    expect(error.code).to.equal('install_unknown');
  });
});

describe('validating what is installed at a start', () => {
  let rig: InstallRig;
  let installer: Installer;
  let key: SigningKey;
  before(async () => {
    key = await generateKey();
  });
  beforeEach(async () => {
    rig = await installRig();
    installer = await rig.open();
    await rig.install(installer, { key });
    await rig.install(installer, { id: 'other-thing' });
  });
  afterEach(() => rig.done());

  const folderOf = (id: string): string => join(rig.ext, installer.records().find((record) => record.id === id)?.folder ?? '');
  const validated = async (): Promise<Record<string, string>> => {
    const { usable, refused } = await (await rig.open()).validateAtBoot();
    return Object.fromEntries([...usable.map((one) => [one.record.id, one.package.version]), ...refused.map(({ id, code }) => [id, code])]);
  };

  it('takes what is as it was installed', async () => {
    expect(await validated()).to.deep.equal({ 'acme-weather': '1.0.0', 'other-thing': '1.0.0' });
  });

  for (const [what, spoil, code] of [
    ['a changed file', (dir) => chmod(join(dir, 'dist/index.js'), 0o644).then(() => writeFile(join(dir, 'dist/index.js'), 'evil()')), 'install_modified'],
    ['an added file', (dir) => writeFile(join(dir, 'dist/more.js'), ''), 'install_modified'],
    ['a missing file', (dir) => rm(join(dir, 'README.md')), 'install_modified'],
    ['a link', (dir) => symlink('/etc/passwd', join(dir, 'dist/passwd')), 'install_modified'],
    ['a missing folder', (dir) => rm(dir, { recursive: true }), 'install_modified'],
    ['a missing signature', (dir) => rm(join(dir, 'SIGNATURE.json')), 'install_modified'],
    ['a signature that was cut off', (dir) => truncate(join(dir, 'SIGNATURE.json'), 100), 'install_signature'],
  ] as ReadonlyArray<[string, (dir: string) => Promise<void>, string]>)
    it(`refuses ${what}, and takes the others`, async () => {
      await chmod(join(folderOf('acme-weather'), 'SIGNATURE.json'), 0o644);
      await spoil(folderOf('acme-weather'));
      expect(await validated()).to.deep.equal({ 'acme-weather': code, 'other-thing': '1.0.0' });
    });

  it('refuses a signature that came later', async () => {
    await writeFile(join(folderOf('other-thing'), 'SIGNATURE.json'), await readFile(join(folderOf('acme-weather'), 'SIGNATURE.json')));
    expect((await validated())['other-thing']).to.equal('install_replayed');
  });

  it('refuses a revoked key, a key that is gone and one that is not allowed any more', async () => {
    await installer.trust((keys) => keys.map((one) => ({ ...one, revoked: '2026-03-02T00:00:00Z' })));
    expect((await validated())['acme-weather']).to.equal('install_revoked');
    await installer.trust(() => []);
    expect((await validated())['acme-weather']).to.equal('install_unknown_key');
  });

  it('refuses what the settings take no more', async () => {
    rig.policy = { ...rig.policy, thirdParty: 'signed' };
    expect(await validated()).to.deep.equal({ 'acme-weather': '1.0.0', 'other-thing': 'install_unsigned' });
    rig.policy = { ...rig.policy, thirdParty: 'none' };
    expect(await validated()).to.deep.equal({ 'acme-weather': 'install_not_allowed', 'other-thing': 'install_not_allowed' });
  });

  it('refuses what a new version of svc brings itself', async () => {
    rig.bundled = [bundledArea('acme-weather')];
    expect((await validated())['acme-weather']).to.equal('install_id_taken');
  });
});
