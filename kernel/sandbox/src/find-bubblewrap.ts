/** Which bubblewrap there is, and what its version can do. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface BubblewrapFeatures {
  /** `--size`: since 0.7. */
  readonly size: boolean;
  /** `--disable-userns`: since 0.8. */
  readonly disableUserns: boolean;
}

export interface Bubblewrap {
  /** Absolute. */
  readonly program: string;
  readonly features: BubblewrapFeatures;
}

const run = promisify(execFile);
/** Not from PATH, which may name a folder that somebody else writes to. */
const PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** Undefined where none is installed. */
export const findBubblewrap = async (places: readonly string[] = PLACES): Promise<Bubblewrap | undefined> => {
  for (const program of places) {
    const help = await run(program, ['--help'], { timeout: 5_000, env: {} }).catch(() => undefined);
    if (help) return { program, features: { size: help.stdout.includes('--size '), disableUserns: help.stdout.includes('--disable-userns') } };
  }
  return undefined;
};
