import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createCodeCache } from '../src/installed/code-cache.js';

const DAY_MS = 24 * 3_600_000;

describe('compiled code that is kept', () => {
  let dir: string;
  let folder: string;
  let file: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-code-'));
    folder = join(dir, 'compiled');
    file = join(dir, 'module.cjs');
    await writeFile(file, 'let loads = 0; exports.load = () => ++loads;');
  });
  afterEach(async () => {
    await chmod(folder, 0o700).catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  });

  const run = (cache = createCodeCache(folder), path = file): Record<string, unknown> => {
    const module: { exports: Record<string, unknown> } = { exports: {} };
    cache.compile(path)(module.exports, createRequire(path), module, path, dirname(path));
    return module.exports;
  };
  /** Compiles and keeps; says how many files had to be written. */
  const start = async (): Promise<number> => {
    const cache = createCodeCache(folder);
    run(cache);
    return cache.keep();
  };

  it('is written once and taken at the next start', async () => {
    expect(await start()).to.equal(1);
    expect(await start()).to.equal(0);
    expect(await readdir(folder)).to.have.length(1);
  });

  it('is made anew for another source', async () => {
    await start();
    await writeFile(file, 'exports.load = () => "another";');
    expect(run().load).to.be.a('function');
    expect((run().load as () => unknown)()).to.equal('another');
    expect(await start()).to.equal(1);
    expect(await readdir(folder)).to.have.length(2);
  });

  it('runs as a module of its own each time', () => {
    const cache = createCodeCache(folder);
    const [one, two] = [run(cache).load as () => number, run(cache).load as () => number];
    expect([one(), one(), two()]).to.deep.equal([1, 2, 1]);
  });

  for (const [what, harm] of [
    ['cut short', (kept: string) => truncate(kept, 60)],
    ['empty', (kept: string) => truncate(kept, 0)],
    [
      'changed in its midst',
      async (kept: string) => {
        const bytes = await readFile(kept);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
        await writeFile(kept, bytes);
      },
    ],
    ['a folder', async (kept: string) => rm(kept).then(() => mkdir(kept))],
  ] as const) {
    it(`is not used when it is ${what}: the source is compiled`, async () => {
      await start();
      const [name = ''] = await readdir(folder);
      await harm(join(folder, name));
      expect((run().load as () => number)()).to.equal(1);
      if (what !== 'a folder') {
        expect(await start(), 'written anew').to.equal(1);
        expect(await start(), 'and whole').to.equal(0);
      }
    });
  }

  it('costs nothing but time where its folder cannot be made', async () => {
    await writeFile(folder, 'a file stands here');
    expect((run().load as () => number)()).to.equal(1);
    expect(await start()).to.equal(0);
  });

  it('leaves no draft behind, and removes what nobody used for a month', async () => {
    await start();
    const [kept = ''] = await readdir(folder);
    const [used, old, recent] = [join(folder, kept), join(folder, 'old.bin'), join(folder, 'recent.bin')];
    await writeFile(old, '');
    await writeFile(recent, '');
    await utimes(old, new Date(), new Date(Date.now() - 31 * DAY_MS));
    await utimes(used, new Date(), new Date(Date.now() - 31 * DAY_MS));
    await start();
    expect((await readdir(folder)).sort()).to.deep.equal([kept, 'recent.bin'].sort());
    expect(Date.now() - (await stat(used)).mtimeMs).to.be.below(DAY_MS);
  });

  it('requires packages from where its source lies', async () => {
    await mkdir(join(dir, 'node_modules/beside'), { recursive: true });
    await writeFile(join(dir, 'node_modules/beside/index.js'), "module.exports = 'found';");
    await writeFile(file, "exports.load = () => require('beside');");
    await start();
    expect((run().load as () => unknown)()).to.equal('found');
  });

  it('names file, line and column of the source in a stack', async () => {
    await writeFile(file, 'exports.load = () => { throw new Error("here"); };');
    await start();
    let stack = '';
    try {
      (run().load as () => never)();
    } catch (error) {
      stack = (error as Error).stack ?? '';
    }
    expect(stack).to.contain(`${file}:1:30`);
  });
});
