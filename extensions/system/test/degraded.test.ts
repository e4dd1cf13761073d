/** Health, status and doctor look once and say the same: what fails, and what fixes it. */
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DoctorCheck, HealthProbe } from '@svc/api';
import { bootTestKernel, fixtureExtension, mountSmall, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

interface Finding {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly fix?: string;
}

describe('what is wrong with the daemon', function () {
  this.timeout(30_000);
  afterEach(stopTestKernels);

  const look = async ({ http }: TestKernel) => {
    const detail = (await http.expect(200, 'GET', '/api/health/detail')).body as { status: string; problems: Finding[]; doctor: Finding[] };
    const status = (await http.expect(200, 'GET', '/api/status')).body as { problems: Finding[]; config_problems: unknown[]; health_problems: string[] };
    return { detail, status, of: (check: string) => detail.doctor.find((finding) => finding.check === check) };
  };
  /** Named alike by both, with what fixes it, and the daemon is degraded for it. */
  const expectFails = async (kernel: TestKernel, check: string, words: RegExp): Promise<void> => {
    const { detail, status, of } = await look(kernel);
    expect(of(check)?.result, JSON.stringify(of(check))).to.equal('fail');
    expect(of(check)?.message).to.match(words);
    expect(of(check)?.fix, `${check} says what mends it`).to.be.a('string');
    expect([detail.status, detail.problems]).to.deep.equal(['degraded', status.problems]);
    expect(detail.problems.map((problem) => problem.check)).to.include(check);
    expect(status.config_problems.length + status.health_problems.length).to.be.greaterThan(0);
  };
  const expectWarns = async (kernel: TestKernel, check: string, words: RegExp): Promise<void> => {
    const { detail, of } = await look(kernel);
    expect(of(check)).to.include({ result: 'warn' });
    expect(of(check)?.message).to.match(words);
    expect(of(check)?.fix).to.be.a('string');
    expect(detail.problems.map((problem) => problem.check)).not.to.include(check);
  };
  const expectPasses = async (kernel: TestKernel, ...checks: string[]): Promise<void> => {
    const { of } = await look(kernel);
    for (const check of checks) expect(of(check)?.result, JSON.stringify(of(check) ?? check)).to.equal('pass');
  };
  const write = (kernel: TestKernel, text: string): Promise<void> => writeFile(join(kernel.home, 'config.toml'), text);
  const reload = (kernel: TestKernel) => kernel.http.post('/api/config/reload');

  it('is nothing in a fresh home', async () => {
    const kernel = await bootTestKernel();
    const { detail, status, of } = await look(kernel);
    expect([detail.status, detail.problems, status.problems, status.config_problems, status.health_problems]).to.deep.equal(['ok', [], [], [], []]);
    for (const check of [
      'home',
      'config_file',
      'ConfigTomlSchemaCheck',
      'ApiListenAddrCheck',
      'PrivateFilesCheck',
      'env_file',
      'disk_space',
      'env_consistency',
      'database',
      'DatabaseIdentityCheck',
      'ErasureCheck',
      'ExtensionsCheck',
      'VaultKeyCheck',
      'providers.default',
    ])
      expect(of(check)?.result, check).to.be.oneOf(['pass', 'warn']);
  });

  it('is the settings while they name what nobody reads, and nothing once that is fixed', async () => {
    const kernel = await bootTestKernel();
    for (const [text, words] of [
      [`${OPEN_RATE}[log]\nlevl = "warn"\n`, /config\.toml:7: \[log\] levl is not a setting\. Did you mean "level"/],
      [`${OPEN_RATE}[log]\nlevel = 5\n`, /config\.toml:7: \[log\] level must be one of/],
      [`${OPEN_RATE}[runs]\nmax_active = 0\n`, /from 1 to 100000, got 0/],
      [`${OPEN_RATE}[privacy]\nmode = "redact"\n`, /NOT enforced/],
    ] as const) {
      await write(kernel, text);
      await reload(kernel);
      await expectFails(kernel, 'ConfigTomlSchemaCheck', words);
    }
    await write(kernel, OPEN_RATE);
    await reload(kernel);
    await expectPasses(kernel, 'ConfigTomlSchemaCheck', 'config_file');
    expect((await look(kernel)).detail.status).to.equal('ok');
  });

  it('is config.toml while it is no TOML', async () => {
    const kernel = await bootTestKernel();
    await write(kernel, '[log\n');
    await reload(kernel);
    await expectFails(kernel, 'config_file', /config\.toml:1: not valid TOML/);
    await write(kernel, OPEN_RATE);
    await reload(kernel);
    await expectPasses(kernel, 'config_file');
  });

  it('is a home that others enter, and a key in it that they read', async () => {
    const kernel = await bootTestKernel();
    await write(kernel, `${OPEN_RATE}[storage]\n# url = ""\n`);
    await chmod(kernel.home, 0o755);
    await expectWarns(kernel, 'PrivateFilesCheck', /can be entered by other users/);
    await write(kernel, `${OPEN_RATE}my_api_key = "abc"\n`);
    await chmod(join(kernel.home, 'config.toml'), 0o644);
    await expectFails(kernel, 'PrivateFilesCheck', /holds a key and can be read/);
    await chmod(kernel.home, 0o700);
    await expectPasses(kernel, 'PrivateFilesCheck');
  });

  it('may be a .env that nobody reads', async () => {
    const kernel = await bootTestKernel();
    await writeFile(join(kernel.home, '.env'), 'GROQ_API_KEY=x\n', { mode: 0o644 });
    await expectWarns(kernel, 'env_file', /is not read by the daemon\. Other users of this machine can read it/);
    await chmod(join(kernel.home, '.env'), 0o600);
    expect((await look(kernel)).of('env_file')?.message).not.to.contain('Other users');
    await rm(join(kernel.home, '.env'));
    await expectPasses(kernel, 'env_file');
  });

  it('may be a variable that the settings name and nobody set', async () => {
    const config = `${OPEN_RATE}[default_model]\nprovider = "builtin"\napi_key_env = "MY_OWN_KEY"\n[[fallback_providers]]\nprovider = "x"\napi_key_env = "MY_OTHER_KEY"\n`;
    const kernel = await bootTestKernel({ config });
    await expectWarns(kernel, 'env_consistency', /default_model\.api_key_env names MY_OWN_KEY; fallback_providers\.0\.api_key_env names MY_OTHER_KEY/);
    await kernel.stop();
    await expectPasses(await bootTestKernel({ config, env: { MY_OWN_KEY: 'one-key-of-mine', MY_OTHER_KEY: 'other-key-of-mine' } }), 'env_consistency');
  });

  it('may be a disk with little room', async function () {
    const disk = await mountSmall();
    if (!disk) return this.skip();
    try {
      await expectWarns(await bootTestKernel({ home: disk.dir, config: OPEN_RATE }), 'disk_space', /^\d MB are free/);
    } finally {
      await stopTestKernels();
      await disk.unmount();
    }
    await expectPasses(await bootTestKernel(), 'disk_space');
  });

  it('is an extension that failed, until it is off', async () => {
    const ill = fixtureExtension({
      id: 'ill',
      definition: {
        activate: () => {
          throw new Error('its table is gone');
        },
      },
    });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["ill"]\n`, extra: [ill] });
    await expectFails(kernel, 'ExtensionsCheck', /ill is failed: .*its table is gone/);
    await kernel.http.expect(200, 'POST', '/api/extensions/ill/disable?confirm=true');
    await expectPasses(kernel, 'ExtensionsCheck');
  });

  it('is a database that does not answer, said without an address of it', async () => {
    const kernel = await bootTestKernel();
    const { storage } = kernel.daemon.parts;
    const { ping } = storage;
    Object.assign(storage, { ping: () => Promise.reject(new Error('postgres://me:hunter2@db')) });
    try {
      const finding = (await look(kernel)).of('database');
      expect(finding).to.include({ result: 'fail' });
      expect(JSON.stringify(finding)).not.to.contain('hunter2');
    } finally {
      Object.assign(storage, { ping });
    }
    await expectPasses(kernel, 'database');
  });

  it('is what an area says by its probe alone, once, and what it says by a finding, once', async () => {
    let state: 'ok' | 'error' = 'error';
    const area = (id: string, withFinding: boolean) =>
      fixtureExtension({
        id,
        manifest: { hooks: [{ name: 'health.probe' }, ...(withFinding ? [{ name: 'doctor.check' }] : [])] },
        definition: {
          activate: (ctx) => {
            ctx.hooks.tap(HealthProbe, () => ({ name: id, status: state, detail: 'the pump stands still' }));
            if (withFinding) ctx.hooks.tap(DoctorCheck, () => [{ check: `${id}.pump`, result: state === 'ok' ? 'pass' : 'fail', message: 'The pump stands still.', fix: 'kick it' }]);
          },
        },
      });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["mute", "loud"]\n`, extra: [area('mute', false), area('loud', true)] });

    const ill = await look(kernel);
    expect(ill.detail.problems.map(({ check }) => check).sort()).to.deep.equal(['loud.pump', 'mute']);
    expect(ill.status.health_problems).to.include('loud.pump: The pump stands still. Fix: kick it');
    state = 'ok';
    expect((await look(kernel)).detail).to.deep.include({ status: 'ok', problems: [] });
  });
});
