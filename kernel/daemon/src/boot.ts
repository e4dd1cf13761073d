/**
 * The composition root: boot and stop, in order. Each step is a file of boot/ and hands its result to the next.
 *
 * B1  The socket opens before anything heavy is loaded; until all is up it says so.
 * B2  One bad setting, extension or file degrades its own part. Only an essential extension that fails stops the boot.
 * B3  Stop is the reverse (boot/shutdown.ts).
 * B4  Durable work begins when all that should be on was started once: what it asks for is there. A boot that is refused begins none.
 */
import * as api from '@svc/api';
import { type Lifecycle, lastEnteredId } from '@svc/core';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { type Home, resolveHome } from '@svc/platform/config/home';
import { createLog, type Log } from '@svc/platform/log/log';
import { type HomeLock, lockHome } from '@svc/platform/process/home-lock';
import { createStreams } from '@svc/platform/streams/streams';
import { openPort, urlOf } from './boot/address.js';
import type { BootOptions, Daemon } from './boot/contract.js';
import { createFacade } from './boot/facade.js';
import { type Booting, type Ground, layGround } from './boot/ground.js';
import { assembleKernel, type Kernel, onceOnly } from './boot/kernel.js';
import { openParts } from './boot/parts.js';
import { createProgress } from './boot/progress.js';
import { becomeReady } from './boot/ready.js';
import { STOP_DRAIN_MS, stopDaemon } from './boot/shutdown.js';
import { acceptRestore, settleRestore } from './boot/restored.js';
import { daemonErrors } from './errors.js';

export type { BootOptions, Daemon };

export async function bootDaemon(options: BootOptions): Promise<Daemon> {
  const clock = options.clock ?? systemClock();
  const home = resolveHome(options.env);
  const lock = await lockHome(home.home);
  // A restore whose data never started once: what was there before is back.
  if (!options.isRestored) await settleRestore(home, options.env, clock, lock);
  const log = createLog({ dir: home.logDir, level: 'info', clock, terminal: options.foreground && (options.logTerminal ?? true), env: options.env });
  try {
    return await boot({ ...options, clock, ids: options.ids ?? systemIds(), isClockGiven: options.clock !== undefined }, home, log, lock);
  } catch (error) {
    await log.close();
    await lock.release();
    throw error;
  }
}

async function boot(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Daemon> {
  const progress = createProgress();
  const ground = await layGround(options, home, log, progress);
  const streams = createStreams({ clock: options.clock, bus: ground.bus });
  const http = createFacade(ground, streams);
  const address = await openPort(http, ground.listen);
  progress.to({ at: 'listening', address });
  const attached = http.attach();
  try {
    const kernel = assembleKernel(ground, await openParts(ground, http, streams, address), address);
    const stop = stopOf(ground, kernel, lock);
    for (const [id, why] of await kernel.installation.trials.settle()) kernel.lifecycle.note(id, why);
    await startExtensions(kernel.lifecycle, options.asked);
    await attached;
    await refuseFailedEssentials(kernel.lifecycle, stop);
    if (options.isRestored) await acceptRestore(kernel, ground.databaseUrl, stop);
    if (options.isTrial) return daemonOf(ground, kernel, stop);
    ground.wiring.ready.open();
    await becomeReady(ground, kernel);
    return daemonOf(ground, kernel, stop);
  } catch (error) {
    http.stopAccepting();
    await http.close(0);
    await ground.bus.close();
    throw error;
  }
}

const stopOf = ({ options, progress }: Ground, kernel: Kernel, lock: HomeLock): ((reason: string) => Promise<void>) =>
  onceOnly(async (reason: string) => {
    progress.to({ at: 'stopping', address: kernel.address, lifecycle: kernel.lifecycle });
    await stopDaemon(reason, { ...kernel, lock, drainMs: options.stopDrainMs ?? STOP_DRAIN_MS });
  });

/** Whoever asks the daemon to stop meanwhile does not wait for what is starting. */
async function startExtensions(lifecycle: Lifecycle, asked: AbortSignal | undefined): Promise<void> {
  const giveUp = (): void => void lifecycle.giveUpAll();
  asked?.addEventListener('abort', giveUp, { once: true });
  if (asked?.aborted) giveUp();
  await lifecycle.boot();
  asked?.removeEventListener('abort', giveUp);
}

async function refuseFailedEssentials(lifecycle: Lifecycle, stop: (reason: string) => Promise<void>): Promise<void> {
  const failed = lifecycle.statuses().filter((one) => one.essential && one.state === 'failed');
  if (failed.length === 0) return;
  await stop('an essential extension failed');
  throw daemonErrors.essential_failed(failed.map((one) => `${one.id} (${one.phase ?? 'start'}: ${one.reason})`).join('; '));
}

const daemonOf = (ground: Ground, { address, parts, lifecycle, settings, view }: Kernel, stop: (reason: string) => Promise<void>): Daemon => ({
  url: urlOf(address),
  ...address,
  home: ground.home,
  kernel: view,
  lifecycle,
  services: ground.wiring.services,
  log: ground.log,
  installed: ground.installed,
  parts,
  stop,
  greeting: async () => (await ground.wiring.hooks.handle(api.KernelGreet).call(undefined)).flatMap((row) => row.value ?? []),
  caught: ground.wiring.unhandled.caught,
  lastEntered: lastEnteredId,
  reloadConfig: async (why) => void (await settings.apply(why ?? 'asked for')),
});
