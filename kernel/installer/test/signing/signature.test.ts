import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { lookAtSigning } from '../../src/install/signing-probe.js';
import { canonicalJson } from '../../src/package/canonical-json.js';
import { validateKey } from '../../src/signing/validate-trust.js';
import { generateKey, keyIdOf, readKey, type SigningKey, signText, writeKey } from '../../src/signing/keys.js';
import { readRotations, rotate } from '../../src/signing/rotation.js';
import { SIGNATURE_PREFIX, type Signature, signFolder, verifyFolder } from '../../src/signing/signature.js';
import { parseTrust, type TrustedKey, trustText, withoutPin, withPin } from '../../src/signing/trust.js';
import { packageFiles, refusal, tempFolder, writeFiles } from '../package-rig.js';

const now = new Date('2026-03-01T10:00:00Z');

describe('signing an extension', () => {
  let root: string;
  let dir: string;
  let done: () => Promise<void>;
  let key: SigningKey;
  before(async () => {
    key = await generateKey();
  });
  beforeEach(async () => {
    ({ dir: root, done } = await tempFolder());
    dir = join(root, 'p');
    await writeFiles(dir, packageFiles());
  });
  afterEach(() => done());

  const signature = async (): Promise<Signature> => JSON.parse(await readFile(join(dir, 'SIGNATURE.json'), 'utf8'));
  /** As somebody writes it who has the key. */
  const rewrite = async (change: Partial<Record<keyof Signature, unknown>>, by: SigningKey = key, prefix = SIGNATURE_PREFIX): Promise<void> => {
    const { signature: _old, ...unsigned } = { ...(await signature()), ...change };
    await writeFile(join(dir, 'SIGNATURE.json'), JSON.stringify({ ...unsigned, signature: await signText(prefix, canonicalJson(unsigned), by) }));
  };

  it('vouches for every file, and for what the package is', async () => {
    const signed = await signFolder(dir, key, { now });
    expect(signed).to.include({ format: 1, id: 'acme-weather', version: '1.0.0', apiRange: '^0.1.0', createdAt: '2026-03-01T10:00:00.000Z', keyId: keyIdOf(key.publicKey) });
    expect(Object.keys(signed.files)).to.deep.equal(['README.md', 'contributions.json', 'dist/index.js', 'extension.json', 'package.json']);
    expect((await verifyFolder(dir)).signature).to.deep.equal(signed);
  });

  it('is the same for the same files at the same time', async () => {
    const first = await signFolder(dir, key, { now });
    expect(await signFolder(dir, key, { now })).to.deep.equal(first);
  });

  it('finds none where there is none', async () => {
    expect((await verifyFolder(dir)).signature).to.equal(undefined);
  });

  for (const [what, change, how] of [
    ['a changed file', () => writeFile(join(dir, 'dist/index.js'), 'evil()'), 'dist/index.js was changed'],
    ['an unlisted file', () => writeFile(join(dir, 'dist/extra.js'), 'evil()'), 'dist/extra.js is not listed'],
    ['an unlisted file called like a member of objects', () => writeFile(join(dir, 'constructor'), 'evil()'), 'constructor is not listed'],
    ['a file that is gone', () => rm(join(dir, 'README.md')), 'README.md is missing'],
  ] as ReadonlyArray<[string, () => Promise<void>, string]>)
    it(`finds ${what}`, async () => {
      await signFolder(dir, key, { now });
      await change();
      const error = await refusal(verifyFolder(dir));
      expect(error.code).to.equal('install_modified');
      expect(error.message).to.include(how);
    });

  it('refuses a list that somebody without the key changed', async () => {
    await signFolder(dir, key, { now });
    await writeFile(join(dir, 'dist/index.js'), 'evil()');
    await rewrite({ files: {} }, await generateKey());
    const error = await refusal(verifyFolder(dir));
    expect([error.code, error.message]).to.deep.equal(['install_signature', `The signature of the package is not valid: the key ${key.keyId} did not sign SIGNATURE.json.`]);
  });

  it('refuses a key id that is not that of the key', async () => {
    await signFolder(dir, key, { now });
    await rewrite({ keyId: '0000000000000000' });
    expect((await refusal(verifyFolder(dir))).message).to.include('does not belong to its key');
  });

  it('refuses the signature of another extension, version or API range', async () => {
    for (const [change, words] of [
      [{ id: 'acme-storm' }, 'names the id acme-storm'],
      [{ version: '0.9.0' }, 'names the version 0.9.0'],
      [{ apiRange: '*' }, 'names the API range *'],
    ] as const) {
      await signFolder(dir, key, { now });
      await rewrite(change);
      const error = await refusal(verifyFolder(dir));
      expect(error.code).to.equal('install_replayed');
      expect(error.message).to.include(words);
    }
  });

  it('refuses what the same key signed as a plugin, and a format of another time', async () => {
    await signFolder(dir, key, { now });
    await rewrite({}, key, 'svc-plugin-v1\n');
    expect((await refusal(verifyFolder(dir))).message).to.include('signed this as a plugin');
    await rewrite({ format: 2 });
    const error = await refusal(verifyFolder(dir));
    expect([error.code, error.message]).to.deep.equal(['install_replayed', 'The signature belongs to another package: it has the format 2, and packages have 1.']);
  });

  it('refuses a signature that is not one', async () => {
    for (const text of ['{', '[]', '{"format":1}', JSON.stringify({ ...(await signFolder(dir, key, { now })), more: 1 })]) {
      await writeFile(join(dir, 'SIGNATURE.json'), text);
      expect((await refusal(verifyFolder(dir))).code, text).to.equal('install_signature');
    }
  });

  it('keeps the private key to its owner, and outside of the package', async () => {
    const file = join(root, 'acme.key');
    await writeKey(file, key);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await readKey(file, dir)).publicKey).to.equal(key.publicKey);
    expect(await writeKey(file, await generateKey()).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('EEXIST');
    await chmod(file, 0o640);
    expect((await refusal(readKey(file))).code).to.equal('install_key_exposed');
    await writeKey(join(dir, 'inside.key'), key);
    expect((await refusal(readKey(join(dir, 'inside.key'), dir))).message).to.include('in the folder of the package');
    await writeFile(join(root, 'none.key'), '{}', { mode: 0o600 });
    expect((await refusal(readKey(join(root, 'none.key')))).code).to.equal('install_key_file');
  });

  it('is tried by a probe, which names the setting that takes unsigned packages, and leaves nothing behind', async () => {
    const look = (thirdParty: 'signed' | 'any' | 'none') => lookAtSigning(root, { thirdParty, now });
    const seen = 'A signed package was accepted, and refused with one byte of its manifest or signature changed.';
    expect(await look('signed')).to.deep.equal({ state: 'active', detail: `${seen} One without a signature was refused.` });
    expect((await look('any')).state).to.equal('degraded');
    expect((await look('none')).detail).to.equal(`${seen} [extensions] third_party = "none": nobody's package is installed.`);
    expect(await readdir(root)).to.deep.equal(['p']);
  });
});

