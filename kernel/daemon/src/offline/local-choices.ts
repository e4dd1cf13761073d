/**
 * Switches an area on or off without the API: the choice is written into the database, where it is the truth.
 * Whoever can do that is the user of the machine whose home it is; no other proof would say more.
 *
 * L1  With the daemon stopped its home is locked meanwhile, so that none starts in between; the next start follows.
 * L2  Beside a daemon that runs but cannot be asked, the one row is written, and the daemon looks for it (choice-watch.ts).
 */
import { type Clock, type ExtensionPlan, isSvcError, nearest } from '@svc/api';
import { dependentsOf, type IntentSources, intentOf, planStop } from '@svc/core';
import { openChoices } from '@svc/platform/choices/choices';
import { withConsequences } from '@svc/platform/choices/consequences';
import { type Home, resolveHome } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { type HomeLock, lockHome } from '@svc/platform/process/home-lock';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import type { Storage } from '@svc/platform/storage/storage';
import { intentSources, presetOf, requiredSecurity } from '../boot/start-rules.js';
import { daemonErrors } from '../errors.js';
import { type Release, readRelease } from '../release.js';
import { localFact } from './local-audit.js';
import { type LocalSettings, settingsOf, withStorage } from './local-storage.js';

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
    const settings = await settingsOf(home, change.env);
    return await withStorage(home, databaseUrlOf(settings), async (storage, clock) => {
      // A daemon that runs has its tables.
      if (lock) await storage.migrate(kernelTables, kernelMigrations);
      return decide(change, settings, release, { storage, clock });
    });
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

async function decide({ action, agrees, id }: LocalChange, config: LocalSettings, release: Release, place: { storage: Storage; clock: Clock }): Promise<LocalOutcome> {
  const preset = presetOf(release, config);
  const choices = await openChoices(place.storage.dbFor(kernelTables), place.clock);
  const sources = intentSources(choices.all, config, preset);
  const plan = withConsequences(planOf(action, id, release, sources), { installed: release.extensions, required: requiredSecurity(preset.preset, config) });
  const isWanted = wanted(action, id, sources);
  if (!(await agrees(plan))) return { plan, isWritten: false, isWanted };
  const act = { type: `extension_${DONE[action]}`, command: `svc ext ${action}`, name: id };
  // Who switches the trail on or off is in it.
  const during = isWanted ? { ...sources, choices: new Map([...choices.all, [id, true]]) } : sources;
  await choices.set(id, action === 'reset' ? undefined : isWanted, localFact(place, release, during, act, { outcome: 'ok' }));
  return { plan, isWritten: true, isWanted };
}

const DONE = { enable: 'enabled', disable: 'disabled', reset: 'reset' } as const;

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
