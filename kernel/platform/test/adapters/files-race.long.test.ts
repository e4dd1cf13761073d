/** A program of the same user swaps folders for links while the adapter works: nothing outside is written, read, listed or removed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { expect } from 'chai';
import { openDir } from '../../src/adapters/files/files-adapter.js';

const WRITES = 2_400;
const OTHERS = 150;
/** Swaps `d` between a folder and a link to the folder outside, as fast as it can. */
const SWAPPER = `
const fs = require('fs');
const [ws, outside] = process.argv.slice(1);
fs.symlinkSync(outside, ws + '/link');
process.stdout.write('ready');
for (;;) {
  try { fs.renameSync(ws + '/d', ws + '/kept'); fs.renameSync(ws + '/link', ws + '/d'); } catch {}
  try { fs.renameSync(ws + '/d', ws + '/link'); fs.renameSync(ws + '/kept', ws + '/d'); } catch {}
}`;

describe('adapters: files beside a program that swaps folders for links', function () {
  this.timeout(120_000);
  let root: string;
  let swapper: ChildProcess;
  before(async function () {
    // Elsewhere there is no way to use a name below a handle: held-folder.ts says so.
    if (process.platform !== 'linux') this.skip();
    root = await realpath(await mkdtemp(join(tmpdir(), 'svc-race-')));
    for (const folder of ['ws/d/sub', 'outside/sub']) await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, 'outside/secret'), 'CANARY');
    await writeFile(join(root, 'outside/sub/secret'), 'CANARY');
    swapper = spawn(process.execPath, ['-e', SWAPPER, join(root, 'ws'), join(root, 'outside')], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => swapper.stdout?.once('data', resolve));
  });
  after(async () => {
    swapper?.kill('SIGKILL');
    if (root) await rm(root, { recursive: true, force: true });
  });

  /** Refusals have our codes; anything else is a fault. */
  const tried = async <T>(attempt: Promise<T>): Promise<T | undefined> => {
    try {
      return await attempt;
    } catch (error) {
      if (!isSvcError(error)) throw error;
      return undefined;
    }
  };
  const outside = async (): Promise<string[]> => (await readdir(join(root, 'outside'), { recursive: true })).sort();
  const AS_IT_WAS = ['secret', 'sub', 'sub/secret'];

  it(`writes nothing outside in ${WRITES} writes, no temporary file either, and many inside`, async () => {
    const dir = openDir(join(root, 'ws'));
    const seen = new Set<string>();
    let done = 0;
    for (let i = 0; i < WRITES; i += 4) {
      const wrote = await Promise.all([`d/f${i % 7}`, `d/sub/g${i % 5}`, `d/new${i % 50}/h`, `d/secret`].map((path) => tried(dir.write(path, 'mine').then(() => true))));
      done += wrote.filter(Boolean).length;
      for (const name of await outside()) seen.add(name);
    }
    expect([...seen].sort()).to.deep.equal(AS_IT_WAS);
    expect(await readFile(join(root, 'outside/secret'), 'utf8')).to.equal('CANARY');
    expect(done).to.be.greaterThan(100);
  });

  it('reads and lists nothing outside', async () => {
    const dir = openDir(join(root, 'ws'));
    const below = dir.dir('d');
    for (let i = 0; i < OTHERS; i++) {
      const got = await Promise.all([tried(dir.readText('d/secret')), tried(below.readText('sub/secret')), tried(dir.list('d', { recursive: true })), tried(below.stat('sub/secret'))]);
      expect(JSON.stringify(got.slice(0, 2))).to.not.contain('CANARY');
      expect(got[2]?.map(({ name }) => name) ?? []).to.not.contain('sub/secret');
      expect(got[3]).to.equal(undefined);
    }
  });

  it('removes nothing outside', async () => {
    const dir = openDir(join(root, 'ws'));
    for (let i = 0; i < OTHERS; i++) {
      await Promise.all([tried(dir.remove('d/sub')), tried(dir.remove('d/secret'))]);
      await tried(dir.write('d/sub/again', 'x'));
    }
    expect(await outside()).to.deep.equal(AS_IT_WAS);
  });
});
