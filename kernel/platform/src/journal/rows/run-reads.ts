/** Reading runs and steps. */
import { type Actor, idGroups, intervalSql, type JournalRun, type JournalStep, type RunFilter, type RunRoot, type RunStatus, seesAll, startOf, type TimelineInterval } from '@svc/api';
import { ownerScope, type RunInterval, type RunSummary } from '@svc/api/internal';
import { journalErrors } from '../errors.js';
import { BY_INDEX, type JournalParts, positionAt } from '../journal-parts.js';
import { causeOf, CLAIMED, ENDED, QUEUED, RUN_COLUMNS, runOf, STEP_COLUMNS, stepOf, type RunRow, type StepRow } from './run-rows.js';

/** Why steps are read with no actor. */
const OF_STEPS = 'steps have no owner column; the text finds whose they are through their runs';

const DEFAULT_LIST = 100;
const MAX_LIST = 1_000;
const DEFAULT_SUMMARY = 1_000;
const MAX_SUMMARY = 10_000;
const STATUSES: readonly RunStatus[] = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled'];
const OPEN: readonly RunStatus[] = ['queued', 'running', 'waiting'];

export const getRun = async (parts: JournalParts, actor: Actor, runId: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.as(actor).first<RunRow>({ from: 'runs', where: { id: runId } });
  return row && runOf(row);
};

export const runByKey = async (parts: JournalParts, ownerId: string, kind: string, key: string): Promise<JournalRun | undefined> => {
  const row = await parts.db
    .system('a request that was sent again: a key belongs to one owner, also where the caller sees all')
    .first<RunRow>({ from: 'runs', where: { owner_id: ownerId, kind, request_key: key } });
  return row && runOf(row);
};

export const rootOf = async ({ db, tables: { runs } }: JournalParts, runId: string): Promise<RunRoot | undefined> => {
  const row = await db
    .system('the root of a run: its cause and age count, whoever may see it')
    .readOne<Pick<RunRow, 'id' | 'kind' | 'owner_id' | 'status' | 'created_at' | 'updated_at' | 'cause_kind' | 'cause_id'>>(
      `SELECT root.id, root.kind, root.owner_id, root.status, root.created_at, root.updated_at, root.cause_kind, root.cause_id FROM ${runs} run JOIN ${runs} root ON root.id = COALESCE(run.root_id, run.id) WHERE run.id = ?`,
      [runId],
    );
  return row && { id: row.id, kind: row.kind, ownerId: row.owner_id, cause: causeOf(row), status: row.status, createdAt: row.created_at, updatedAt: row.updated_at };
};

export const stepsOf = async ({ db, tables }: JournalParts, actor: Actor, runIds: readonly string[], kinds?: readonly string[]): Promise<Map<string, JournalStep[]>> => {
  if (kinds?.length === 0) return new Map();
  const ofKinds = kinds ? ` AND r.kind IN (${kinds.map(() => '?').join()})` : '';
  const mine = `EXISTS (SELECT 1 FROM ${tables.runs} r WHERE r.id = run_id AND (? = 1 OR r.owner_id = ?)${ofKinds})`;
  const reads = idGroups(runIds).map((group) =>
    db
      .system(OF_STEPS)
      .read<StepRow>(`SELECT ${STEP_COLUMNS} FROM ${tables.steps} WHERE run_id IN (${group.map(() => '?').join()}) AND ${mine} ORDER BY run_id, seq`, [
        ...group,
        ...ownerScope(actor),
        ...(kinds ?? []),
      ]),
  );
  const byRun = new Map<string, JournalStep[]>();
  for (const row of (await Promise.all(reads)).flat()) {
    const steps = byRun.get(row.run_id) ?? [];
    steps.push(stepOf(row));
    byRun.set(row.run_id, steps);
  }
  return byRun;
};

/** Newest first. */
export const listRuns = async (parts: JournalParts, filter: RunFilter): Promise<JournalRun[]> => {
  const found = foundBy(parts, filter);
  if (!found) return [];
  const sql = `SELECT ${RUN_COLUMNS} FROM ${parts.tables.runs} WHERE ${found.where} ORDER BY position DESC, id DESC LIMIT ?`;
  return (await parts.db.system(BY_INDEX).read<RunRow>(sql, [...found.args, Math.min(filter.limit ?? DEFAULT_LIST, MAX_LIST)])).map(runOf);
};

