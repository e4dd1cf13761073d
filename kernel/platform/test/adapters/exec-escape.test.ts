/** Children that leave their process group: they end with their call all the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecOptions, ExecResult } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { createChildRegister } from '../../src/adapters/child/child-register.js';
import { createChildTree, ownCgroup } from '../../src/adapters/child/child-tree.js';
import { createExecAdapter, type ExecAdapter } from '../../src/adapters/child/exec-adapter.js';
import { bootId, startTimeOf } from '../../src/adapters/child/process-identity.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();
const log = createLog({ dir: null, level: 'error', clock, terminal: false });

/** Each writes its process id to the file `pid` and lives for a minute. */
const ESCAPES: Readonly<Record<string, string>> = {
  setsid: "setsid sh -c 'echo $$ > pid; exec sleep 60' &",
  'nohup and setsid': "nohup setsid sh -c 'echo $$ > pid; exec sleep 60' > /dev/null 2>&1 &",
  'a double fork': "( ( setsid sh -c 'echo $$ > pid; exec sleep 60' ) & ) &",
};

describe('adapters: exec, children that leave their group', function () {
  this.timeout(20_000);
  let home: string;
  let adapters: ExecAdapter[];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-escape-'));
    adapters = [];
  });
  afterEach(async () => {
    await Promise.all(adapters.map((adapter) => adapter.close()));
    await rm(home, { recursive: true, force: true });
  });

  type Ground = () => Promise<string | undefined>;
  const open = (cgroupOf: Ground): ExecAdapter => {
    const adapter = createExecAdapter({ config: { get: () => ({ mode: 'full' }) }, registerDir: join(home, 'children'), env: { PATH: process.env.PATH }, clock, log: log.logger('exec'), cgroupOf });
    adapters.push(adapter);
    return adapter;
  };
  const sh = (adapter: ExecAdapter, script: string, options: Partial<ExecOptions> = {}): Promise<ExecResult> => adapter.exec('sh', ['-c', script], { cwd: home, ...options });
  const isAlive = async (pid: number): Promise<boolean> => (await startTimeOf(pid)) !== undefined;
  const escaped = async (): Promise<number> => {
    const read = async (): Promise<number> => Number(await readFile(join(home, 'pid'), 'utf8').catch(() => ''));
    while (!((await read()) > 0)) await clock.sleep(5);
    return read();
  };
  const UNTIL_BORN = 'while [ ! -s pid ]; do sleep 0.02; done;';

  const grounds: ReadonlyArray<readonly [string, Ground]> = [
    ['by their mark', async () => undefined],
    ['by their cgroup', ownCgroup],
  ];
  for (const [how, cgroupOf] of grounds) {
    describe(how, () => {
      before(async function () {
        if (process.platform !== 'linux') this.skip();
        const base = await cgroupOf();
        if (
          how === 'by their cgroup' &&
          (base === undefined ||
            !(await access(base, constants.W_OK).then(
              () => true,
              () => false,
            )))
        )
          this.skip(); // no cgroup of our own on this machine
      });

      for (const [name, script] of Object.entries(ESCAPES)) {
        it(`${name}: are ended when the call is over`, async () => {
          const result = await sh(open(cgroupOf), `${script} ${UNTIL_BORN} echo out`);

          expect(result).to.include({ exitCode: 0, stdout: 'out\n' });
          expect(await isAlive(await escaped())).to.equal(false);
        });
      }

      it('are ended when time is up', async () => {
        const result = await sh(open(cgroupOf), `${ESCAPES.setsid} sleep 60`, { timeoutMs: 400 });

        expect(result.timedOut).to.equal(true);
        expect(await isAlive(await escaped())).to.equal(false);
      });

      it('are ended when the caller goes away, and at close', async () => {
        const controller = new AbortController();
        const adapter = open(cgroupOf);
        const one = sh(adapter, `${ESCAPES.setsid} sleep 60`, { signal: controller.signal }).catch((error: { code: string }) => error.code);
        const first = await escaped();
        controller.abort();
        expect([await one, await isAlive(first)]).to.deep.equal(['exec_cancelled', false]);

        await rm(join(home, 'pid'));
        const two = sh(adapter, `${ESCAPES.setsid} sleep 60`).catch((error: { code: string }) => error.code);
        const second = await escaped();
        await adapter.close();
        expect([await two, await isAlive(second)]).to.deep.equal(['exec_cancelled', false]);
      });

      it('of an earlier life are ended although their leader is gone', async () => {
        const tree = createChildTree(await cgroupOf(), undefined);
        const leader = spawn('sh', ['-c', `read go; ${ESCAPES.setsid} ${UNTIL_BORN}`], { cwd: home, detached: true, env: { PATH: process.env.PATH, ...tree.env } });
        const pid = leader.pid ?? 0;
        const startedAt = (await startTimeOf(pid)) ?? '';
        const { mark, cgroup } = tree;
        await createChildRegister(join(home, 'children'), 0, clock, log.logger('exec')).add({ pid, startedAt, bootId: await bootId(), ownerKey: 'run-1', command: 'sh', mark, cgroup });
        await tree.adopt(pid);
        leader.stdin.end('go\n');
        await once(leader, 'exit');
        const orphan = await escaped();
        expect(await isAlive(orphan)).to.equal(true);
        const adapter = open(cgroupOf);
        expect(await adapter.endSurvivors('run-2')).to.equal(0);

        expect(await adapter.endSurvivors('run-1')).to.equal(1);

        expect(await isAlive(orphan)).to.equal(false);
        expect(await readdir(join(home, 'children'))).to.deep.equal([]);
      });

      it('of one call do not take those of another along', async () => {
        const adapter = open(cgroupOf);
        const controller = new AbortController();
        const long = sh(adapter, `${ESCAPES.setsid} sleep 60`, { signal: controller.signal }).catch((error: { code: string }) => error.code);
        const orphan = await escaped();

        await sh(adapter, 'true');

        expect(await isAlive(orphan)).to.equal(true);
        controller.abort();
        await long;
      });

      if (how === 'by their cgroup')
        it('are found with an empty environment too', async () => {
          await sh(open(cgroupOf), `env -i ${ESCAPES.setsid} ${UNTIL_BORN}`);

          expect(await isAlive(await escaped())).to.equal(false);
        });
    });
  }
});