describe('trusting keys', () => {
  let old: SigningKey;
  let young: SigningKey;
  before(async () => {
    [old, young] = [await generateKey(), await generateKey()];
  });
  const signedBy = (key: SigningKey, id = 'acme-weather') => ({ id, keyId: key.keyId, publicKey: key.publicKey });
  const trusted = (key: SigningKey, more: Partial<TrustedKey> = {}): TrustedKey => ({ id: key.keyId, name: 'Acme', public: key.publicKey, allow: ['acme-weather'], ...more });

  it('knows a key that the extension belongs to, and asks for one that nobody named', async () => {
    expect(await validateKey(signedBy(old), [trusted(old)], [])).to.equal('known');
    expect(await validateKey(signedBy(old), [trusted(old, { allow: ['acme-*'] })], [])).to.equal('known');
    expect(await validateKey(signedBy(old), [], [])).to.equal('unknown');
    expect(await validateKey(signedBy(old, 'other-thing'), [trusted(old)], [])).to.equal('unknown');
  });

  it('refuses another key for an extension that belongs to one, and names both', async () => {
    const error = await refusal(validateKey(signedBy(young), [trusted(old)], []));
    expect(error.code).to.equal('install_wrong_key');
    expect(error.message).to.include(young.keyId).and.include(`${old.keyId} (Acme)`);
  });

  it('takes another key that the old one handed the extension on to', async () => {
    const statement = await rotate('acme-weather', old, young.publicKey, now);
    expect(await validateKey(signedBy(young), [trusted(old)], [statement])).to.equal('handed-on');
    const last = await generateKey();
    const chain = [statement, await rotate('acme-weather', young, last.publicKey, now)];
    expect(await validateKey(signedBy(last), [trusted(old)], chain)).to.equal('handed-on');
  });

  it('takes no statement for another extension, by another key, changed, or by a revoked key', async () => {
    const key = { keys: [trusted(old)] };
    const thirdParty = await generateKey();
    const elsewhere = await rotate('acme-storm', old, young.publicKey, now);
    const foreign = await rotate('acme-weather', thirdParty, young.publicKey, now);
    const changed = { ...(await rotate('acme-weather', old, thirdParty.publicKey, now)), to: young.publicKey };
    for (const statement of [elsewhere, foreign, { ...foreign, from: old.publicKey }, changed])
      expect((await refusal(validateKey(signedBy(young), key.keys, [statement]))).code).to.equal('install_wrong_key');
    const fine = await rotate('acme-weather', old, young.publicKey, now);
    expect((await refusal(validateKey(signedBy(young), [trusted(old, { revoked: '2026-02-01' })], [fine]))).code).to.equal('install_wrong_key');
  });

  it('refuses a revoked key, also where it would be known', async () => {
    const error = await refusal(validateKey(signedBy(old), [trusted(old, { revoked: '2026-02-01T00:00:00Z' })], []));
    expect([error.code, error.message.includes('2026-02-01')]).to.deep.equal(['install_revoked', true]);
  });

  it('pins a key to an extension, in place of those before', () => {
    const first = withPin([], { public: old.publicKey, name: 'Acme' }, 'acme-weather', '2026-03-01T10:00:00Z');
    expect(first).to.deep.equal([{ ...trusted(old), since: '2026-03-01T10:00:00Z' }]);
    const both = withPin(first, { public: old.publicKey, name: 'other' }, 'acme-storm', '2026-03-02T10:00:00Z');
    expect(both[0]).to.include({ name: 'Acme', since: '2026-03-01T10:00:00Z' });
    const next = withPin(both, { public: young.publicKey, name: 'Acme' }, 'acme-weather', '2026-03-03T10:00:00Z');
    expect(next.map(({ allow }) => allow)).to.deep.equal([['acme-storm'], ['acme-weather']]);
    expect(withoutPin(next, 'acme-storm').map(({ allow }) => allow)).to.deep.equal([[], ['acme-weather']]);
  });

  it('is written as text that reads back the same', () => {
    const keys = [trusted(old, { isolation: 'walled', since: '2026-03-01T10:00:00.000Z' }), trusted(young, { name: 'a "quoted" name\n', allow: ['a-b', 'c-*'], revoked: '2026-03-01T10:00:00.000Z' })];
    expect(parseTrust(trustText(keys))).to.deep.equal(keys);
    expect(parseTrust(trustText([]))).to.deep.equal([]);
    expect(parseTrust('')).to.deep.equal([]);
    // Of an older svc: it is read as if nothing was said, and stays where a person wrote it.
    const before = parseTrust(trustText([trusted(old)]).concat('isolation = "in-process"\n'));
    expect(before).to.deep.equal([{ ...trusted(old), wasInProcess: true }]);
    expect(parseTrust(trustText(before))).to.deep.equal(before);
    expect(trustText(before)).to.contain('isolation = "in-process"');
    expect(parseTrust(trustText([trusted(old)]).concat('revoked = 2026-03-01T10:00:00Z\n'))[0]?.revoked).to.equal('2026-03-01T10:00:00.000Z');
  });

  it('refuses a file that it cannot read as keys', async () => {
    const row = (text: string): string => `[[key]]\npublic = "${old.publicKey}"\nid = "${old.keyId}"\n${text}`;
    for (const [text, words] of [
      ['[[key', 'trust.toml cannot be used'],
      ['keys = []', 'something else'],
      [row(''), 'needs allow'],
      [row('allow = ["../x"]'), 'needs allow'],
      [row('allow = []\nisolation = "none"'), 'isolation'],
      [row('allow = []\nallowed = []'), 'unknown member "allowed"'],
      [row('allow = []\nrevoked = "soon"'), 'not a time'],
      [`${row('allow = []\n')}${row('allow = []')}`, 'twice'],
      [row('allow = []').replace(old.keyId, young.keyId), 'that of its public key is'],
    ] as const) {
      const error = await refusal((async () => parseTrust(text))());
      expect(error.code).to.equal('install_trust_file');
      expect(error.message).to.include(words);
    }
  });

  it('reads the statements that a package brings', async () => {
    const { dir, done } = await tempFolder();
    try {
      expect(await readRotations(dir)).to.deep.equal([]);
      await writeFiles(dir, packageFiles());
      const statement = await rotate('acme-weather', old, young.publicKey, now);
      const signed = await signFolder(dir, young, { now, rotations: [statement] });
      expect(Object.keys(signed.files)).to.include('ROTATION.json');
      expect(await readRotations(dir)).to.deep.equal([statement]);
      await writeFile(join(dir, 'ROTATION.json'), '{}');
      expect((await refusal(readRotations(dir))).code).to.equal('install_signature');
    } finally {
      await done();
    }
  });
});
