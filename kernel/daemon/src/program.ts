/** The daemon's process: starts, says so, and stops on a signal. */
import { dirname } from 'node:path';
import { isSvcError } from '@svc/api';
import { shippedWords } from '@svc/installer/shipped-words';
import { asTyped, commandName } from '@svc/platform/config/command-name';
import { renderBanner } from './banner.js';
import { takeEnvironment } from '@svc/platform/config/environment/own-environment';
import { type BootOptions, bootDaemon, type Daemon } from './boot.js';
import { endNow, endWithin, exitSurely } from '@svc/platform/process/last-resort';
import { guardProcess, noteSignals, reloadBySignal } from './process-guard.js';
import { stopStep } from './boot/shutdown.js';
import type { RestorePlan } from '@svc/platform/backup/restore-swap';
import type { BackupHome } from './backup/home-backup.js';
import { restoreDaemon } from './backup/restore-daemon.js';
import type { TrialReport } from './backup/trial.js';
import { startElsewhere } from './start-elsewhere.js';

export { startElsewhere };
/** For whoever composes a daemon of other parts. */
export { bootDaemon } from './boot.js';
export { standardFactories } from './boot/part-factories.js';

/** Late enough to be in nobody's way: by then the first messages have compiled what they need. */
const KEEP_CODE_AFTER_MS = 3_000;
/** A stop that takes longer than this is ended. */
const STOP_DEADLINE_MS = 20_000;
/** Whoever looks on from outside waits a little longer: from within it can be said what hangs. */
const LAST_RESORT_MS = 22_000;
/** A trial that takes longer has failed. */
const TRIAL_MS = 120_000;
const EXIT_FAILED = 1;

/** Whoever loaded this program, and from where. */
export interface ProgramFiles extends Pick<BootOptions, 'releaseFile' | 'code'> {
  /** What a process of its own is started from. */
  readonly mainFile: string;
}

/** `--foreground` tees the log to the terminal and prints the banner. Resolves when the daemon is ready; the process lives on. */
export async function main(argv: readonly string[], files: ProgramFiles): Promise<void> {
  try {
    const { env, exposed, isHandedOver } = takeEnvironment();
    await (exposed.length > 0 && !isHandedOver ? startElsewhere(files.mainFile, argv, env) : run(argv, env, files));
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    exitSurely(EXIT_FAILED);
  }
}

async function run(argv: readonly string[], env: BootOptions['env'], { releaseFile, code }: ProgramFiles): Promise<void> {
  // `npm start` may have built first, in this same process.
  const begun = performance.now();
  const foreground = argv.includes('--foreground');
  const state: { daemon?: Daemon } = {};
  const stop = (reason: string, code: number): void => void stopProcess(state.daemon, reason, code);
  const options: BootOptions = {
    ...{ env, releaseFile, code, foreground },
    onShutdown: (reason) => stop(reason, 0),
    onRestore: (plan, home) => void restore(state, options, plan, home),
  };
  if (argv.includes('--trial')) return tryStart({ ...options, isTrial: true, isRestored: argv.includes('--restored') });
  const early = noteSignals(() => endWithin(LAST_RESORT_MS));
  const daemon = await bootDaemon({ ...options, asked: early.signal }).catch((error: unknown) => {
    // Somebody asked it to stop: that it did not come up is no failure.
    if (early.asked() !== undefined) exitSurely(0);
    throw error;
  });
  state.daemon = daemon;
  guardProcess(() => state.daemon ?? daemon, stop);
  early.forget();
  const asked = early.asked();
  if (asked !== undefined) return stop(asked, 0);
  if (early.isReloadAsked()) reloadBySignal(daemon);
  setTimeout(() => void code?.keep(), KEEP_CODE_AFTER_MS).unref();
  daemon.log.logger('kernel').info('ready', { url: daemon.url, ms: Math.round(performance.now() - begun) });
  if (foreground) process.stdout.write(await bannerOf(daemon, dirname(releaseFile), Math.round(performance.now() - begun)));
}

/** The process stays; its daemon is another one afterwards. */
async function restore(state: { daemon?: Daemon }, options: BootOptions, plan: RestorePlan, home: BackupHome): Promise<void> {
  const before = state.daemon;
  if (!before) return;
  try {
    state.daemon = await restoreDaemon({
      ...{ plan, home, host: before.host, port: before.port },
      stop: () => before.stop('a backup is restored'),
      boot: (isRestored) => bootDaemon({ ...options, isRestored }),
      failed: (error) => process.stderr.write(`The restore of ${plan.filename} failed: ${explain(error)}\n`),
    });
    state.daemon.log.logger('kernel').info('ready', { url: state.daemon.url });
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    exitSurely(EXIT_FAILED);
  }
}

/** `--trial`: whether the home starts, as one line of JSON (backup/trial.ts). */
async function tryStart(options: BootOptions): Promise<void> {
  endWithin(TRIAL_MS);
  const daemon = await bootDaemon(options);
  const extensions = daemon.kernel.extensions().map(({ id, state, reason }) => ({ id, state, reason }));
  await daemon.stop('the trial is over');
  process.stdout.write(`${JSON.stringify({ extensions } satisfies TrialReport)}\n`);
  exitSurely(0);
}

async function stopProcess(daemon: Daemon | undefined, reason: string, code: number): Promise<void> {
  endWithin(LAST_RESORT_MS);
  setTimeout(() => endNow(`The daemon did not stop within ${STOP_DEADLINE_MS / 1_000} s: ${stopStep() ?? 'its exit'} hangs. It is ended by force.`), STOP_DEADLINE_MS).unref();
  await daemon?.stop(reason);
  exitSurely(code);
}

async function bannerOf(daemon: Daemon, distDir: string, startMs: number): Promise<string> {
  const failed = daemon.kernel.extensions().filter((one) => one.state === 'failed');
  const command = commandName(process.env);
  const isCommand = shippedWords(distDir);
  const shown = (text: string): string => asTyped(text, command, isCommand);
  return renderBanner({
    version: daemon.kernel.version,
    command,
    url: daemon.url,
    dataDir: daemon.home.dataDir,
    database: daemon.parts.storage.place,
    lines: (await daemon.greeting()).map((line) => ({ ...line, value: shown(line.value), ...(line.note === undefined ? {} : { note: shown(line.note) }) })),
    problems: [
      ...daemon.kernel.configProblems().flatMap(({ severity, message }) => (severity === 'notice' ? [] : [message])),
      ...failed.map((one) => `${one.id} did not start: ${one.reason}. See: ${command} ext why ${one.id}`),
    ],
    isColoured: process.stdout.isTTY === true && !daemon.parts.env.NO_COLOR,
    startMs,
  });
}

/** What happened, why, and what fixes it; a stack only where none of that is known. */
function explain(error: unknown): string {
  if (isSvcError(error)) return error.hint ? `${error.message}\n${error.hint}` : error.message;
  return `The daemon could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
