import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { type Config, createConfig } from '../../src/config/config.js';
import type { ConfigGuard } from '../../src/config/config-guard.js';
import type { SectionClaims } from '../../src/config/kernel-sections.js';
import { hashOfKey } from '../../src/config/file/stored-secrets.js';
import { createLog } from '../../src/log/log.js';

const secret = { default: '', 'x-secret': true };
const claims: SectionClaims = {
  '/api_key': { owner: 'auth', schema: Type.String({ ...secret, 'x-hash-serves': true, 'x-security': true }) },
  mail: {
    owner: 'mail',
    schema: Type.Object({
      host: Type.String({ default: 'localhost' }),
      login: Type.Object({ name: Type.String({ default: '' }), password: Type.String(secret) }),
      tokens: Type.Array(Type.Object({ of: Type.String(), token: Type.String(secret) }), { default: [] }),
    }),
  },
};
const KEY = 'correct-horse-battery';
const PASSWORD = 'hunter2hunter2';
const TOKEN = 'tok-1234567890';
const TEXT = `api_key = "${KEY}"\n[mail]\nhost = "a.test"\n[mail.login]\nname = "me"\npassword = "${PASSWORD}"\n[[mail.tokens]]\nof = "x"\ntoken = "${TOKEN}"\n`;

describe('secrets among the settings', () => {
  let home: string;
  let file: string;
  let kept: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-config-'));
    file = join(home, 'config.toml');
    kept = join(home, 'data/config-last-good.json');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const log = createLog({ dir: null, level: 'info', clock: systemClock(), terminal: false });
  const load = async (text: string | null, options: { env?: Record<string, string>; guard?: ConfigGuard } = {}): Promise<Config> => {
    if (text !== null) await writeFile(file, text);
    const config = createConfig({ file, env: options.env ?? {}, log, sections: () => claims, ...(options.guard ? { guard: options.guard } : {}) });
    await config.load();
    return config;
  };
  const mail = { host: 'a.test', login: { name: 'me', password: PASSWORD }, tokens: [{ of: 'x', token: TOKEN }] };

  it('stand in no file that the daemon writes by itself; of a key its hash does', async () => {
    await load(TEXT);
    const stored = await readFile(kept, 'utf8');
    for (const value of [KEY, PASSWORD, TOKEN]) expect(stored).to.not.contain(value);
    expect(stored).to.contain(hashOfKey(KEY)).and.contain('a.test');
    expect((await stat(kept)).mode & 0o777).to.equal(0o600);
  });

  it('are whole again at a start with an unchanged file, and hidden from the log', async () => {
    await load(TEXT);
    const again = await load(null);
    expect(again.get('/api_key')).to.equal(KEY);
    expect(again.get('mail')).to.deep.equal(mail);
    expect(log.scrub(`it was ${PASSWORD}`)).to.not.contain(PASSWORD);
    await again.reload();
    expect(again.get('mail')).to.deep.equal(mail);
  });

  it('leave the rest of their section good when the file is broken at the next start, and the key as its hash', async () => {
    await load(TEXT);
    const broken = await load(`${TEXT}oops\n`);
    expect(broken.get('/api_key')).to.equal(hashOfKey(KEY));
    expect(broken.get('mail')).to.deep.include({ host: 'a.test', login: { name: 'me', password: '' } });
    expect(broken.closed()).to.not.include('/api_key');
  });

  it('are kept in this process when the file breaks under it', async () => {
    const config = await load(TEXT);
    await writeFile(file, 'oops');
    expect((await config.reload()).changed).to.deep.equal([]);
    expect(config.get('mail')).to.deep.equal(mail);
  });

  it('that an older program wrote down are gone after one start', async () => {
    await mkdir(join(home, 'data'));
    await writeFile(kept, JSON.stringify({ version: 1, digest: 'x', values: { '/api_key': KEY, mail } }));
    await load('[mail]\nhots = "typo"\n');
    expect(await readFile(kept, 'utf8'))
      .to.not.contain(KEY)
      .and.not.contain(PASSWORD);
    await writeFile(kept, JSON.stringify({ version: 1, digest: 'x', values: { '/api_key': KEY } }));
    await rm(file);
    await load(null);
    expect(await readFile(kept, 'utf8')).to.not.contain(KEY);
  });

  it('in a blank variable are unset: the file’s value holds', async () => {
    const config = await load(TEXT, { env: { SVC__API_KEY: ' ', SVC__MAIL__HOST: '', SVC__MAIL: '' } });
    expect(config.get('/api_key')).to.equal(KEY);
    expect(config.get('mail')).to.deep.equal(mail);
    expect(config.problems()).to.deep.equal([]);
  });

  describe('that a guard watches', () => {
    const guard: ConfigGuard = { sections: ['/api_key'], refuses: (get) => get('/api_key') === '', problem: () => ({ key: 'api_key', message: 'the last key stays', expected: 'a key' }) };
    const held = async (config: Config, value: string): Promise<void> => {
      expect(config.get('/api_key')).to.equal(value);
      expect(config.problems().map((problem) => problem.message)).to.include('the last key stays');
    };

    it('stay in force over a reload, an unchanged reload and a restart when they are taken out, and go when another comes', async () => {
      const config = await load(TEXT, { guard });
      await writeFile(file, '[mail]\nhost = "b.test"\n');
      await config.reload();
      await held(config, KEY);
      expect(config.get('mail')).to.deep.include({ host: 'b.test' });
      await config.reload();
      await held(config, KEY);
      const restarted = await load(null, { guard });
      await held(restarted, hashOfKey(KEY));
      await writeFile(file, 'api_key = "another-key"\n');
      await restarted.reload();
      expect([restarted.get('/api_key'), restarted.problems()]).to.deep.equal(['another-key', []]);
    });

    for (const [what, change] of [
      ['an empty file', () => writeFile(file, '')],
      ['no file', () => rm(file)],
      ['a blank value', () => writeFile(file, 'api_key = ""\n')],
    ] as const)
      it(`stay in force with ${what}, also at the next start`, async () => {
        const config = await load(TEXT, { guard });
        await change();
        await config.reload();
        await held(config, KEY);
        await held(await load(null, { guard }), hashOfKey(KEY));
      });

    it('are forgotten by a start to which the guard does not object', async () => {
      await load(TEXT, { guard });
      await rm(file);
      await load(null);
      expect((await load(null, { guard })).get('/api_key')).to.equal(hashOfKey(KEY), 'no guard, no file: nobody has said that it is not wanted');
      await load(null, { guard: { ...guard, refuses: () => false } });
      expect((await load(null, { guard })).get('/api_key')).to.equal('');
    });
  });
});
