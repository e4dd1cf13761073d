/**
 * What a daemon holds when its start is over, against a bare Node.js that listens: both by the same system, so that neither
 * the machine nor the version of Node.js counts. It comes to rest within a minute, and never while there is work.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type CountedDaemon, startCounted } from './counted-daemon.js';

const TIMES_BARE = 3.5;
const LISTENS = "require('node:http').createServer().listen(0, '127.0.0.1', () => console.log('ready'))";
const PATIENCE_MS = 90_000;

const residentBytes = (pid: number | undefined): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) * 1_024;

describe('the memory of a daemon at rest', function () {
  this.timeout(PATIENCE_MS + 60_000);
  let daemon: CountedDaemon | undefined;
  let bare: ChildProcess | undefined;

  before(async function () {
    if (process.platform !== 'linux') {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'only Linux says what a process holds' });
      this.skip();
    }
    bare = spawn(process.execPath, ['-e', LISTENS], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => bare?.stdout?.once('data', resolve));
    daemon = await startCounted('', { isCounted: false });
  });
  after(async () => {
    bare?.kill('SIGKILL');
    await daemon?.stop();
  });

  it(`is at most ${TIMES_BARE} times that of a bare Node.js`, async () => {
    const floor = residentBytes(bare?.pid);
    const ratio = (): number => residentBytes(daemon?.pid) / floor;
    for (const until = Date.now() + PATIENCE_MS; ratio() > TIMES_BARE && Date.now() < until; ) await new Promise((resolve) => setTimeout(resolve, 500));
    expect(ratio()).to.be.within(1, TIMES_BARE);
  });
});
