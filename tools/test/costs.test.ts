/** The order of a run, and what it names at the end. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';

interface Costs {
  longestFirst(files: readonly string[], recorded: Record<string, { wallMs: number; cpuMs: number }>): string[];
  grown(times: ReadonlyArray<{ file: string; ms: number; cpuMs: number }>, recorded: Record<string, { wallMs: number; cpuMs: number }>, slower?: number): Array<{ file: string }>;
  slowness(ms: number, isLongRun: boolean, recorded: { referenceMs?: number; longReferenceMs?: number }): number | undefined;
  startReference(everyMs?: number): () => number;
  processorMs(): number;
  recordWith(
    times: ReadonlyArray<{ file: string; ms: number; cpuMs: number }>,
    wasLong: boolean,
    recorded: { cpuMinutes?: number; longCpuMinutes?: number; files?: Record<string, { wallMs: number; cpuMs?: number }> },
    allMs: number,
    reference: number,
  ): { cpuMinutes?: number; longCpuMinutes?: number; referenceMs?: number; files: Record<string, unknown> };
}

interface Lanes {
  onPostgres(files: readonly string[]): string[];
  taskOf(name: string, options: { grep?: string }): { files: string[]; options: { grep?: string } };
  queueOf(files: readonly string[]): { next(last?: string): string | undefined };
}

// Plain modules of tools/, which are not built.
const costs = (await import(`${process.cwd()}/tools/testing/costs.mjs`)) as Costs;
const lanes = (await import(`${process.cwd()}/tools/testing/lanes.mjs`)) as Lanes;

describe('what test files cost', () => {
  it('decides their order: the longest first, and before them those without a record', () => {
    const recorded = { a: { wallMs: 10, cpuMs: 1 }, b: { wallMs: 900, cpuMs: 1 }, c: { wallMs: 90, cpuMs: 1 } };
    expect(costs.longestFirst(['a', 'b', 'c', 'new'], recorded)).to.deep.equal(['new', 'b', 'c', 'a']);
  });

  it('is named where it grew clearly, and not where a shared machine explains it', () => {
    const recorded = { small: { wallMs: 0, cpuMs: 100 }, large: { wallMs: 0, cpuMs: 10_000 }, same: { wallMs: 0, cpuMs: 10_000 } };
    const times = [
      { file: 'small', ms: 0, cpuMs: 1_500 },
      { file: 'same', ms: 0, cpuMs: 13_000 },
      { file: 'large', ms: 0, cpuMs: 15_000 },
      { file: 'new', ms: 0, cpuMs: 90_000 },
    ];
    expect(costs.grown(times, recorded).map(({ file }) => file)).to.deep.equal(['large']);
    expect(costs.grown(times, recorded, 1.2), 'on a machine that is slower').to.deep.equal([]);
    expect(
      costs.grown(times, recorded, 0.7).map(({ file }) => file),
      'on one that is faster',
    ).to.deep.equal(['large', 'same']);
  });

  it('is compared with the machine of the record by work that is the same on each', async () => {
    expect(costs.slowness(60, false, { referenceMs: 50, longReferenceMs: 80 })).to.equal(1.2);
    expect(costs.slowness(60, true, { referenceMs: 50 })).to.equal(undefined);
    const end = costs.startReference(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(end()).to.be.greaterThan(1);
  });

  it('is recorded by kind: a run of the long ones keeps what the others had, and the other way round', () => {
    const files = { 'gone.test.js': { wallMs: 100, cpuMs: 60_000 }, 'crash.long.test.js': { wallMs: 300, cpuMs: 120_000 } };
    const recorded = { cpuMinutes: 1, longCpuMinutes: 2, files };
    const seen = costs.recordWith([{ file: 'here.test.js', ms: 1_234, cpuMs: 30_000 }], false, recorded, 36_000, 50.4);
    expect(seen).to.deep.equal({ cpuMinutes: 0.6, longCpuMinutes: 2, referenceMs: 50, files: { 'crash.long.test.js': files['crash.long.test.js'], 'here.test.js': { wallMs: 1_200, cpuMs: 30_000 } } });
    const long = costs.recordWith([{ file: 'new.long.test.js', ms: 100, cpuMs: 6_000 }], true, recorded, 12_000, 50.4);
    expect(long.files).to.have.all.keys('gone.test.js', 'new.long.test.js');
    expect(long).to.include({ cpuMinutes: 1, longCpuMinutes: 0.2, longReferenceMs: 50 }).and.to.not.have.property('referenceMs');
  });

  it('of daemons on PostgreSQL belongs to the long run, under a name of its own', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-lanes-'));
    const [plain, flips] = ['plain.js', 'flips.js'].map((name) => relative(process.cwd(), join(folder, name))) as [string, string];
    writeFileSync(plain, 'describeOnEngines("rows", () => {});');
    writeFileSync(flips, 'describeDaemonOnEngines("flips", () => {});');
    const [name = '', ...others] = lanes.onPostgres([plain, flips]);
    rmSync(folder, { recursive: true });
    expect(others).to.deep.equal([]);
    expect(lanes.taskOf(name, {})).to.deep.equal({ files: [flips], options: { grep: 'on PostgreSQL' } });
    expect(lanes.taskOf(flips, { grep: 'x' })).to.deep.equal({ files: [flips], options: { grep: 'x' } });
    const seen = costs.recordWith([{ file: name, ms: 100, cpuMs: 60_000 }], true, {}, 60_000, 50);
    expect(costs.recordWith([], false, seen, 0, 50).files, 'it stays where the short ones are recorded').to.have.all.keys(name);
  });

  it('of the published packages run in one process, which makes their registry once', () => {
    const [first, second] = ['a', 'b'].map((name) => `dist/test/test/packages/${name}.long.test.js`) as [string, string];
    const queue = lanes.queueOf([first, 'x.test.js', second, 'y.test.js']);
    expect([queue.next(), queue.next(), queue.next('x.test.js'), queue.next('y.test.js'), queue.next(first), queue.next(second)]).to.deep.equal([
      first,
      'x.test.js',
      'y.test.js',
      undefined,
      second,
      undefined,
    ]);
  });

  // By their own clock: on a busy machine others take most of the time. Between two looks they compute: asking is the system's time.
  const TAKES_100_MS =
    'const end = process.cpuUsage().user + 100_000; let sum = 0; while (process.cpuUsage().user < end) for (let step = 0; step < 1e6; step++) sum += step % 7; console.log("done", sum)';

  it('counts processor time, not waiting', () => {
    // In a process by itself: what this one has started goes on beside it.
    const { SVC_TEST_ALONE: _alone, ...env } = process.env;
    const program = `
      const { processorMs } = await import(${JSON.stringify(pathToFileURL(`${process.cwd()}/tools/testing/costs.mjs`).href)});
      const began = processorMs();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const waited = processorMs() - began;
      ${TAKES_100_MS};
      console.log(JSON.stringify([waited, processorMs() - began - waited]));`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env });
    const [waited, computed] = JSON.parse(said.trim().split('\n').at(-1) ?? '') as [number, number];
    expect(waited).to.be.below(90);
    expect(computed).to.be.at.least(90);
  });

  it('counts what processes took that it waits for, and that live on', async function () {
    if (process.platform !== 'linux') {
      Object.assign(this.test ?? {}, { skipReason: 'the system does not tell' });
      this.skip();
    }
    const began = costs.processorMs();
    execFileSync(process.execPath, ['-e', TAKES_100_MS]);
    expect(costs.processorMs() - began, 'one that has ended').to.be.at.least(90);
    const before = costs.processorMs();
    const alive = spawn(process.execPath, ['-e', `${TAKES_100_MS}; setInterval(() => undefined, 1_000)`], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(alive.stdout, 'data');
    const seen = costs.processorMs() - before;
    alive.kill('SIGKILL');
    expect(seen, 'one that lives').to.be.at.least(90);
    await once(alive, 'exit');
    expect(costs.processorMs() - before, 'after its end').to.be.at.least(seen);
  });
});
