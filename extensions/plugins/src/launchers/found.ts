/**
 * Which launchers the machine has, and where they really are.
 *
 * L1  All are looked for at the same time, each version within 5 s. The answer stands until a program is found elsewhere, or is another file.
 * L2  A program that only points to another one (a shim of pyenv, nvm or npm) counts as far as that runs. The sandbox sees the real one.
 */
import { dirname } from 'node:path';
import type { Clock, ExecOptions, ExecResult } from '@svc/api';
import { type Launcher, RUNTIMES, type Runtime } from './launcher.js';
import { LAUNCHERS } from './launchers.js';

const PROBE_MS = 5_000;
/** Within so long after a look a message does not look again. */
const FRESH_MS = 60_000;
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/nix/store'];
const LOOK = `for name in "$@"; do
  file=$(command -v "$name" 2>/dev/null) || file=
  case $file in /*) real=$(readlink -f "$file" 2>/dev/null) || real=$file; printf '%s\\t%s\\t%s\\t%s\\n' "$name" "$file" "$real" "$(ls -l "$real" 2>/dev/null)" ;; esac
done`;

export interface Found {
  readonly runtime: Runtime;
  readonly available: boolean;
  /** As it was found on PATH; null where there is none, and for a script that starts itself. */
  readonly launcher: string | null;
  readonly version: string | null;
  /** What is started. */
  readonly program: string | null;
  /** Folders outside of the system that it needs. */
  readonly folders: readonly string[];
}

export interface FindDeps {
  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  readonly clock: Pick<Clock, 'mono'>;
  /** Of the person who runs the daemon: no launcher makes the sandbox see all of it. */
  readonly home: string;
}

export interface Finder {
  all(): Promise<readonly Found[]>;
  /** From memory where it was looked at lately. */
  of(runtime: Runtime): Promise<Found>;
  /** The next question looks again. */
  forget(): void;
}

const native: Found = { runtime: 'native', available: true, launcher: null, version: null, program: null, folders: [] };
const missing = (runtime: Runtime): Found => ({ runtime, available: false, launcher: null, version: null, program: null, folders: [] });

export const createFinder = (deps: FindDeps): Finder => {
  let known: { readonly places: string; readonly found: Promise<readonly Found[]> } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const all = async (): Promise<readonly Found[]> => {
    const places = await placesOf(deps);
    if (known?.places !== places) known = { places, found: Promise.all(RUNTIMES.map((runtime) => probe(deps, LAUNCHERS[runtime], placesIn(places)))) };
    lookedAt = deps.clock.mono();
    return known.found;
  };
  return {
    all,
    of: async (runtime) => {
      if (runtime === 'native') return native;
      const found = known && deps.clock.mono() - lookedAt < FRESH_MS ? await known.found : await all();
      return found.find((one) => one.runtime === runtime) ?? missing(runtime);
    },
    forget: () => {
      lookedAt = Number.NEGATIVE_INFINITY;
      known = undefined;
    },
  };
};

const placesOf = async ({ exec }: FindDeps): Promise<string> => {
  const names = [...new Set(RUNTIMES.flatMap((runtime) => LAUNCHERS[runtime].programs))];
  return (await exec('sh', ['-c', LOOK, 'sh', ...names], { cwd: '/', envNames: [], timeoutMs: PROBE_MS })).stdout;
};

interface Place {
  readonly file: string;
  readonly real: string;
}

const placesIn = (text: string): ReadonlyMap<string, Place> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [name, file, real] = line.split('\t');
      return name && file && real ? [[name, { file, real }] as const] : [];
    }),
  );

const probe = async (deps: FindDeps, launcher: Launcher, places: ReadonlyMap<string, Place>): Promise<Found> => {
  if (launcher.programs.length === 0) return native;
  for (const name of launcher.programs) {
    const place = places.get(name);
    const found = place && (await probeProgram(deps, launcher, place));
    if (found) return found;
  }
  return missing(launcher.runtime);
};

const probeProgram = async (deps: FindDeps, launcher: Launcher, { file, real }: Place): Promise<Found | undefined> => {
  const say = async (args: readonly string[]): Promise<string | undefined> => {
    const done = await deps.exec(file, args, { cwd: '/', envNames: [], timeoutMs: PROBE_MS }).catch(() => undefined); // it was taken away meanwhile, or nothing may be started
    return done?.exitCode === 0 && !done.timedOut ? `${done.stdout}\n${done.stderr}` : undefined;
  };
  const [version, place] = await Promise.all([say(launcher.versionArgs), launcher.placeArgs ? say(launcher.placeArgs) : undefined]);
  if (version === undefined) return undefined;
  const lines = (place ?? '').split('\n').filter((line) => line.startsWith('/'));
  // Only one line: a folder, and the program is what was found.
  const program = lines.length > 1 ? (lines[0] ?? real) : real;
  const folders = [...new Set([...(lines.length > 1 ? lines.slice(1) : lines), ...(place === undefined ? [launcher.needsFolder ? dirname(real) : real] : [program])])].filter(
    (path) => !isOfSystem(path) && !holds(path, deps.home),
  );
  return { runtime: launcher.runtime, available: true, launcher: file, version: /\d+(?:\.\d+)+/.exec(version)?.[0] ?? null, program, folders };
};

const isOfSystem = (path: string): boolean => SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`));

const holds = (folder: string, home: string): boolean => folder === '/' || (home !== '' && (home === folder || home.startsWith(`${folder}/`)));
