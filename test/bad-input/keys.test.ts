/** Whether there is a key, and which: one answer everywhere, and none that opens access by accident. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const OPEN_ADDRESS = { SVC_LISTEN: '0.0.0.0:4545' };
const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const person = (key: string): string => `[[users]]\nname = "alice"\nrole = "owner"\napi_key_hash = "${hash(key)}"\n`;

describe('the key', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-keys-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const config = (text: string): Promise<void> => writeFile(join(home, 'config.toml'), text);
  const statusOf = async (kernel: TestKernel, key?: string): Promise<number> => (await new TestHttp(`http://127.0.0.1:${kernel.daemon.port}`, key).get('/api/agents')).status;
  const expectKey = async (kernel: TestKernel, key: string, what: string): Promise<void> => {
    expect(await statusOf(kernel), `${what}: without a key`).to.equal(401);
    expect(await statusOf(kernel, 'wrong'), `${what}: with a wrong key`).to.equal(401);
    expect(await statusOf(kernel, key), `${what}: with the key`).to.equal(200);
  };

  for (const blank of ['', ' ', '\t\n'])
    it(`that stands in config.toml is asked for while SVC_API_KEY is ${JSON.stringify(blank)}, on an open address too`, async () => {
      for (const env of [{}, OPEN_ADDRESS]) {
        const kernel = await bootTestKernel({ home, config: `api_key = "from-the-file"\n${OPEN_RATE}`, env: { ...env, SVC_API_KEY: blank, SVC__API_KEY: blank, SVC__API_KEY_HASH: blank } });
        await expectKey(kernel, 'from-the-file', JSON.stringify(env));
        await kernel.stop();
      }
    });

  for (const [what, text] of [
    ['an empty key', 'api_key = ""\n'],
    ['a blank key', 'api_key = "  "\napi_key_hash = " "\n'],
    ['no people', 'users = []\n'],
  ] as const)
    it(`is not there with ${what}: an open address is refused, the machine itself may call`, async () => {
      const refused = await bootTestKernel({ home, config: text, env: { ...OPEN_ADDRESS, SVC_API_KEY: ' ' } }).catch((error: unknown) => error);
      expect(refused).to.include({ code: 'daemon_open_to_network' });
      const kernel = await bootTestKernel({ home, config: text, env: { SVC_API_KEY: ' ' } });
      expect(await statusOf(kernel)).to.equal(200);
      // The rule of foreign hosts sees it the same way.
      expect((await kernel.http.get('/api/agents', { origin: 'https://evil.example' })).status).to.equal(403);
    });

  it('counts without the blanks around it', async () => {
    const kernel = await bootTestKernel({ home, config: OPEN_RATE, env: { SVC_API_KEY: ' padded-key\n' } });
    await expectKey(kernel, 'padded-key', 'padded');
  });

  it('may stand anywhere as its hash, which opens nothing itself', async () => {
    const kernel = await bootTestKernel({ home, config: `api_key = "${hash('k').toUpperCase().replace('SHA256', 'sha256')}"\n${OPEN_RATE}` });
    await expectKey(kernel, 'k', 'hash');
    expect(await statusOf(kernel, hash('k'))).to.equal(401);
  });

  describe('that is taken away on an open address', () => {
    const sources: ReadonlyArray<readonly [string, string, string]> = [
      ['api_key', 'api_key = "first-key"\n', 'first-key'],
      ['api_key_hash', `api_key_hash = "${hash('first-key')}"\n`, 'first-key'],
      ['the last person', person('first-key'), 'first-key'],
    ];
    const losses: ReadonlyArray<readonly [string, () => Promise<void>]> = [
      ['its line removed', () => config(OPEN_RATE)],
      ['the file emptied', () => config('')],
      ['the file gone', () => rm(join(home, 'config.toml'))],
      ['the file broken', () => config('api_key = \n[[')],
      ['its value blank', () => config('api_key = " "\napi_key_hash = ""\nusers = []\n')],
    ];
    for (const [source, text, key] of sources)
      it(`stays in force, ${source}: ${losses.map(([loss]) => loss).join(', ')}; also after a restart`, async () => {
        let kernel = await bootTestKernel({ home, config: `${text}${OPEN_RATE}`, env: OPEN_ADDRESS });
        for (const [loss, lose] of losses) {
          await config(`${text}${OPEN_RATE}`);
          await kernel.daemon.reloadConfig();
          expect(kernel.daemon.kernel.configProblems(), `before ${loss}`).to.deep.equal([]);
          await lose();
          await kernel.daemon.reloadConfig();
          await expectKey(kernel, key, `${loss}, after the reload`);
          await kernel.daemon.reloadConfig();
          await expectKey(kernel, key, `${loss}, after another`);
          await kernel.stop();
          kernel = await bootTestKernel({ home, env: OPEN_ADDRESS });
          await expectKey(kernel, key, `${loss}, after the restart`);
        }
      });

    it('is reported by status, health and doctor, and in the log', async () => {
      const kernel = await bootTestKernel({ home, config: `api_key = "first-key"\n${OPEN_RATE}`, env: OPEN_ADDRESS });
      await config(OPEN_RATE);
      await kernel.daemon.reloadConfig();
      const asked = new TestHttp(`http://127.0.0.1:${kernel.daemon.port}`, 'first-key');
      const says = /No API key is set now.*0\.0\.0\.0.*the last key stays valid/;
      expect((await asked.expect(200, 'GET', '/api/status')).body.config_problems[0].message).to.match(says);
      const { body } = await asked.expect(200, 'GET', '/api/health/detail');
      expect(body.config_warnings[0]).to.match(says);
      expect(body.doctor.find((one: { check: string }) => one.check === 'ConfigTomlSchemaCheck')).to.include({ result: 'fail' });
      expect(kernel.daemon.log.recent(200).some((line) => line.level === 'warn' && says.test(line.message))).to.equal(true);
      await config(`api_key = "second-key"\n${OPEN_RATE}`);
      await kernel.daemon.reloadConfig();
      await expectKey(kernel, 'second-key', 'replaced');
      expect(await statusOf(kernel, 'first-key')).to.equal(401);
      expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
    });

    it('is forgotten by a start on an address of this machine only', async () => {
      const kernel = await bootTestKernel({ home, config: `api_key = "first-key"\n${OPEN_RATE}`, env: OPEN_ADDRESS });
      // The address in the file counts from the next start on: what is open now stays shut.
      await config(`${OPEN_RATE.replace('[api]', '[api]\nlisten_addr = "127.0.0.1:4545"')}`);
      await kernel.daemon.reloadConfig();
      await expectKey(kernel, 'first-key', 'still open');
      await kernel.stop();
      const local = await bootTestKernel({ home });
      expect(await statusOf(local)).to.equal(200);
      await local.stop();
      expect(await bootTestKernel({ home, env: OPEN_ADDRESS }).catch((error: unknown) => error)).to.include({ code: 'daemon_open_to_network' });
    });

    it('gives way to fewer keys: one of two that is revoked is revoked', async () => {
      const kernel = await bootTestKernel({ home, config: `api_key = "first-key"\n${OPEN_RATE}${person('alice-key')}`, env: OPEN_ADDRESS });
      await config(`${OPEN_RATE}${person('alice-key')}`);
      await kernel.daemon.reloadConfig();
      await expectKey(kernel, 'alice-key', 'alice');
      expect(await statusOf(kernel, 'first-key')).to.equal(401);
    });
  });

  it('is dropped at once on an address of this machine when its line goes', async () => {
    const kernel = await bootTestKernel({ home, config: `api_key = "first-key"\n${OPEN_RATE}` });
    await config(OPEN_RATE);
    await kernel.daemon.reloadConfig();
    expect(await statusOf(kernel)).to.equal(200);
    expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
  });

  it('stands in none of the daemon’s own files, and opens as before at the next start', async () => {
    const first = await bootTestKernel({ home, config: `api_key = "a-key-to-look-for"\n${OPEN_RATE}` });
    await first.stop();
    expect(await readFile(join(home, 'data', 'config-last-good.json'), 'utf8'))
      .to.contain(hash('a-key-to-look-for'))
      .and.not.contain('a-key-to-look-for');
    const again = await bootTestKernel({ home });
    await expectKey(again, 'a-key-to-look-for', 'again');
  });

  it('in config.toml as it is brings a hint to store its hash, in doctor and in the greeting', async () => {
    const kernel = await bootTestKernel({ home, config: `api_key = "plain"\n${OPEN_RATE}`, key: 'plain' });
    const stored = async (): Promise<Record<string, string> | undefined> =>
      (await kernel.http.expect(200, 'GET', '/api/health/detail')).body.doctor.find((one: { check: string }) => one.check === 'ApiKeyStorageCheck');
    expect(await stored()).to.include({ result: 'warn', fix: 'svc key hash --write' });
    expect((await kernel.daemon.greeting()).map((line) => line.note)).to.include('svc key hash --write');
    await config(`api_key_hash = "${hash('plain')}"\n${OPEN_RATE}`);
    await kernel.daemon.reloadConfig();
    expect(await stored()).to.equal(undefined);
  });
});
