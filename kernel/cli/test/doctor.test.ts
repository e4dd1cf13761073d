/** `svc doctor` beside a daemon and without one: the same findings as /api/health/detail and `svc status`. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTextTable } from '@svc/api';
import { expect } from 'chai';
import { checkOfNode } from '../src/doctor/machine-checks.js';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench } from './program.js';

interface Check {
  readonly check: string;
  readonly status: string;
  readonly summary: string;
  readonly hint?: string;
}

describe('svc doctor', function () {
  this.timeout(60_000);
  let bench: Bench;
  beforeEach(async () => {
    bench = createBench(await freePort());
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
  });
  afterEach(async () => {
    await bench.stopStarted();
    bench.clean();
  });

  it('recommends Node 24, warns about Node 20, and fails for what svc does not run on', () => {
    for (const [version, status] of [
      ['24.21.0', 'pass'],
      ['22.12.0', 'pass'],
      ['22.11.0', 'fail'],
      ['20.19.5', 'warn'],
      ['20.18.0', 'fail'],
      ['18.20.0', 'fail'],
    ] as const)
      expect(checkOfNode(version).status, version).to.equal(status);
    expect(checkOfNode('20.19.5')).to.include({ summary: '20.19.5 works, and gets no security fixes since April 2026', hint: 'install Node 24' });
  });

  const write = (text: string): void => writeFileSync(path.join(bench.home, 'config.toml'), text, { mode: 0o600 });
  const doctor = async (env: Record<string, string> = {}) => {
    const ran = await bench.run(['doctor', '--json'], Object.keys(env).length === 0 ? {} : { env });
    const { all_ok, checks } = JSON.parse(ran.stdout) as { all_ok: boolean; checks: Check[] };
    return { code: ran.code, all_ok, checks, of: (name: string) => checks.find(({ check }) => check === name) };
  };
  const health = async (): Promise<{
    status: string;
    problems: Array<{ check: string; message: string; fix?: string }>;
    doctor: Array<{ check: string; result: string; message: string; fix?: string }>;
  }> => JSON.parse(await (await fetch(`http://127.0.0.1:${bench.env.SVC_PORT}/api/health/detail`)).text());

  it('says of the settings the same before the start, beside the daemon, in health/detail and in status', async () => {
    write('[log]\nlevel = "wran"\n[api]\nlisten_adr = "x"\n');
    const before = await doctor();
    await bench.run(['start']);
    const beside = await doctor();
    const detail = await health();
    const status = await bench.run(['status']);

    expect([before.code, beside.code, detail.status, status.code]).to.deep.equal([1, 1, 'degraded', 5]);
    for (const name of ['ConfigTomlSchemaCheck', 'config_file', 'home', 'PrivateFilesCheck', 'env_file', 'env_consistency']) expect(beside.of(name), name).to.deep.equal(before.of(name));
    expect(beside.of('ConfigTomlSchemaCheck')).to.deep.include({ status: 'fail', summary: detail.problems[0]?.message, hint: detail.problems[0]?.fix });
    for (const words of ['config.toml:2', 'config.toml:4', 'listen_addr']) expect(`${detail.problems[0]?.message}|${status.stdout}`).to.contain(words);
    // How much of the disk is free changes between two looks.
    for (const finding of detail.doctor.filter(({ check }) => check !== 'disk_space')) expect(beside.of(finding.check), finding.check).to.include({ status: finding.result, summary: finding.message });

    write('[log]\nlevel = "warn"\n');
    await bench.run(['config', 'reload']);
    while ((await bench.run(['status'])).code !== 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await health()).status).to.equal('ok');
    expect((await doctor()).all_ok).to.equal(true);

    // A key that stands in the vault, where no environment shows it.
    const stored = await fetch(`http://127.0.0.1:${bench.env.SVC_PORT}/api/providers/groq/key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: 'gsk_of_nobody_at_all' }),
    });
    expect(stored.status, await stored.text()).to.equal(200);
    expect((await doctor()).of('provider_keys')).to.deep.include({ status: 'pass', summary: 'the daemon has keys of groq' });
  });

  const validated: ReadonlyArray<readonly [check: string, result: string, spoil: () => unknown, fix: () => void]> = [
    ['env_file', 'warn', () => writeFileSync(path.join(bench.home, '.env'), 'X=1\n'), () => rmSync(path.join(bench.home, '.env'))],
    ['env_consistency', 'warn', () => write('[default_model]\napi_key_env = "NOT_SET_AT_ALL"\n'), () => write('')],
    ['config_file', 'fail', () => write('[log\n'), () => write('')],
    ['config_file', 'fail', () => mkdirSync(path.join(bench.home, 'config.toml')), () => rmSync(path.join(bench.home, 'config.toml'), { recursive: true })],
    ['ConfigTomlSchemaCheck', 'fail', () => write('[log]\nlevl = 1\n'), () => write('')],
    ['ConfigTomlSchemaCheck', 'fail', () => ({ SVC__LOG__LEVEL: 'loud' }), () => undefined],
    ['ApiListenAddrCheck', 'fail', () => ({ SVC_LISTEN: '0.0.0.0:4600' }), () => undefined],
    ['ApiListenAddrCheck', 'warn', () => ({ SVC_PORT: '80' }), () => undefined],
    ['ApiKeyStorageCheck', 'warn', () => write('api_key = "as-it-is-and-long"\n'), () => undefined],
    ['PrivateFilesCheck', 'warn', () => chmodSync(bench.home, 0o755), () => chmodSync(bench.home, 0o700)],
    ['stale_daemon_json', 'warn', () => writeFileSync(path.join(bench.home, 'daemon.json'), '{"pid": 4194304, "url": "http://127.0.0.1:1"}'), () => rmSync(path.join(bench.home, 'daemon.json'))],
    ['provider_keys', 'warn', () => undefined, () => undefined],
    ['VaultKeyCheck', 'fail', () => ({ SVC_VAULT_KEY: 'c2hvcnQ=' }), () => undefined],
    ['git', 'warn', () => ({ PATH: '/nonexistent' }), () => undefined],
    ['npm', 'warn', () => ({ PATH: '/nonexistent' }), () => undefined],
  ];
  for (const [check, result, spoil, fix] of validated) {
    it(`without a daemon has ${check} say ${result}, with what fixes it, and be content afterwards`, async () => {
      const made = spoil();
      const env = isTextTable(made) ? made : {};
      const ill = (await doctor(env)).of(check);
      expect([ill?.status, typeof ill?.hint], JSON.stringify(ill)).to.deep.equal([result, 'string']);
      fix();
      if (check === 'ApiKeyStorageCheck') {
        await bench.run(['key', 'hash', '--write']);
        expect((await doctor()).of(check)).to.equal(undefined);
      } else expect((await doctor(check === 'provider_keys' ? { GROQ_API_KEY: 'gsk_x' } : {})).of(check)?.status).to.equal('pass');
    });
  }
});
