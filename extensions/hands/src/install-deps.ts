/**
 * Installing the programs that a hand needs.
 *
 * P1  A command of a hand is one program of a short list with plain words: no shell, no code in arguments.
 * P2  `sudo` is left out where the daemon is root; elsewhere a person has to run the command, and reads it.
 * P3  Commands run one after another, as work of the journal. One that was running when the daemon died is not run again by itself.
 */
import type { Actor, Clock, Journal, LeasedRun, Logger } from '@svc/api';
import { reasonOf } from './errors.js';
import type { Hand } from './hand-file.js';
import type { Checked, RequirementDeps, Requirements } from './requirements.js';
import { DepsInstall } from './tables.js';

export const RESULTS = ['already_installed', 'skipped', 'no_command', 'error', 'timeout', 'installed', 'waiting', 'running'] as const;

export interface DepResult {
  readonly key: string;
  readonly status: (typeof RESULTS)[number];
  readonly command?: string;
  readonly exit_code?: number;
  readonly message: string;
}

export interface InstallDeps extends RequirementDeps {
  readonly journal: Journal;
  readonly wall: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  readonly closing: AbortSignal;
  readonly platform: string;
  readonly requirements: Requirements;
}

export interface Installer {
  /** What would be run, without running it. */
  plan(checked: readonly Checked[]): Promise<DepResult[]>;
  /** Begins, or joins what is under way for this hand. Answers when all is done, or after a while with what is still running. */
  install(actor: Actor, hand: Hand): Promise<readonly DepResult[]>;
  /** What is under way, or was last done since the daemon started. */
  progress(handId: string): readonly DepResult[] | undefined;
}

const EACH_MS = 300_000;
const ANSWER_MS = 25_000;
const MAX_OUTPUT_BYTES = 65_536;
const SHOWN_CHARS = 500;
const PROGRAMS: ReadonlySet<string> = new Set(['apt', 'apt-get', 'dnf', 'pacman', 'brew', 'winget', 'pip', 'pip3', 'npm', 'cargo']);
const CODE_ARGS: ReadonlySet<string> = new Set(['-c', '-e', '--exec', '--shell', '--eval', '--command']);
const WORD = /^[A-Za-z0-9@%+=:,./_~^-]+$/;
const BY_MANAGER = [
  ['apt-get', 'linux_apt'],
  ['dnf', 'linux_dnf'],
  ['pacman', 'linux_pacman'],
] as const;

export const createInstaller = (deps: InstallDeps): Installer => {
  const latest = new Map<string, DepResult[]>();
  const underWay = new Map<string, Promise<void>>();
  const worker = deps.journal.worker(DepsInstall, {
    concurrency: 1,
    drive: async (run) => {
      const { handId } = run.input as { handId: string };
      await runAll(deps, run, latest.get(handId) ?? []);
    },
  });
  const begin = async (actor: Actor, handId: string): Promise<void> => {
    const { leased } = await deps.journal.open({ kind: DepsInstall.name, actor, lane: 'hands-install', input: { handId } });
    if (leased) await worker.take(leased);
  };
  return {
    plan: (checked) => planned(deps, checked),
    progress: (handId) => latest.get(handId),
    install: async (actor, hand) => {
      if (!underWay.has(hand.id)) {
        deps.requirements.forget();
        const results = await planned(deps, await deps.requirements.of(hand));
        latest.set(hand.id, results);
        if (results.some(({ status }) => status === 'waiting')) {
          const work = begin(actor, hand.id)
            .catch((error: unknown) => deps.log.warn('programs of a hand could not be installed', { hand: hand.id, cause: error }))
            .finally(() => underWay.delete(hand.id));
          underWay.set(hand.id, work);
        }
      }
      const stop = new AbortController();
      await Promise.race([underWay.get(hand.id), deps.wall.sleep(ANSWER_MS, stop.signal).catch(() => undefined)]);
      stop.abort();
      return latest.get(hand.id) ?? [];
    },
  };
};

const planned = async (deps: InstallDeps, checked: readonly Checked[]): Promise<DepResult[]> => {
  const isRoot = deps.platform === 'linux' && (await said(deps, 'id', ['-u'])) === '0';
  return Promise.all(checked.map((one) => plannedOne(deps, one, isRoot)));
};

