/**
 * One import, from its beginning or from where an earlier life of the daemon was.
 *
 * D1  What is done stands in rows, in the commit that did it. Whoever goes on leaves that out.
 * D2  What can be imported depends on the person as they are now: a lowered role or a lost person ends it.
 */
import { type Clock, type Db, type Dir, type Events, type Files, isSvcError, type Journal, type LeasedRun, type Logger, type Actors } from '@svc/api';
import { MigrateChanged, type ImportRow } from '../contract.js';
import { listIn } from '../report.js';
import type { SourceFinder } from '../sources/find.js';
import type { Source, SourceType } from '../sources/model.js';
import type { ImportStore } from '../store.js';
import { importAgents } from './agents.js';
import type { Import, ImportOptions, ImportServices } from './context.js';
import { importCrons, importMemories, importSecrets, importSkills, importWorkspaces, nameTheRest } from './rest.js';
import { importSessions } from './sessions.js';

export interface DriveDeps {
  readonly services: ImportServices;
  readonly finder: SourceFinder;
  readonly store: ImportStore;
  readonly journal: Journal;
  readonly actors: Pick<Actors, 'of'>;
  readonly db: Pick<Db, 'commit'>;
  readonly clock: Clock;
  readonly events: Events;
  readonly files: Pick<Files, 'root'>;
  readonly log: Logger;
  readonly closing: AbortSignal;
}

const MAX_WARNINGS = 500;

const STEPS: ReadonlyArray<readonly [string, (run: Import) => Promise<void>]> = [
  ['agents', importAgents],
  ['workspaces', importWorkspaces],
  ['memories', importMemories],
  ['skills', importSkills],
  ['sessions', importSessions],
  ['jobs', importCrons],
  ['secrets', importSecrets],
  ['report', nameTheRest],
];

export const driveImport = async (deps: DriveDeps, leased: LeasedRun): Promise<void> => {
  const { importId } = leased.input as { importId: string }; // what `start` stored
  const row = await deps.store.row(importId);
  if (!row || row.status === 'completed' || row.status === 'failed') return deps.journal.advance(leased, { finish: { status: 'cancelled' } });
  try {
    await imported(deps, leased, row);
  } catch (error) {
    if (deps.closing.aborted || leased.signal.aborted || (isSvcError(error) && error.code === 'journal_lease_lost')) throw error;
    const isOwn = isSvcError(error) && error.status < 500;
    if (!isOwn) deps.log.warn('an import failed', { import: row.id, cause: error });
    await end(deps, leased, row, { status: 'failed', error: isOwn ? error.message : 'The import failed; the log says why. Start it once more: what is here is not imported again.' });
  }
};

const imported = async (deps: DriveDeps, leased: LeasedRun, row: ImportRow): Promise<void> => {
  const source = await deps.finder.open(row.source as SourceType, row.path); // as `start` stored it
  const warnings = new Set([...listIn(row.warnings), ...source.warnings]);
  try {
    const run = importOf(deps, leased, row, source, warnings);
    const total = await totalOf(source);
    for (const [step, work] of STEPS) {
      run.alive();
      await deps.db.commit([deps.store.update(row.id, { status: 'running', step, total, warnings: JSON.stringify([...warnings]) }), changed(deps, row, 'running')]);
      await work(run);
    }
  } finally {
    await source.close();
  }
  await end(deps, leased, row, { status: 'completed', warnings: JSON.stringify([...warnings]) });
};

/** Items that will be looked at. Branches come to them. */
const totalOf = async (source: Source): Promise<number> => {
  const { agents, skills, crons, channels, secrets, remarks } = source;
  const ofAgents = agents.reduce((sum, { files, memories, pairs }) => sum + 1 + files.length + memories.length + pairs.length, 0);
  return ofAgents + skills.length + crons.length + channels.length + secrets.length + remarks.length + (await source.countSessions());
};

const importOf = (deps: DriveDeps, leased: LeasedRun, row: ImportRow, source: Source, warnings: Set<string>): Import => ({
  ...deps.services,
  id: row.id,
  actor: deps.actors.of(row.owner_id),
  source,
  options: (typeof row.options === 'string' ? JSON.parse(row.options) : row.options) as ImportOptions, // what `start` stored
  isDry: Number(row.dry_run) === 1,
  isRunning: source.warnings.some((warning) => / is running \(process/.test(warning)),
  store: deps.store,
  clock: deps.clock,
  db: deps.db,
  events: deps.events,
  workspaces: (): Dir => deps.files.root('workspaces'),
  targets: new Map(),
  warn: (message) => {
    if (warnings.size < MAX_WARNINGS) warnings.add(message);
  },
  alive: () => {
    leased.signal.throwIfAborted();
    deps.closing.throwIfAborted();
  },
});

type Status = 'queued' | 'running' | 'completed' | 'failed';

export const changed = ({ events }: Pick<DriveDeps, 'events'>, { id, owner_id: ownerId }: Pick<ImportRow, 'id' | 'owner_id'>, status: Status) => events.event(MigrateChanged, { id, ownerId, status });

const end = (deps: DriveDeps, leased: LeasedRun, row: ImportRow, set: Partial<ImportRow> & { readonly status: 'completed' | 'failed' }): Promise<void> =>
  deps.journal.advance(leased, {
    finish: set.status === 'completed' ? { status: 'done' } : { status: 'failed', error: { code: 'migrate_failed', message: set.error ?? '' } },
    also: [deps.store.update(row.id, { ...set, step: 'done', ended_at: deps.clock.iso() }), changed(deps, row, set.status)],
  });
