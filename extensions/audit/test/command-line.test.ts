/** What the command line does while no daemon runs is in the trail after the next start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeLocally } from '@svc/daemon/offline/local-choices';
import { type LocalInstall, withLocalInstaller } from '@svc/daemon/offline/local-installer';
import { until } from '@svc/test/clients/model-kernel';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'owner-key-of-the-command-line';
const CONFIG = `api_key = "${KEY}"\n${OPEN_RATE}`;

describe('the command line without a daemon, in the audit trail', () => {
  let home: string;
  const env = () => ({ SVC_HOME: home, HOME: home });
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-audit-offline-'));
    await writeFile(join(home, 'config.toml'), CONFIG, { mode: 0o600 });
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const change = (id: string, action: 'enable' | 'disable') => changeLocally({ env: env(), releaseFile: releaseFile(), id, action, isBeside: false, agrees: async () => true });
  const local = (act: LocalInstall['act'], work: () => Promise<string>) => withLocalInstaller({ env: env(), releaseFile: releaseFile(), act }, work, (name) => ({ name }));
  const install = (work: () => Promise<string>) => local({ type: 'extension_installed', command: 'svc ext install' }, work);
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  /** Type, command, extension and outcome of what the command line did, oldest first. */
  const entered = async ({ http }: TestKernel, count: number): Promise<unknown[]> => {
    let found: unknown[] = [];
    await until(async () => {
      const entries: ReadonlyArray<{ event_type: string; outcome: string; details: string }> = (await http.expect(200, 'GET', '/api/audit/recent?limit=100')).body.entries;
      found = entries.flatMap(({ event_type: type, outcome, details }) => {
        const { command, name } = JSON.parse(details) as { command?: string; name?: string };
        return command === undefined ? [] : [[type, command, name, outcome]];
      });
      return found.length >= count;
    });
    return found.reverse();
  };

  it('is a switched area, an install and one that failed, and nothing that was only looked at', async () => {
    await change('goals', 'disable');
    await install(async () => 'reading-list');
    await codeOf(
      install(async () => {
        throw new Error('the archive is damaged');
      }),
    );
    await local(undefined, async () => 'nothing');

    expect(await entered(await bootTestKernel({ home, config: CONFIG, key: KEY }), 5)).to.deep.equal([
      ['extension_disabled', 'svc ext disable', 'goals', 'ok'],
      ['extension_installed', 'svc ext install', undefined, 'requested'],
      ['extension_installed', 'svc ext install', 'reading-list', 'ok'],
      ['extension_installed', 'svc ext install', undefined, 'requested'],
      ['extension_installed', 'svc ext install', undefined, 'failed'],
    ]);
  });

  it('has the acts that switch the trail itself off and on, and nothing between them', async () => {
    await change('audit', 'disable');
    await install(async () => 'while it is off');
    await change('audit', 'enable');

    expect(await entered(await bootTestKernel({ home, config: CONFIG, key: KEY }), 2)).to.deep.equal([
      ['extension_disabled', 'svc ext disable', 'audit', 'ok'],
      ['extension_enabled', 'svc ext enable', 'audit', 'ok'],
    ]);
  });

  it('refuses an install that cannot be entered, and does one of which no entry is required', async () => {
    const unreachable = '[storage]\nurl = "postgres://127.0.0.1:1/none"\n';
    await writeFile(join(home, 'config.toml'), `${CONFIG}${unreachable}`, { mode: 0o600 });
    let isDone = false;
    const work = async (): Promise<string> => {
      isDone = true;
      return 'reading-list';
    };
    expect([await codeOf(install(work)), isDone]).to.deep.equal(['daemon_audit_unavailable', false]);
    await writeFile(join(home, 'config.toml'), `${CONFIG}${unreachable}[audit]\nrequired = ["logins"]\n`, { mode: 0o600 });
    expect([await install(work), isDone]).to.deep.equal(['reading-list', true]);
  });
});