export const summaryOf = async (parts: JournalParts, filter: RunFilter): Promise<RunSummary> => {
  const found = foundBy(parts, filter);
  if (!found) return { runs: 0, byStatus: {}, steps: {}, meanMs: null };
  const { runs, steps } = parts.tables;
  const newest = (columns: string): string => `SELECT ${columns} FROM ${runs} WHERE ${found.where} ORDER BY position DESC, id DESC LIMIT ?`;
  const args = [...found.args, Math.min(filter.limit ?? DEFAULT_SUMMARY, MAX_SUMMARY)];
  const [rows, kinds] = await Promise.all([
    parts.db.system(BY_INDEX).read<Pick<RunRow, 'status' | 'created_at' | 'updated_at'>>(newest('status, created_at, updated_at'), args),
    parts.db.system(OF_STEPS).read<{ kind: string; n: number | string }>(`SELECT kind, COUNT(*) AS n FROM ${steps} WHERE run_id IN (${newest('id')}) GROUP BY kind`, args),
  ]);
  const byStatus: Partial<Record<RunStatus, number>> = {};
  for (const { status } of rows) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const times = rows.filter(({ status }) => status === 'done').map(msBetween);
  return {
    runs: rows.length,
    byStatus,
    // PostgreSQL gives counts as text.
    steps: Object.fromEntries(kinds.map(({ kind, n }) => [kind, Number(n)])),
    meanMs: times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0) / times.length,
  };
};

const msBetween = ({ created_at, updated_at }: Pick<RunRow, 'created_at' | 'updated_at'>): number => Date.parse(updated_at) - Date.parse(created_at);

/** All that a filter finds, by status. */
export const tallyOf = async (parts: JournalParts, filter: Omit<RunFilter, 'before' | 'limit'>): Promise<Partial<Record<RunStatus, number>>> => {
  const found = foundBy(parts, filter);
  if (!found) return {};
  const rows = await parts.db
    .system(BY_INDEX)
    .read<{ status: RunStatus; n: number | string }>(`SELECT status, COUNT(*) AS n FROM ${parts.tables.runs} WHERE ${found.where} GROUP BY status`, [...found.args]);
  return Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)]));
};

export const timelineOf = async (parts: JournalParts, filter: Omit<RunFilter, 'before' | 'limit'>, interval: TimelineInterval): Promise<RunInterval[]> => {
  const found = foundBy(parts, filter);
  if (!found) return [];
  const at = intervalSql('created_at', interval);
  const from = `FROM ${parts.tables.runs} WHERE ${found.where}`;
  const [counts, newest] = await Promise.all([
    parts.db.system(BY_INDEX).read<{ at: string; status: RunStatus; n: number | string }>(`SELECT ${at} AS at, status, COUNT(*) AS n ${from} GROUP BY ${at}, status ORDER BY ${at}`, [...found.args]),
    parts.db
      .system(BY_INDEX)
      .read<Pick<RunRow, 'created_at' | 'updated_at'> & { at: string }>(`SELECT ${at} AS at, created_at, updated_at ${from} AND status = 'done' ORDER BY position DESC, id DESC LIMIT ?`, [
        ...found.args,
        MAX_SUMMARY,
      ]),
  ]);
  const times = new Map<string, number[]>();
  for (const row of newest) {
    const own = times.get(row.at) ?? [];
    own.push(msBetween(row));
    times.set(row.at, own);
  }
  const intervals = new Map<string, Partial<Record<RunStatus, number>>>();
  for (const { at: start, status, n } of counts) intervals.set(start, { ...intervals.get(start), [status]: Number(n) });
  return [...intervals].map(([start, byStatus]) => {
    const sorted = (times.get(start) ?? []).sort((one, other) => one - other);
    return { start: startOf(start), byStatus, medianMs: quantile(sorted, 0.5), p95Ms: quantile(sorted, 0.95) };
  });
};

/** The smallest time that this share of them does not exceed. */
const quantile = (sorted: readonly number[], share: number): number | null => sorted[Math.ceil(sorted.length * share) - 1] ?? null;

