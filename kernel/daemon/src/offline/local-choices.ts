/**
 * Switches an area on or off without the API: the choice is written into the database, where it is the truth.
 * Whoever can do that is the user of the machine whose home it is; no other proof would say more.
 *
 * L1  With the daemon stopped its home is locked meanwhile, so that none starts in between; the next start follows.
 * L2  Beside a daemon that runs but cannot be asked, the one row is written, and the daemon looks for it (choice-watch.ts).
 */
import { mkdir, readFile } from 'node:fs/promises';
import { type Clock, type ExtensionPlan, isSvcError, nearest } from '@svc/api';
import { dependentsOf, type IntentSources, intentOf, planStop } from '@svc/core';
import { systemClock } from '@svc/platform/clock/clock';
import { readEnvLayer } from '@svc/platform/config/environment/env-layer';
import { evaluate } from '@svc/platform/config/evaluate';
import { databaseFileOf, type Home, resolveHome } from '@svc/platform/config/home';
import { aliasesOf } from '@svc/platform/config/claims';
import { kernelSections } from '@svc/platform/config/kernel-sections';
import { createLog } from '@svc/platform/log/log';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { type Choices, openChoices } from '@svc/platform/choices/choices';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { withConsequences } from '@svc/platform/choices/consequences';
import { extensionSettings, presetOf, requiredSecurity } from '../boot/start-rules.js';
import { daemonErrors } from '../errors.js';
import { type HomeLock, lockHome } from '@svc/platform/process/home-lock';
import { type Release, readRelease } from '../release.js';

export interface LocalChange {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that the daemon runs. */
  readonly releaseFile: string;
  readonly action: 'enable' | 'disable' | 'reset';
  readonly id: string;
  /** True when a daemon of this home runs and could not be asked. */
  readonly isBeside: boolean;
  /** Asked before anything is written. */
  agrees(plan: ExtensionPlan): Promise<boolean>;
}

export interface LocalOutcome {
  readonly plan: ExtensionPlan;
  readonly isWritten: boolean;
  /** Whether the area should be on from now on. */
  readonly isWanted: boolean;
}

/** Rejects with `daemon_already_running` when the home is held and `isBeside` is not set, and with `daemon_unknown_extension`. */
export async function changeLocally(change: LocalChange): Promise<LocalOutcome> {
  const home = resolveHome(change.env);
  const release = await readRelease(change.releaseFile, {}); // no code is loaded
  const known = release.extensions.map((one) => one.id);
  if (!known.includes(change.id)) throw daemonErrors.unknown_extension(change.id, nearest(change.id, known)[0]);
  const lock = await lockUnlessBeside(home, change.isBeside);
  try {
    return await withChoices(home, databaseUrlOf(await settingsOf(home, change.env)), lock !== undefined, (choices) => decide(change, home, release, choices));
  } finally {
    await lock?.release();
  }
}

async function lockUnlessBeside(home: Home, isBeside: boolean): Promise<HomeLock | undefined> {
  try {
    return await lockHome(home.home);
  } catch (error) {
    if (isBeside && isSvcError(error) && error.code === 'daemon_already_running') return undefined;
    throw error;
  }
}

const withChoices = <T>(home: Home, url: string | undefined, isOwn: boolean, work: (choices: Choices) => Promise<T>): Promise<T> =>
  withStorage(home, url, async (storage, clock) => {
    // A daemon that runs has its tables.
    if (isOwn) await storage.migrate(kernelTables, kernelMigrations);
    return work(await openChoices(storage.dbFor(kernelTables), clock));
  });

/** The database of this home, without a daemon. */
export async function withStorage<T>(home: Home, url: string | undefined, work: (storage: Storage, clock: Clock) => Promise<T>): Promise<T> {
  const clock = systemClock();
  const log = createLog({ dir: null, level: 'error', clock, terminal: false });
  await mkdir(home.dataDir, { recursive: true, mode: 0o700 });
  const storage = await openStorage({ file: databaseFileOf(home.dataDir), url, readers: 1, clock, log: log.logger('storage'), onEvents: () => undefined });
  try {
    return await work(storage, clock);
  } finally {
    await storage.close();
  }
}

async function decide({ action, agrees, env, id }: LocalChange, home: Home, release: Release, choices: Choices): Promise<LocalOutcome> {
  const config = await settingsOf(home, env);
  const { name, preset } = presetOf(release, config);
  const sources: IntentSources = { choices: choices.all, ...extensionSettings(config), preset: { name, ...preset } };
  const plan = withConsequences(planOf(action, id, release, sources), { installed: release.extensions, required: requiredSecurity(preset, config) });
  const isWanted = wanted(action, id, sources);
  if (!(await agrees(plan))) return { plan, isWritten: false, isWanted };
  await choices.set(id, action === 'reset' ? undefined : isWanted);
  return { plan, isWritten: true, isWanted };
}

/** The kernel's own sections, validated as the daemon validates them. */
export async function settingsOf(home: Home, env: LocalChange['env']): Promise<{ get(section: string): unknown; closed(): readonly string[]; isFileRead(): boolean }> {
  const text = await readFile(home.configFile, 'utf8').catch(() => null); // absent or not readable: the defaults hold, as for the daemon
  const found = await evaluate({
    file: home.configFile,
    text,
    unreadable: undefined,
    env: readEnvLayer(env, aliasesOf(kernelSections)),
    claims: kernelSections,
    ready: undefined,
    good: {},
    providers: {},
  });
  return { get: (section) => found.values.get(section), closed: () => [...found.closed], isFileRead: () => found.isFileRead };
}

/** What should be on stands for what is on: nothing runs. */
function planOf(action: LocalChange['action'], id: string, release: Release, sources: IntentSources): ExtensionPlan {
  const isOn = (other: string): boolean => intentOf(other, sources).enabled;
  const enabled = release.extensions.filter((one) => isOn(one.id)).map((one) => one.manifest);
  if (!wanted(action, id, sources)) return planStop(action, id, enabled, sources.preset.essential.includes(id));
  const starts = isOn(id) ? [] : [id, ...dependentsOf(id, enabled)];
  return { id, action, starts, stops: [], degrades: [], warning: null, back: null };
}

function wanted(action: LocalChange['action'], id: string, sources: IntentSources): boolean {
  if (action !== 'reset') return action === 'enable';
  const choices = new Map(sources.choices);
  choices.delete(id);
  return intentOf(id, { ...sources, choices }).enabled;
}
