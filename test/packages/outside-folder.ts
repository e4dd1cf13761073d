/** A folder outside this repository, with the published packages and nothing else. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalRegistry, ROOT, startRegistry } from './local-registry.js';

const run = promisify(execFile);

/** What a third party has besides our packages. */
const LENT = ['mocha', '@types/mocha', '@types/node', 'esbuild', 'typescript'];
const OURS = join(ROOT, 'dist/packages/node_modules/@svc');

/** What our packages, once they are packed, need of npm. */
const needed = async (): Promise<readonly string[]> => {
  const packages = await Promise.all((await readdir(OURS)).filter((name) => !name.startsWith('.')).map(async (name) => JSON.parse(await readFile(join(OURS, name, 'package.json'), 'utf8'))));
  return [...new Set(packages.flatMap(({ dependencies = {} }) => Object.keys(dependencies)))].filter((name) => !name.startsWith('@svc/'));
};

let ours: Promise<LocalRegistry> | undefined;

/** The registry that has our packages, made anew from this checkout: one for all tests of a process. */
export const registryOfOurs = (): Promise<Omit<LocalRegistry, 'stop' | 'letGo'>> => {
  ours ??= makeRegistry();
  return ours;
};

const makeRegistry = async (): Promise<LocalRegistry> => {
  const { stdout } = await run(process.execPath, [join(ROOT, 'tools/pack.mjs')], { cwd: ROOT });
  const registry = await startRegistry();
  try {
    await registry.lend(...LENT, ...(await needed()));
    for (const tarball of stdout.trim().split('\n')) await registry.publish(tarball);
    registry.letGo();
    return registry;
  } catch (error) {
    await registry.stop();
    throw error;
  }
};

/** What is still running then hangs. */
const LONGEST_MS = 100_000;

export interface OutsideFolder {
  readonly dir: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs a program there; its code is not validated. */
  run(program: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  clean(): Promise<void>;
}

export const outsideFolder = async (env: Readonly<Record<string, string>>): Promise<OutsideFolder> => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-outside-'));
  return {
    dir,
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir, name)), { recursive: true });
        await writeFile(join(dir, name), text);
      }
    },
    run: async (program, ...args) => {
      const done = await run(program, [...args], { cwd: dir, env: { ...env, FORCE_COLOR: '0' }, maxBuffer: 10_000_000, timeout: LONGEST_MS }).catch(
        (error: Error & { code?: number; stdout: string; stderr: string }) => error,
      );
      return { code: done instanceof Error ? (done.code ?? 1) : 0, output: `${done.stdout}${done.stderr}` };
    },
    clean: () => rm(dir, { recursive: true, force: true }),
  };
};
