/**
 * What the command line changes without the API, for the audit trail: facts in the database, which a daemon enters as it enters its own.
 *
 * O1  Where `[audit] required` names installs, an install is stored before it happens, and does not happen when that fails.
 *     Its outcome is stored as well, whatever it is.
 * O2  What no entry is required of happens even if it cannot be stored: it may be the repair of the database.
 */
import { userInfo } from 'node:os';
import { type AuditCategory, auditFact, type AuditFact, AuditRecorded, type Clock, type Db, type Write } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import { type IntentSources, intentOf } from '@svc/core';
import { openChoices } from '@svc/platform/choices/choices';
import { systemIds } from '@svc/platform/clock/ids';
import type { Home } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import type { Storage } from '@svc/platform/storage/storage';
import { intentSources, presetOf } from '../boot/start-rules.js';
import { daemonErrors } from '../errors.js';
import type { Release } from '../release.js';
import { type LocalSettings, withStorage } from './local-storage.js';

export interface LocalAct {
  readonly type: string;
  /** As it was typed, without arguments. */
  readonly command: string;
  /** Of the extension, where it is known before the act. */
  readonly name?: string | undefined;
}

export interface LocalPlace {
  readonly home: Home;
  readonly release: Release;
  readonly settings: LocalSettings;
}

interface Outcome {
  readonly outcome: AuditFact['outcome'];
  readonly details?: AuditFact['details'];
}

/** Writes that tell of an act; none where no area keeps the trail. */
export const localFact = (
  { storage, clock }: { storage: Storage; clock: Clock },
  release: Release,
  sources: IntentSources,
  { type, command, name }: LocalAct,
  { outcome, details }: Outcome,
): Write[] => {
  const listeners = release.extensions.filter(({ id, manifest }) => manifest.events?.durable?.includes(AuditRecorded.name) && intentOf(id, sources).enabled);
  if (listeners.length === 0) return [];
  const facts = { command, ...(name === undefined ? {} : { name }), ...details };
  const fact = auditFact({ ids: systemIds(), clock }, { type, actor: systemActor('command line'), outcome, details: facts, personal: { user: userInfo().username } });
  return [storage.event('kernel', AuditRecorded.name, fact), ...listeners.map(({ id }) => beginsHere(storage.dbFor(kernelTables), id))];
};

/** A listener begins with what comes after the first start. Where there was none yet, it hears what was done before it. */
const beginsHere = (db: Db, listener: string): Write =>
  db.sql(`INSERT INTO ${db.table('offsets')}(listener, seq) SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM ${db.table('leases')} WHERE name = 'relay') ON CONFLICT (listener) DO NOTHING`, [listener]);

/** Rejects with `daemon_audit_unavailable` (O1). `detailsOf` says more of what was done. */
export const auditedInstall = async <T>(place: LocalPlace, act: LocalAct, work: () => Promise<T>, detailsOf: (done: T) => AuditFact['details']): Promise<T> => {
  const isRequired = requiredIn(place).includes('installs');
  const store = (outcome: Outcome): Promise<void> => storeFact(place, databaseUrlOf(place.settings), act, outcome);
  if (isRequired)
    await store({ outcome: 'requested' }).catch((cause: unknown) => {
      throw daemonErrors.audit_unavailable().with({ cause });
    });
  const entered = (outcome: Outcome): Promise<void> => store(outcome).catch(() => undefined); // O2
  try {
    const done = await work();
    await entered({ outcome: 'ok', details: detailsOf(done) });
    return done;
  } catch (error) {
    if (isRequired) await entered({ outcome: 'failed' });
    throw error;
  }
};

/** `url`: of the database that keeps it. */
export const storeFact = ({ home, release, settings }: LocalPlace, url: string | undefined, act: LocalAct, outcome: Outcome): Promise<void> =>
  withStorage(home, url, async (storage, clock) => {
    await storage.migrate(kernelTables, kernelMigrations);
    const db = storage.dbFor(kernelTables);
    const sources = intentSources((await openChoices(db, clock)).all, settings, presetOf(release, settings));
    await db.commit(localFact({ storage, clock }, release, sources, act, outcome));
  });

/** Installs are among them where the section cannot be read. */
const requiredIn = ({ settings }: LocalPlace): readonly AuditCategory[] => {
  // Validated by the schema that the audit area claims the section with.
  const section = settings.get('audit') as { readonly required: readonly AuditCategory[] } | undefined;
  return section?.required ?? ['installs'];
};
