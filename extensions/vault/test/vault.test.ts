import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dir, Logger } from '@svc/api';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { systemIds } from '@svc/platform/clock/ids';
import { expect } from 'chai';
import { filePlace } from '../src/place.js';
import { doctorFindings, healthProbe, lookAtWiping } from '../src/reports.js';
import { createVault, type Vault } from '../src/service.js';

const SECRET = 'sk-very-secret-value-123456';
const AT = '2026-01-02T03:04:05.678Z';
const KEY = Buffer.alloc(32, 7).toString('base64');

describe('the vault', () => {
  let home: string;
  let logged: unknown[];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-vault-'));
    logged = [];
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const note = (...args: unknown[]): void => void logged.push(args);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const vaultWith = (key?: string, more: { data?: Dir; enabled?: boolean; previous?: string } = {}): Vault =>
    createVault({
      data: more.data ?? openDir(home),
      place: async () => filePlace(more.data ?? openDir(home)),
      isAmongOthers: async () => false,
      ids: systemIds(),
      log,
      masterKeyText: () => key,
      previousKeyText: () => more.previous,
      isEnabled: () => more.enabled ?? true,
      clock: { iso: () => AT },
    });
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no error',
      (error: { code: string }) => error.code,
    );

  it('V3 gives back after a restart what was put, and forgets what was deleted', async () => {
    const vault = vaultWith();
    await Promise.all([vault.put('provider.a', SECRET), vault.put('provider.b', 'Grüße 🚀'), vault.put('other', 'x')]);
    expect(await vault.delete('other')).to.equal(true);
    expect(await vault.delete('other')).to.equal(false);
    const again = vaultWith();
    expect(await again.resolve('provider.a')).to.equal(SECRET);
    expect(await again.resolve('provider.b')).to.equal('Grüße 🚀');
    expect(await again.resolve('other')).to.equal(undefined);
    expect(await again.names('provider.')).to.deep.equal(['provider.a', 'provider.b']);
    expect(await again.status()).to.deep.equal({ state: 'open', secrets: 2, why: null });
  });

  it('V1 makes no file before a secret is kept', async () => {
    const vault = vaultWith();
    expect(await vault.resolve('a')).to.equal(undefined);
    expect(await vault.status()).to.include({ state: 'missing' });
    expect(readdirSync(home)).to.deep.equal([]);
  });

  it('keeps its files to their owner', async () => {
    await vaultWith().put('a', SECRET);
    for (const file of ['vault.enc', 'vault.key']) expect(statSync(join(home, file)).mode & 0o777, file).to.equal(0o600);
  });

  it('writes no secret in the clear, and never the same bytes twice', async () => {
    const vault = vaultWith(KEY);
    await vault.put('a', SECRET);
    const first = readFileSync(join(home, 'vault.enc'), 'latin1');
    await vault.put('a', SECRET);
    const second = readFileSync(join(home, 'vault.enc'), 'latin1');
    expect(first.startsWith('SVCV1{"version":1,')).to.equal(true);
    expect(first).not.to.equal(second);
    for (const text of [first, second]) expect(text).not.to.contain(SECRET).and.not.to.contain(Buffer.from(SECRET).toString('base64'));
    expect(readdirSync(home)).to.deep.equal(['vault.enc']);
  });

  for (const blank of ['', ' ', '\n'])
    it(`takes SVC_VAULT_KEY = ${JSON.stringify(blank)} for unset and uses its own key file`, async () => {
      const vault = vaultWith(blank);
      await vault.put('a', SECRET);
      expect(await vaultWith().resolve('a')).to.equal(SECRET);
      expect((await doctorFindings(vault, blank))[0]).to.include({ result: 'pass' });
    });

  it('V2 does not open with another key, and is not written over', async () => {
    await vaultWith(KEY).put('a', SECRET);
    const before = readFileSync(join(home, 'vault.enc'));
    const other = vaultWith(Buffer.alloc(32, 8).toString('base64'));
    expect(await codeOf(Promise.resolve(other.resolve('a')))).to.equal('vault_locked');
    expect(await codeOf(other.put('b', 'x'))).to.equal('vault_locked');
    expect(await codeOf(other.delete('a'))).to.equal('vault_locked');
    expect(readFileSync(join(home, 'vault.enc'))).to.deep.equal(before);
    expect(await healthProbe(other)).to.include({ name: 'vault', status: 'error' });
  });

  it('V2 leaves a damaged file as it is, and opens it once it is fixed', async () => {
    const vault = vaultWith(KEY);
    await vault.put('a', SECRET);
    const file = join(home, 'vault.enc');
    const good = readFileSync(file);
    for (const bad of ['', 'SVCV1', 'SVCV1{}', `SVCV1${JSON.stringify({ version: 9 })}`, 'not a vault']) {
      writeFileSync(file, bad);
      const broken = vaultWith(KEY);
      expect(await codeOf(Promise.resolve(broken.resolve('a'))), bad).to.equal('vault_corrupt');
      expect(await codeOf(broken.put('a', 'x')), bad).to.equal('vault_corrupt');
      expect(readFileSync(file, 'utf8')).to.equal(bad);
      writeFileSync(file, good);
      expect(await broken.resolve('a')).to.equal(SECRET);
    }
  });

  it('notices a single changed byte', async () => {
    await vaultWith(KEY).put('a', SECRET);
    const file = join(home, 'vault.enc');
    const envelope = JSON.parse(readFileSync(file, 'utf8').slice(5)) as { ciphertext: string };
    const bytes = Buffer.from(envelope.ciphertext, 'base64');
    bytes.writeUInt8(bytes.readUInt8(3) ^ 1, 3);
    writeFileSync(file, `SVCV1${JSON.stringify({ ...envelope, ciphertext: bytes.toString('base64') })}`);
    expect(await codeOf(Promise.resolve(vaultWith(KEY).resolve('a')))).to.equal('vault_locked');
  });

  it('does not pass over a key in the environment that is wrong', async () => {
    await vaultWith().put('a', SECRET);
    const vault = vaultWith('too short');
    expect(await codeOf(Promise.resolve(vault.resolve('a')))).to.equal('vault_locked');
    expect(JSON.stringify([await vault.status(), logged])).not.to.contain('too short');
  });

  it('VaultKeyCheck passes without the variable and with 32 bytes, and fails otherwise', async () => {
    const check = async (text: string | undefined) => (await doctorFindings(vaultWith(text), text)).find((finding) => finding.check === 'VaultKeyCheck')?.result;
    expect(await check(undefined)).to.equal('pass');
    expect(await check(KEY)).to.equal('pass');
    expect(await check(Buffer.alloc(31).toString('base64'))).to.equal('fail');
    expect(await check('not base64 at all!')).to.equal('fail');
  });

  it('V3 does not acknowledge what the disk refused, and goes on with what was there', async () => {
    await vaultWith(KEY).put('a', 'old');
    const failing = vaultWith(KEY, { data: { ...openDir(home), write: async () => Promise.reject(new Error('disk full')) } });
    const refused = await failing.put('a', 'new').catch((error: Error) => error.message);
    expect(refused).to.equal('disk full');
    expect(await failing.resolve('a')).to.equal('old');
  });

  it('reads keep their value while others are written', async () => {
    const vault = vaultWith(KEY);
    await vault.put('a', SECRET);
    const reads: Array<Promise<string | undefined>> = [];
    const writes: Array<Promise<void>> = [];
    for (let i = 0; i < 20; i++) {
      writes.push(vault.put(`n${i}`, String(i)));
      for (let j = 0; j < 20; j++) reads.push(Promise.resolve(vault.resolve('a')));
    }
    expect(new Set(await Promise.all(reads))).to.deep.equal(new Set([SECRET]));
    await Promise.all(writes);
    expect(await vault.names('n')).to.have.length(20);
  });

  it('bounds what is kept', async () => {
    const vault = vaultWith(KEY);
    expect(await codeOf(vault.put('bad name', 'x'))).to.equal('vault_bad_name');
    expect(await codeOf(vault.put('a', 'x'.repeat(64 * 1024 + 1)))).to.equal('vault_too_large');
  });

  it('keeps nothing while it is switched off', async () => {
    const vault = vaultWith(KEY, { enabled: false });
    expect(await codeOf(vault.put('a', SECRET))).to.equal('vault_disabled');
    expect(await vault.resolve('a')).to.equal(undefined);
    expect(readdirSync(home)).to.deep.equal([]);
  });

  describe('begun anew', () => {
    const ASIDE = 'vault.enc.2026-01-02T03-04-05-678Z';

    it('V5 F4 names what is lost with its key, moves the file aside and keeps new secrets; the old ones come back with their key', async () => {
      const first = vaultWith();
      await first.put('provider.a', SECRET);
      await first.put('provider.b', 'x');
      const key = readFileSync(join(home, 'vault.key'));
      rmSync(join(home, 'vault.key'));
      const vault = vaultWith();
      expect(await vault.contents()).to.deep.include({ state: 'locked', names: ['provider.a', 'provider.b'] });

      expect(await vault.reset()).to.deep.equal({ names: ['provider.a', 'provider.b'], setAside: [ASIDE] });

      expect(await vault.contents()).to.deep.equal({ state: 'missing', why: null, names: [] });
      expect(await vault.resolve('provider.a')).to.equal(undefined);
      await vault.put('provider.c', 'new');
      expect(await vaultWith().resolve('provider.c')).to.equal('new');
      expect(statSync(join(home, ASIDE)).mode & 0o777).to.equal(0o600);
      writeFileSync(join(home, 'vault.key'), key);
      copyFileSync(join(home, ASIDE), join(home, 'vault.enc'));
      expect(await vaultWith().resolve('provider.a')).to.equal(SECRET);
    });

    it('forgets at once what it had in memory, when it was open', async () => {
      const vault = vaultWith(KEY);
      await vault.put('a', SECRET);
      expect((await vault.reset()).names).to.deep.equal(['a']);
      expect(await vault.resolve('a')).to.equal(undefined);
    });

    it('says so when nobody can tell what is lost: a damaged file, and one that names nothing', async () => {
      await vaultWith(KEY).put('a', SECRET);
      const file = join(home, 'vault.enc');
      const { names: _names, ...older } = JSON.parse(readFileSync(file, 'utf8').slice(5)) as { names: string[] };
      writeFileSync(file, `SVCV1${JSON.stringify(older)}`);
      expect(await vaultWith(KEY).resolve('a')).to.equal(SECRET);
      expect((await vaultWith(Buffer.alloc(32, 8).toString('base64')).contents()).names).to.equal(null);
      writeFileSync(file, 'garbage');
      expect(await vaultWith(KEY).reset()).to.deep.equal({ names: null, setAside: [ASIDE] });
    });

    it('shows only what could be the name of a secret', async () => {
      await vaultWith(KEY).put('a', SECRET);
      const file = join(home, 'vault.enc');
      const envelope = JSON.parse(readFileSync(file, 'utf8').slice(5)) as object;
      writeFileSync(file, `SVCV1${JSON.stringify({ ...envelope, names: ['b', 7, '\u001b[31mred', 'x'.repeat(201)] })}`);
      expect((await vaultWith('bad').contents()).names).to.deep.equal(['b']);
      expect(await vaultWith(KEY).contents()).to.deep.include({ state: 'open', names: ['a'] });
    });

    it('sets a key file aside that is none, and refuses where the environment gives a key that is none', async () => {
      await vaultWith().put('a', SECRET);
      writeFileSync(join(home, 'vault.key'), 'not a key');
      expect(await codeOf(vaultWith('not a key either').reset())).to.equal('vault_key_unusable');
      expect(readdirSync(home).sort()).to.deep.equal(['vault.enc', 'vault.key']);
      const vault = vaultWith();
      expect((await vault.reset()).setAside).to.deep.equal([ASIDE, ASIDE.replace('enc', 'key')]);
      await vault.put('a', 'new');
      expect(await vaultWith().resolve('a')).to.equal('new');
    });

    it('has nothing to set aside before a secret was kept', async () => {
      expect(await codeOf(vaultWith().reset())).to.equal('vault_nothing_to_reset');
    });
  });

  describe('a rotation of the key', () => {
    const NEW_KEY = Buffer.alloc(32, 9).toString('base64');

    /** A folder whose disk fails at the write with this number, before or after it reached the disk. */
    const failingAt = (number: number, isAfter: boolean): Dir => {
      const [data, count] = [openDir(home), { writes: 0 }];
      const write: Dir['write'] = async (...args) => {
        count.writes += 1;
        if (count.writes === number && !isAfter) throw new Error('the disk is gone');
        await data.write(...args);
        if (count.writes === number) throw new Error('the disk is gone');
      };
      return { ...data, write };
    };
    const earlierKeys = () => readdirSync(home).filter((name) => /^vault-2026.*\.key$/.test(name));

    it('V6 encrypts every secret with a new key, and opens a backup of before with the earlier one', async () => {
      const vault = vaultWith();
      await vault.put('a', SECRET);
      await vault.put('b', 'x');
      const [oldFile, oldKey] = [readFileSync(join(home, 'vault.enc')), readFileSync(join(home, 'vault.key'), 'utf8')];

      const { earlierKey, secrets } = await vault.rotateKey();

      expect([secrets, [earlierKey]]).to.deep.equal([2, earlierKeys()]);
      expect(readFileSync(join(home, 'vault.key'), 'utf8')).not.to.equal(oldKey);
      expect([readFileSync(join(home, earlierKey ?? ''), 'utf8'), statSync(join(home, earlierKey ?? '')).mode & 0o777]).to.deep.equal([oldKey, 0o600]);
      rmSync(join(home, earlierKey ?? ''));
      expect(await vaultWith().resolve('a')).to.equal(SECRET);
      expect(await vault.resolve('b')).to.equal('x');
      // Without the earlier key a backup of before is closed; with it, it opens.
      writeFileSync(join(home, 'vault.enc'), oldFile);
      expect(await vaultWith().status()).to.include({ state: 'locked' });
      writeFileSync(join(home, earlierKey ?? ''), oldKey);
      expect(await vaultWith().resolve('a')).to.equal(SECRET);
    });

    for (const number of [1, 2, 3])
      for (const isAfter of [false, true])
        it(`V6 that is cut ${isAfter ? 'after' : 'before'} write ${number} leaves every secret readable, and the next change and rotation work`, async () => {
          await vaultWith().put('a', SECRET);
          const cut = vaultWith(undefined, { data: failingAt(number, isAfter) });
          expect(await cut.rotateKey().then(() => 'done', String)).to.contain('the disk is gone');
          expect(await cut.resolve('a')).to.equal(SECRET);

          expect(await vaultWith().resolve('a')).to.equal(SECRET);
          await vaultWith().put('b', 'y');
          for (const name of earlierKeys()) rmSync(join(home, name)); // what was changed needs the present key alone
          const again = vaultWith();
          expect([await again.resolve('a'), await again.resolve('b')]).to.deep.equal([SECRET, 'y']);
          expect((await again.rotateKey()).secrets).to.equal(2);
          expect(await vaultWith().resolve('a')).to.equal(SECRET);
        });

    it('waits for changes, and changes wait for it: nothing is lost between them', async () => {
      const vault = vaultWith();
      await vault.put('a', SECRET);
      await Promise.all([vault.put('b', '1'), vault.rotateKey(), vault.put('c', '2'), vault.rotateKey(), vault.delete('a')]);
      for (const name of earlierKeys()) rmSync(join(home, name));
      expect(await vaultWith().names('')).to.deep.equal(['b', 'c']);
    });

    it('of SVC_VAULT_KEY takes the new key from the operator: the earlier one opens the file until it is sealed anew', async () => {
      await vaultWith(KEY).put('a', SECRET);
      expect(await codeOf(vaultWith(KEY).rotateKey())).to.equal('vault_key_in_environment');
      expect(await vaultWith(NEW_KEY).status()).to.include({ state: 'locked' });
      const both = vaultWith(NEW_KEY, { previous: KEY });
      expect(await both.resolve('a')).to.equal(SECRET);
      expect(await vaultWith(KEY).resolve('a'), 'reading changes nothing').to.equal(SECRET);
      expect(await both.rotateKey()).to.deep.equal({ secrets: 1, earlierKey: null });
      expect(await vaultWith(NEW_KEY).resolve('a')).to.equal(SECRET);
      expect(await vaultWith(KEY).status()).to.include({ state: 'locked' });
      expect(readdirSync(home)).to.deep.equal(['vault.enc']);
    });

    it('refuses where nothing is stored, where the vault is off, and where it does not open', async () => {
      expect(await codeOf(vaultWith().rotateKey())).to.equal('vault_nothing_to_rotate');
      expect(await codeOf(vaultWith(KEY, { enabled: false }).rotateKey())).to.equal('vault_disabled');
      await vaultWith(KEY).put('a', SECRET);
      expect(await codeOf(vaultWith(NEW_KEY).rotateKey())).to.equal('vault_locked');
      expect(await vaultWith(KEY).resolve('a')).to.equal(SECRET);
    });
  });

  it('overwrites secrets and keys that it gives up, and says so to the security report; also what is wrong with it', async () => {
    const look = (vault: Vault, enabled = true) => lookAtWiping(vault, enabled, (count) => systemIds().bytes(count));
    const vault = vaultWith(KEY);
    await vault.put('a', SECRET);
    expect(await look(vault)).to.deep.equal({ state: 'active', detail: 'A secret and its key were sealed with AES-256-GCM, opened, and overwritten in memory. The vault holds 1 secret.' });
    expect((await look(vaultWith(Buffer.alloc(32, 8).toString('base64')))).state).to.equal('degraded');
    expect((await look(vault, false)).state).to.equal('inactive');
  });
});
