/** Hooks whose process stays. */
import { writeFile } from 'node:fs/promises';
import type { ChildEnd, ChildHandle, SpawnOptions } from '@svc/api';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createPersistent } from '../src/hooks/persistent.js';
import type { Start } from '../src/hooks/hook-process.js';

describe('a hook whose process stays', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  before(async () => {
    kernel = await bootTestKernel({ config: OPEN_RATE });
    await kernel.http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'stays', runtime: 'bash' });
    await writeFile(`${folder()}/plugin.toml`, 'name = "stays"\n[hooks]\nruntime = "bash"\ningest = "hooks/ingest.sh"\npersistent_subprocess = true\nhook_timeout_secs = 2\n');
  });
  after(() => stopTestKernels());

  const folder = (): string => `${kernel.home}/plugins/stays`;
  const script = (body: string): Promise<void> => writeFile(`${folder()}/hooks/ingest.sh`, `n=0\nwhile read -r line; do\nn=$((n+1))\n${body}\ndone\n`);
  const ANSWER = 'echo "a line of its log"; printf \'{"type":"ingest_result","memories":[],"n":%s,"got":%s}\\n\' "$n" "$line"';
  const test = async (message = 'hello') => (await kernel.http.expect(200, 'POST', '/api/plugins/stays/test-hook', { input: { message } })).body;

  it('K1 K2 answers line by line in one process, and begins anew after a crash, a change or a reload', async () => {
    await script(`case $line in *crash*) echo why >&2; exit 3 ;; *hang*) sleep 60 ;; *flood*) head -c 2000000 /dev/zero ;; esac\n${ANSWER}`);
    const first = await test('one');
    expect(first, JSON.stringify(first)).to.deep.include({ success: true, note: null });
    expect(first.output).to.deep.include({ n: 1, got: { type: 'ingest', agent_id: '', message: 'one', peer_id: null } });
    const both = await Promise.all([test('two'), test('three')]);
    expect(both.map(({ output }) => output.n).toSorted()).to.deep.equal([2, 3]);
    expect(both.map(({ output }) => output.got.message)).to.deep.equal(['two', 'three']);
    expect(await test('crash')).to.deep.include({ success: false, error: 'ScriptError', exit_code: 3, message: 'it ended with the exit code 3: why' });
    expect((await test()).output.n).to.equal(1);
    expect((await test('hang')).message).to.equal('Timeout: the hook ingest did not answer within 2 s and was ended');
    expect((await test('flood')).error).to.equal('OutputTooLarge');
    expect((await test()).output.n).to.equal(1);
    expect((await test()).output.n).to.equal(2);
    await script(ANSWER);
    expect((await test()).output.n).to.equal(1);
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/stays/reload')).body.processes_evicted).to.equal(1);
    expect((await test()).output.n).to.equal(1);
  });

  it('is as fast as its script: the median of forty calls is far below a start', async () => {
    await script(ANSWER);
    await test();
    const times: number[] = [];
    for (let at = 0; at < 40; at += 1) times.push((await test()).elapsed_ms);
    const median = times.toSorted((a, b) => a - b)[20] ?? 0;
    console.log(`      median of a warm call: ${median} ms`);
    expect(median).to.be.lessThan(50);
  });
});

async function* nothing(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}

/** A child that answers each line with its number. */
const child = (pid: number, killed: number[]): ChildHandle => {
  let end: (value: ChildEnd) => void = () => undefined;
  const exit = new Promise<ChildEnd>((resolve) => {
    end = resolve;
  });
  const lines: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const finish = (): Promise<ChildEnd> => {
    if (!isOver) killed.push(pid);
    isOver = true;
    wake();
    end({ exitCode: null, signal: 'SIGTERM', why: 'ended' });
    return exit;
  };
  return {
    pid,
    stdin: {
      write: async () => {
        lines.push(Buffer.from(`{"pid":${pid}}\n`));
        wake();
      },
      end: () => undefined,
    },
    stdout: (async function* () {
      while (!isOver) {
        const line = lines.shift();
        if (line) yield line;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    })(),
    stderr: nothing(),
    exit,
    kill: finish,
  };
};

describe('processes that stay', () => {
  const open = () => {
    const clock = virtualClock(0);
    const killed: number[] = [];
    const pids: number[] = [];
    const persistent = createPersistent({ spawn: async () => child(pids.push(0), killed), clock });
    const start: Start = { hook: 'ingest', command: 'x', args: [], options: {} as SpawnOptions, limitMs: 1_000, walls: 'lowered', launcher: 'x' };
    const call = async (key: string) => (await persistent.call(key, 'v1', async () => start, {}, clock.mono() + 1_000)).taken?.value;
    return { clock, killed, persistent, call };
  };

  it('K3 are sixteen at most: the one that was called least lately goes', async () => {
    const { call, killed } = open();
    for (let at = 1; at <= 16; at += 1) await call(`p${at} ingest`);
    await call('p1 ingest');
    expect(await call('p17 ingest')).to.deep.equal({ pid: 17 });
    expect(killed).to.deep.equal([2]);
    expect(await call('p1 ingest')).to.deep.equal({ pid: 1 });
    expect(await call('p2 ingest')).to.deep.equal({ pid: 18 });
    expect(killed).to.deep.equal([2, 3]);
  });

  it('K2 are stopped when nobody calls them for a minute', async () => {
    const { call, killed, clock, persistent } = open();
    await call('p ingest');
    await clock.advance(59_000);
    await call('p ingest');
    await clock.advance(59_000);
    expect(killed).to.deep.equal([]);
    await clock.advance(2_000);
    expect(killed).to.deep.equal([1]);
    expect(await call('p ingest')).to.deep.equal({ pid: 2 });
    expect(persistent.stop('p')).to.equal(1);
    expect(killed).to.deep.equal([1, 2]);
  });
});
