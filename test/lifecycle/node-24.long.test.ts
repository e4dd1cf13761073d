/** The recommended Node: the build of another one is not stale under it, and a part of the tests passes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** The kernel, secrets, isolated processes, and whole daemons with their sockets and their journal. */
const AREAS = ['kernel/core', 'kernel/isolation', 'vault', 'queue'];

describe('Node 24', function () {
  this.timeout(600_000);
  const node = process.env['NODE_24'];
  const run = async (...args: readonly string[]): Promise<string> => {
    // What a browser shows does not depend on the version of Node: those tests are skipped.
    const env = { ...process.env, CHROMIUM: '/none' };
    const done = await promisify(execFile)(node ?? '', [...args], { env, maxBuffer: 50_000_000 }).catch((error: Error & { stdout: string }) => error);
    return done.stdout;
  };

  before(function () {
    // NODE_24 names its binary: npm install --prefix DIR node@24.
    if (node === undefined) this.skip();
  });

  it('builds nothing anew: what another Node built is what it would build', async () => {
    expect(await run('--version')).to.match(/^v24\./);
    expect(await run('tools/build.mjs')).to.contain('everything is up to date');
  });

  it(`passes the tests of ${AREAS.join(', ')}`, async () => {
    // As in the processes of a run: hundreds of daemons are made and dropped.
    const printed = await run('--max-semi-space-size=64', 'tools/test.mjs', ...AREAS);
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(printed) ?? [];
    expect(Number(failed), printed.slice(-4_000)).to.equal(0);
    expect(Number(passed)).to.be.above(100);
  });
});
