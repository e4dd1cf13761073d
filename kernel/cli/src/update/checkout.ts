/**
 * A checkout of svc, and the newer version that its remote has.
 *
 * U1  Only a clean checkout moves, and only forward along its own branch: nothing of a person is merged or lost.
 * U2  What fails after it moved takes it back to where it was, and builds that again.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../failure.js';

const run = promisify(execFile);

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const FETCH_MS = 60_000;
const SHOWN_CHANGES = 10;

export interface Newer {
  readonly current: { readonly version: string; readonly commit: string };
  readonly latest: { readonly version: string; readonly commit: string };
  /** How many commits lie between. */
  readonly behind: number;
  /** The first lines of the newest of them. */
  readonly changes: readonly string[];
  /** Why it cannot be installed as it is; null where it can. */
  readonly blocked: { readonly why: string; readonly fix: string } | null;
}

export interface Checkout {
  /** Asks the remote. Throws `cli_update_offline` and `cli_update_no_remote`. */
  look(): Promise<Newer>;
  /** U1, U2. `verify` runs with the new version, before anything starts with it. */
  install(newer: Newer, steps: { readonly onStep: (step: string) => void; readonly verify: () => Promise<void> }): Promise<void>;
}

export const isCheckout = (root: string): boolean => existsSync(path.join(root, '.git')) && existsSync(path.join(root, 'package-lock.json'));

export const openCheckout = (root: string, env: NodeJS.ProcessEnv): Checkout => {
  // Nobody is there to answer a question about a password.
  const asked = { ...env, GIT_TERMINAL_PROMPT: '0', GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? 'ssh -o BatchMode=yes' };
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-C', root, ...args], { env: asked, maxBuffer: MAX_OUTPUT_BYTES, timeout: args[0] === 'fetch' ? FETCH_MS : 0 })).stdout.trim();
  const npm = (...args: string[]): Promise<unknown> => run('npm', args, { cwd: root, env, maxBuffer: MAX_OUTPUT_BYTES });
  return {
    look: () => look(root, git),
    install: async (newer, { onStep, verify }) => {
      const before = await git('rev-parse', 'HEAD');
      try {
        onStep('updating the checkout');
        await git('merge', '--ff-only', newer.latest.commit);
        onStep('installing packages');
        await npm('ci', '--no-audit', '--no-fund');
        onStep('building');
        await npm('run', 'build');
        onStep('verifying');
        await verify();
      } catch (error) {
        onStep('going back');
        await git('reset', '--keep', before);
        await npm('ci', '--no-audit', '--no-fund');
        await npm('run', 'build');
        throw new Failure(`Version ${newer.latest.version} (${newer.latest.commit.slice(0, 9)}) does not work here, and the one before is back.`, {
          code: 'cli_update_failed',
          why: lastLine(error),
          fix: 'svc doctor',
        });
      }
    },
  };
};

type Git = (...args: string[]) => Promise<string>;

const look = async (root: string, git: Git): Promise<Newer> => {
  const upstream = await git('rev-parse', '--abbrev-ref', '--symbolic-full-name', '@{upstream}').catch(() => undefined);
  if (upstream === undefined)
    throw new Failure('This checkout follows no branch of a remote.', {
      code: 'cli_update_no_remote',
      why: `git has no upstream for the branch of ${root}`,
      fix: 'git branch --set-upstream-to=origin/main',
    });
  await git('fetch', '--quiet').catch((error: unknown) => {
    throw new Failure('The newest version could not be looked up.', { code: 'cli_update_offline', why: lastLine(error), fix: 'Repeat the command when the remote can be reached.' });
  });
  const [commit, latest, behind, ahead, changed] = await Promise.all([
    git('rev-parse', 'HEAD'),
    git('rev-parse', '@{upstream}'),
    git('rev-list', '--count', 'HEAD..@{upstream}'),
    git('rev-list', '--count', '@{upstream}..HEAD'),
    git('status', '--porcelain', '--untracked-files=no'),
  ]);
  const changes = await git('log', `--max-count=${SHOWN_CHANGES}`, '--format=%s', 'HEAD..@{upstream}');
  return {
    current: { version: versionOf(readFileSync(path.join(root, 'package.json'), 'utf8')), commit },
    latest: { version: versionOf(await git('show', '@{upstream}:package.json')), commit: latest },
    behind: Number(behind),
    changes: changes === '' ? [] : changes.split('\n'),
    blocked:
      changed !== ''
        ? {
            why: `files of the checkout were changed: ${changed
              .split('\n')
              .map((line) => line.slice(2).trim())
              .slice(0, SHOWN_CHANGES)
              .join(', ')}`,
            fix: `git -C ${root} stash`,
          }
        : Number(ahead) > 0
          ? { why: `the checkout has ${ahead} commits that ${upstream} does not have`, fix: `git -C ${root} rebase ${upstream}` }
          : null,
  };
};

const versionOf = (text: string): string => {
  const { version } = JSON.parse(text) as { version?: string }; // package.json of svc
  return version ?? 'unknown';
};

/** Of what a program said, or of a failure. */
const lastLine = (error: unknown): string => {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (said === '' ? (error instanceof Error ? error.message : String(error)) : said).split('\n').at(-1) ?? '';
};