type Condition = readonly [sql: string, args: ReadonlyArray<string | number>];

/** The condition of a filter; undefined where nothing can match. */
const foundBy = (parts: JournalParts, filter: RunFilter): { readonly where: string; readonly args: ReadonlyArray<string | number> } | undefined => {
  // No status at all is asked for: `IN ()` is not portable.
  if (filter.status?.length === 0) return undefined;
  const { lane, subject, parentId, rootId, isTopLevel, pool, status, since, endedSince, unclaimedBefore, before } = filter;
  // Each list is read from its newest on by one index; what would lead SQLite, which has counted nothing, to another is said so that no index answers it.
  const isSmall = lane !== undefined || subject !== undefined || parentId !== undefined || rootId !== undefined || endedSince !== undefined || (status !== undefined && !status.includes('done'));
  const conditions: readonly Condition[] = [
    ownedBy(filter.actor, isSmall),
    ...(filter.kind === undefined ? [] : [ofKind(filter.kind, lane === undefined && (isSmall || !seesAll(filter.actor)))]),
    ...(lane === undefined ? [] : [inLane(parts, lane, status)]),
    ...(subject === undefined ? [] : [['subject = ?', [subject]] as const]),
    ...(parentId === undefined ? [] : [['parent_id = ?', [parentId]] as const]),
    ...(rootId === undefined ? [] : [['(root_id = ? OR id = ?)', [rootId, rootId]] as const]),
    ...(isTopLevel === undefined ? [] : [[isTopLevel ? "COALESCE(parent_id, '') = ''" : "COALESCE(parent_id, '') <> ''", []] as const]),
    ...(pool === undefined ? [] : [[pool === null ? 'pool IS NULL' : 'pool = ?', pool === null ? [] : [pool]] as const]),
    ...(status === undefined ? [] : [inStatus(status)]),
    ...(endedSince === undefined ? [] : [[`${ENDED} AND updated_at >= ?`, [new Date(msOf(endedSince)).toISOString()]] as const]),
    ...(unclaimedBefore === undefined ? [] : [['lease_token = 0 AND created_at < ?', [new Date(msOf(unclaimedBefore)).toISOString()]] as const]),
    ...(since === undefined ? [] : [['position >= ?', [positionAt(msOf(since))]] as const]),
    ...(before === undefined ? [] : [[`(position, id) < (SELECT position, id FROM ${parts.tables.runs} WHERE id = ?)`, [before]] as const]),
  ];
  return { where: conditions.map(([sql]) => sql).join(' AND '), args: conditions.flatMap(([, args]) => args) };
};

/** All that one person has is found by whose it is; fewer by what they are about, and then validated. */
const ownedBy = (actor: Actor, isSmall: boolean): Condition => (isSmall || seesAll(actor) ? ['(? = 1 OR owner_id = ?)', ownerScope(actor)] : ['owner_id = ?', [actor.ownerId]]);

/** Whoever sees everybody's reads them in the order of their arrival, and leaves out other kinds; so does whoever reads one lane. */
const ofKind = (kind: string, isByKind: boolean): Condition => (isByKind ? ['kind = ?', [kind]] : ["kind || '' = ?", [kind]]);

/** What is unfinished in a lane is found by its own indexes, however much ended there before. */
const inLane = ({ tables: { runs } }: JournalParts, lane: string, status: RunFilter['status']): Condition =>
  status?.every((one) => OPEN.includes(one))
    ? [`id IN (SELECT id FROM ${runs} WHERE lane = ? AND ${CLAIMED} UNION ALL SELECT id FROM ${runs} WHERE lane = ? AND ${QUEUED})`, [lane, lane]]
    : ['lane = ?', [lane]];

/** Nearly all are done: they are those that are not anything else. */
const inStatus = (status: readonly RunStatus[]): Condition => {
  if (!status.includes('done')) return [`status IN (${status.map(() => '?').join()})`, status];
  const others = STATUSES.filter((one) => !status.includes(one));
  return others.length === 0 ? ['1 = 1', []] : [`status NOT IN (${others.map(() => '?').join()})`, others];
};

const msOf = (time: string): number => {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw journalErrors.bad_time(time);
  return ms;
};
