/**
 * The bin: rows of an agent or a session, of every area, out of their tables until they come back or are erased (decision 0017).
 *
 * T1  A row is in its table or in the bin, never in both and never in neither: one commit moves it.
 * T2  Where it was interrupted it goes on: an item says whether it is on its way there or back.
 * T3  What is erased is erased here too: a purge of the person, of the agent or of the session takes it, and the end of its time.
 * T4  A row whose table is not there now (its area is off) waits until it is. One whose place was taken meanwhile is dropped and named in the log.
 */
import type { Actor, Db, Logger, PurgeSubject, Row, Scalar, TableDecl, Trash, TrashItem, TrashKind, Write } from '@svc/api';
import { createTurns, isSvcError, type Turns } from '@svc/api';
import type { TimerClock } from '../clock/clock.js';
import { journalOwner } from '../journal/rows/journal-migrations.js';
import { type Condition, conditionOf, deepestFirst, quoted } from './row-removal.js';

export interface TrashDeps {
  /** The kernel's own tables. */
  readonly db: Db;
  dbOf(area: string, tables: readonly string[]): Db;
  /** Tables of the areas that are on, those that use others first. */
  areas(): ReadonlyArray<{ readonly id: string; readonly tables: readonly TableDecl[] }>;
  /** What areas hold of it in memory is stale. */
  moved(subject: PurgeSubject): Promise<void>;
  purge(subject: PurgeSubject): Promise<unknown>;
  readonly clock: Pick<TimerClock, 'now'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export interface PlatformTrash extends Omit<Trash, 'holds'> {
  /** Whether the bin has a row of this table of an area with this value. */
  holds(area: string, table: string, column: string, value: string): Promise<boolean>;
  /** Takes what belongs to a subject out of the bin for good. */
  erase(subject: PurgeSubject): Promise<void>;
  /** Goes on with what was interrupted, and erases what has been there long enough. */
  settle(): Promise<void>;
}

const BATCH = 50;
const PURPOSE = 'the bin';
const MAX_RACES = 20;
const SETTLED_AT_ONCE = 100;

interface HeaderRow {
  readonly kind: TrashKind;
  readonly id: string;
  readonly owner_id: string;
  readonly agent_id: string | null;
  readonly about: string;
  readonly deleted_at: string;
  readonly keep_until: string;
  readonly state: 'moving' | 'there' | 'returning';
}

interface BodyRow {
  readonly n: number;
  readonly area: string;
  readonly name: string;
  readonly body: string;
}

export const createTrash = (deps: TrashDeps): PlatformTrash => {
  const inTurn = createTurns();
  return {
    put: (item) => inTurn(`${item.kind} ${item.id}`, () => put(deps, item)),
    restore: (kind, id) => inTurn(`${kind} ${id}`, () => restore(deps, kind, id)),
    list: (actor, kind, query) => list(deps, actor, kind, query),
    find: async (actor, kind, id) => {
      const row = await deps.db.as(actor).first<HeaderRow>({ from: 'trash', where: { kind, id } });
      return row && row.state !== 'returning' && row.keep_until > nowOf(deps) ? toItem(row) : undefined;
    },
    holds: (area, table, column, value) => holds(deps, { area, name: table }, column, value),
    erase: (subject) => erase(deps, subject),
    settle: () => settle(deps, inTurn),
  };
};

const nowOf = ({ clock }: TrashDeps): string => new Date(clock.now()).toISOString();

const subjectOf = (kind: TrashKind, id: string): PurgeSubject => (kind === 'agent' ? { agentId: id } : { sessionId: id });

/** Conflicts where the item was erased, or somebody brings it back. */
const guard = ({ db }: TrashDeps, kind: TrashKind, id: string, state: HeaderRow['state']): Write =>
  db.sql(`UPDATE ${db.table('trash')} SET state = state WHERE kind = ? AND id = ? AND state = ?`, [kind, id, state], { expect: 1 });

const setState = ({ db }: TrashDeps, kind: TrashKind, id: string, state: HeaderRow['state']): Write => db.update('trash', ['kind', 'id'], [{ kind, id, state }], { expect: 'each' });

const put = async (deps: TrashDeps, item: TrashItem): Promise<void> => {
  const { db } = deps;
  const { kind, id } = item;
  const header = { kind, id, owner_id: item.ownerId, agent_id: item.agentId, about: JSON.stringify(item.about), deleted_at: item.deletedAt, keep_until: item.keepUntil, state: 'moving' };
  const again = db.sql(`UPDATE ${db.table('trash')} SET state = 'moving' WHERE kind = ? AND id = ? AND state = 'there'`, [kind, id]);
  await db.commit([db.insert('trash', [header], { ifAbsent: true }), again]);
  await moveAway(deps, kind, id);
};

const moveAway = async (deps: TrashDeps, kind: TrashKind, id: string): Promise<void> => {
  const { db } = deps;
  const { last } = (await db.system(PURPOSE).readOne<{ last: number | null }>(`SELECT MAX(n) AS last FROM ${db.table('trash_rows')} WHERE kind = ? AND id = ?`, [kind, id])) ?? { last: null };
  const place = { kind, id, n: Number(last ?? 0) };
  const subject = subjectOf(kind, id);
  for (const { id: area, tables } of deps.areas()) {
    const own = deps.dbOf(
      area,
      tables.map(({ name }) => name),
    );
    for (const table of deepestFirst(tables)) {
      const condition = conditionOf(own, tables, table, subject);
      if (condition) await moveRows(deps, { area, db: own, table }, condition, place);
    }
  }
  await moveRuns(deps, subject, place);
  await db.commit([setState(deps, kind, id, 'there')]);
  await deps.moved(subject);
};

interface Source {
  readonly area: string;
  readonly db: Db;
  readonly table: Pick<TableDecl, 'name' | 'primaryKey' | 'owner'> & { readonly columns?: TableDecl['columns'] };
}

interface Place {
  readonly kind: TrashKind;
  readonly id: string;
  n: number;
}

/** Words that rows are found by are made again by the area that made them. */
const columnsOf = ({ table }: Source): string =>
  table.columns === undefined
    ? '*'
    : Object.entries(table.columns)
        .filter(([, { kind }]) => kind !== 'words')
        .map(([name]) => quoted(name))
        .join();

/** T1: in commits of a few rows, so that other writers come between. Where one of them, or the move of a session of the agent, took a row first, the rest is read again. */
const moveRows = async (deps: TrashDeps, source: Source, condition: Condition, place: Place): Promise<void> => {
  const { db: own, table, area } = source;
  const key = table.primaryKey.map(quoted).join(', ');
  const sql = `SELECT ${columnsOf(source)} FROM ${own.table(table.name)} WHERE ${condition.sql} ORDER BY ${key} LIMIT ${BATCH}`;
  for (let races = 0; ; ) {
    const rows = await own.system(PURPOSE).read<Row>(sql, condition.args);
    if (rows.length === 0) return;
    const bodies = rows.map((row, index) => ({
      kind: place.kind,
      id: place.id,
      n: place.n + index + 1,
      area,
      name: table.name,
      owner_id: table.owner === undefined ? null : textOrNull(row[table.owner]),
      body: JSON.stringify(row),
    }));
    try {
      await deps.db.commit([
        guard(deps, place.kind, place.id, 'moving'),
        deps.db.insert('trash_rows', bodies),
        ...rows.map((row) => own.remove(table.name, keyOf(table.primaryKey, row), { expect: 1 })),
      ]);
    } catch (error) {
      races += 1;
      if (races > MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
      continue;
    }
    races = 0;
    place.n += rows.length;
  }
};

const keyOf = (primaryKey: readonly string[], row: Row): Record<string, Scalar> => Object.fromEntries(primaryKey.map((column) => [column, row[column] ?? null]));

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Those that are over: what goes on was stopped before, and is erased with the rest if it was not. */
const moveRuns = async (deps: TrashDeps, { agentId, sessionId }: PurgeSubject, place: Place): Promise<void> => {
  const own = deps.dbOf(journalOwner.id, journalOwner.tables);
  const ended = "status IN ('done', 'failed', 'cancelled')";
  const of: Condition = agentId === undefined ? { sql: `(session_id = ? OR lane = ?) AND ${ended}`, args: [sessionId ?? '', sessionId ?? ''] } : { sql: `subject = ? AND ${ended}`, args: [agentId] };
  const ofSteps: Condition = { sql: `run_id IN (SELECT id FROM ${own.table('runs')} WHERE ${of.sql})`, args: of.args };
  await moveRows(deps, { area: journalOwner.id, db: own, table: { name: 'steps', primaryKey: ['run_id', 'seq'] } }, ofSteps, place);
  await moveRows(deps, { area: journalOwner.id, db: own, table: { name: 'runs', primaryKey: ['id'], owner: 'owner_id' } }, of, place);
};

const restore = async (deps: TrashDeps, kind: TrashKind, id: string): Promise<boolean> => {
  const { db } = deps;
  const header = await db.system(PURPOSE).first<HeaderRow>({ from: 'trash', where: { kind, id } });
  if (!header || header.keep_until <= nowOf(deps)) return false;
  await db.commit([setState(deps, kind, id, 'returning')]);
  await moveBack(deps, kind, id);
  return true;
};

/** T4. Resolves when all that has a place is there. */
const moveBack = async (deps: TrashDeps, kind: TrashKind, id: string): Promise<void> => {
  const { db } = deps;
  const places = new Map<string, Db>(
    deps.areas().map(({ id: area, tables }) => [
      area,
      deps.dbOf(
        area,
        tables.map(({ name }) => name),
      ),
    ]),
  );
  const columns = new Map(deps.areas().flatMap(({ id: area, tables }) => tables.map((table) => [`${area}/${table.name}`, new Set(Object.keys(table.columns))] as const)));
  places.set(journalOwner.id, deps.dbOf(journalOwner.id, journalOwner.tables));
  let waiting = 0;
  let dropped = 0;
  for (let after = 0; ; ) {
    const rows = await db
      .system(PURPOSE)
      .select<BodyRow>({ from: 'trash_rows', columns: ['n', 'area', 'name', 'body'], where: { kind, id, n: { gt: after } }, order: [{ column: 'n' }], limit: BATCH });
    const last = rows.at(-1);
    if (!last) break;
    after = Number(last.n);
    for (const group of sameTable(rows)) {
      const [{ area, name }] = group;
      const own = places.get(area);
      const known = columns.get(`${area}/${name}`);
      if (!own || (area !== journalOwner.id && !known)) {
        waiting += group.length;
        continue;
      }
      const bodies = group.map(({ body }) => onlyKnown(JSON.parse(body) as Row, known));
      const { changes } = await db.commit([guard(deps, kind, id, 'returning'), own.insert(name, bodies, { ifAbsent: true }), db.remove('trash_rows', { kind, id, n: group.map(({ n }) => n) })]);
      dropped += bodies.length - (changes[1] ?? bodies.length);
    }
  }
  if (waiting === 0) await db.commit([db.remove('trash', { kind, id })]);
  if (waiting + dropped > 0) deps.log.warn('not all that was in the bin could be put back', { kind, id, waiting_for_areas: waiting, place_taken: dropped });
  await deps.moved(subjectOf(kind, id));
};

/** A column that is gone since has no place. */
const onlyKnown = (row: Row, known: ReadonlySet<string> | undefined): Row => (known === undefined ? row : Object.fromEntries(Object.entries(row).filter(([column]) => known.has(column))));

type Group = readonly [BodyRow, ...BodyRow[]];

const sameTable = (rows: readonly BodyRow[]): Group[] => {
  const groups: [BodyRow, ...BodyRow[]][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && last[0].area === row.area && last[0].name === row.name) last.push(row);
    else groups.push([row]);
  }
  return groups;
};

const list = async (deps: TrashDeps, actor: Actor, kind: TrashKind, { limit, offset = 0, agentId }: Parameters<Trash['list']>[2]): ReturnType<Trash['list']> => {
  const where = { kind, state: ['moving', 'there'], keep_until: { gt: nowOf(deps) }, ...(agentId === undefined ? {} : { agent_id: agentId }) };
  const reader = deps.db.as(actor);
  const order = [{ column: 'deleted_at', descending: true }, { column: 'id' }];
  const [rows, total] = await Promise.all([reader.select<HeaderRow>({ from: 'trash', where, order, limit, offset }), reader.count('trash', where)]);
  return { items: rows.map(toItem), total };
};

/** The text is looked for first, so that few rows are parsed. */
const holds = async ({ db }: TrashDeps, { area, name }: Pick<BodyRow, 'area' | 'name'>, column: string, value: string): Promise<boolean> => {
  const literal = JSON.stringify(value).replaceAll(/[\\%_]/g, (letter) => `\\${letter}`);
  const sql = `SELECT body FROM ${db.table('trash_rows')} WHERE area = ? AND name = ? AND body LIKE ? ESCAPE '\\'`;
  const rows = await db.system(PURPOSE).read<Pick<BodyRow, 'body'>>(sql, [area, name, `%${literal}%`]);
  return rows.some(({ body }) => (JSON.parse(body) as Row)[column] === value);
};

const toItem = (row: HeaderRow): TrashItem => ({
  kind: row.kind,
  id: row.id,
  ownerId: row.owner_id,
  agentId: row.agent_id,
  about: JSON.parse(row.about) as TrashItem['about'], // as it was put there
  deletedAt: row.deleted_at,
  keepUntil: row.keep_until,
});

/** T3. The item goes first, so that nothing is moved there any more. */
const erase = async ({ db }: TrashDeps, { ownerId, agentId, sessionId }: PurgeSubject): Promise<void> => {
  const [items, rows] = [db.table('trash'), db.table('trash_rows')];
  const [sql, args] =
    ownerId !== undefined
      ? ['owner_id = ?', [ownerId]]
      : agentId !== undefined
        ? ["((kind = 'agent' AND id = ?) OR agent_id = ?)", [agentId, agentId]]
        : ["(kind = 'session' AND id = ?)", [sessionId ?? '']];
  await db.commit([
    db.sql(`DELETE FROM ${rows} WHERE (kind, id) IN (SELECT kind, id FROM ${items} WHERE ${sql})`, args),
    ...(ownerId === undefined ? [] : [db.remove('trash_rows', { owner_id: ownerId })]),
    db.sql(`DELETE FROM ${items} WHERE ${sql}`, args),
  ]);
};

const settle = async (deps: TrashDeps, inTurn: Turns): Promise<void> => {
  const { db } = deps;
  const open = await db.system(PURPOSE).select<HeaderRow>({ from: 'trash', where: { state: ['moving', 'returning'] }, limit: SETTLED_AT_ONCE });
  for (const { kind, id, state } of open)
    await inTurn(`${kind} ${id}`, () => (state === 'moving' ? moveAway : moveBack)(deps, kind, id)).catch((cause: unknown) => {
      // Erased, or taken the other way, since it was read.
      if (!isSvcError(cause) || cause.code !== 'storage_conflict') throw cause;
    });
  for (;;) {
    const over = await db.system(PURPOSE).select<HeaderRow>({ from: 'trash', where: { keep_until: { lte: nowOf(deps) } }, order: [{ column: 'keep_until' }], limit: SETTLED_AT_ONCE });
    for (const { kind, id } of over) await deps.purge(subjectOf(kind, id));
    if (over.length > 0) deps.log.info('what was long enough in the bin is erased', { items: over.length });
    if (over.length < SETTLED_AT_ONCE) return;
  }
};