const plannedOne = async (deps: InstallDeps, one: Checked, isRoot: boolean): Promise<DepResult> => {
  const { key, satisfied, requirement_type: type, install = {} } = one;
  if (satisfied) return { key, status: 'already_installed', message: `${one.label} is there.` };
  if (type !== 'binary') return { key, status: 'skipped', message: `Set ${one.check_value} where the daemon starts${install.signup_url === undefined ? '' : `: ${install.signup_url}`}.` };
  const command = await commandFor(deps, one);
  if (command === undefined) return { key, status: 'no_command', message: `The hand names no command for this machine.${install.manual_url === undefined ? '' : ` See ${install.manual_url}`}` };
  const words = command.trim().split(/\s+/);
  const isSudo = words[0] === 'sudo';
  const rest = isSudo ? words.slice(1) : words;
  const why = refusal(rest);
  if (why !== undefined) return { key, status: 'error', command, message: `The command was not run: ${why}` };
  if (isSudo && !isRoot) return { key, status: 'error', command, message: `The command needs the rights of root, which the daemon does not have. Run it yourself: ${command}` };
  return { key, status: 'waiting', command: rest.join(' '), message: 'It is installed when its turn comes.' };
};

/** Why these words are not run; undefined where they may be. */
export const refusal = (words: readonly string[]): string | undefined => {
  const [program = ''] = words;
  if (!PROGRAMS.has(program)) return `"${program}" is none of ${[...PROGRAMS].join(', ')}.`;
  const odd = words.find((word) => !WORD.test(word));
  if (odd !== undefined) return `"${odd.slice(0, 50)}" has characters that a shell would act on.`;
  const code = words.find((word) => CODE_ARGS.has(word.split('=')[0] ?? ''));
  return code === undefined ? undefined : `the argument ${code} runs code.`;
};

const commandFor = async ({ platform, requirements }: InstallDeps, { install = {} }: Checked): Promise<string | undefined> => {
  if (platform === 'macos') return install.macos ?? install.pip;
  if (platform === 'windows') return install.windows ?? install.pip;
  for (const [program, key] of BY_MANAGER) if (install[key] !== undefined && (await requirements.hasProgram(program))) return install[key];
  return install.pip;
};

const said = async ({ exec, folder }: RequirementDeps, program: string, args: readonly string[]): Promise<string> =>
  (await exec(program, args, { cwd: await folder(), timeoutMs: 5_000 })).stdout.trim();

const runAll = async (deps: InstallDeps, run: LeasedRun, results: DepResult[]): Promise<void> => {
  if (run.steps.length > 0 || results.length === 0)
    return deps.journal.advance(run, { finish: { status: 'failed', error: { code: 'hands_install_interrupted', message: 'The daemon stopped while programs were installed. Install them again.' } } });
  let installed = 0;
  let seq = 0;
  for (const [index, one] of results.entries()) {
    if (one.status !== 'waiting' || one.command === undefined) continue;
    results[index] = { ...one, status: 'running', message: 'The command is running.' };
    seq += 1;
    results[index] = await deps.journal.step(run, { seq, kind: 'command', key: `${run.id}:${one.key}`, replay: 'never', intent: { command: one.command } }, async () => {
      const value = await runOne(deps, run, { ...one, command: one.command ?? '' });
      return { value, outcome: { status: value.status, message: value.message } };
    });
    if (results[index]?.status === 'installed') installed += 1;
  }
  deps.requirements.forget();
  return deps.journal.advance(run, { finish: { status: 'done', result: { installed } } });
};

const runOne = async (deps: InstallDeps, run: LeasedRun, one: DepResult & { readonly command: string }): Promise<DepResult> => {
  const [program = '', ...args] = one.command.split(' ');
  try {
    const ended = await deps.exec(program, args, {
      cwd: await deps.folder(),
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      timeoutMs: EACH_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal: AbortSignal.any([run.signal, deps.closing]),
      ownerKey: `hands.${one.key}`,
    });
    const last = `${ended.stdout}\n${ended.stderr}`.trim().slice(-SHOWN_CHARS);
    if (ended.timedOut) return { ...one, status: 'timeout', message: `The command took more than ${EACH_MS / 1_000} s and was stopped. ${last}` };
    if (ended.exitCode !== 0) return { ...one, status: 'error', ...(ended.exitCode === null ? {} : { exit_code: ended.exitCode }), message: `The command failed. ${last}` };
    return { ...one, status: 'installed', exit_code: 0, message: 'The command ended without an error.' };
  } catch (error) {
    if (run.signal.aborted || deps.closing.aborted) throw error;
    return { ...one, status: 'error', message: reasonOf(error) };
  }
};
