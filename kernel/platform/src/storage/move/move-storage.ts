/**
 * Moves all data of a database into another one, of the other engine.
 *
 * V1  The source is read and not changed, but for a mark. It is the database until the copy was compared.
 * V2  Whenever a move ends, the same command goes on where it stopped. Where the source was used meanwhile, it begins anew.
 * V3  The copy counts when each table has the same number of rows and the same sum of hashes in both databases.
 */
import type { Clock, Ids } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import { IDENTITY_TABLE, type Identity, identityIn } from '../contract/migrations/identity.js';
import { copyAndCompare, planCopy } from './copy-database.js';
import type { CopiedTable, Copying } from './copy-tables.js';
import { moveErrors } from './errors.js';
import { CREATE_PROGRESS, markIn, markSql, MOVE_TABLE, type MoveMark, type MoveState, PROGRESS_TABLE, READ_MARK } from './marks.js';
import type { MoveEnd } from './move-end.js';
import { type MovedOwner, type MovePlan, ownerIn, ownersOfTables } from './move-plan.js';

const READ_IDENTITY = `SELECT id, mark FROM ${IDENTITY_TABLE}`;

export interface MoveStorage extends Copying {
  readonly owners: readonly MovedOwner[];
  /** Ids of extensions that are not installed, whose tables stay behind. */
  readonly without: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** Empties a target: of an attempt that no longer fits, or of what this source was moved away from earlier. */
  emptied(target: MoveEnd, holds: 'an attempt' | 'the data of before'): Promise<MoveEnd>;
}

export interface MoveOutcome {
  readonly tables: readonly CopiedTable[];
  /** What the moved database says of itself; undefined where the source said nothing. */
  readonly identity: Identity | undefined;
  readonly isResumed: boolean;
}

export const moveStorage = async (move: MoveStorage): Promise<MoveOutcome> => {
  const { source } = move;
  await source.hold();
  await move.target.hold();
  const plan = await planOf(move);
  const arrived = await finished(move);
  if (arrived) return arrived;
  const begun = await begin(move, plan);
  const copying = { ...move, target: begun.target };
  const tables = await copyAndCompare(copying, plan);
  return { tables, identity: await finish(copying, begun.mark), isResumed: begun.isResumed };
};

/** What would be copied; changes nothing. */
export const previewMove = async ({
  owners,
  source,
  target,
  without,
}: Pick<MoveStorage, 'owners' | 'source' | 'without'> & { readonly target: MoveEnd | undefined }): Promise<ReadonlyArray<{ readonly name: string; readonly rows: number }>> => {
  const plan = await planOf({ owners, source, without });
  if (target) await holdingOf(source, target);
  const counted = [];
  for (const { name } of plan.tables) counted.push({ name, rows: Number((await source.query(`SELECT count(*) AS n FROM ${name}`))[0]?.n) });
  return counted;
};

const planOf = async ({ owners, source, without }: Pick<MoveStorage, 'owners' | 'source' | 'without'>): Promise<MovePlan> => {
  const { openUpgrades, plan } = await planCopy(source, owners);
  if (openUpgrades.length > 0) throw moveErrors.move_upgrade_open(openUpgrades.join(', '));
  const left = new Set(without.map((id) => id.replaceAll('-', '_')));
  const unknown = plan.unknown.filter((name) => !left.has(ownerIn(name)));
  if (unknown.length > 0) throw moveErrors.move_unknown_tables(ownersOfTables(unknown));
  return plan;
};

export const markOf = async (end: MoveEnd): Promise<MoveMark | undefined> => ((await end.tables()).includes(MOVE_TABLE) ? markIn(await end.query(READ_MARK)) : undefined);

/** Of a move that ended after it counted and before the settings followed. */
const finished = async ({ source, target }: MoveStorage): Promise<MoveOutcome | undefined> => {
  const [left, arrived] = [await markOf(source), await markOf(target)];
  if (left?.state !== 'left' || arrived?.state !== 'arrived' || left.token !== arrived.token) return undefined;
  return { tables: [], identity: identityIn(await target.query(READ_IDENTITY)), isResumed: true };
};

interface Begun {
  readonly target: MoveEnd;
  readonly mark: Pick<MoveMark, 'token' | 'at'>;
  readonly isResumed: boolean;
}

const begin = async (move: MoveStorage, plan: MovePlan): Promise<Begun> => {
  const { clock, ids, source } = move;
  const [left, holds] = [await markOf(source), await holdingOf(source, move.target)];
  if (left !== undefined && holds === 'this attempt') return { target: move.target, mark: left, isResumed: true };
  if (left?.state === 'left') throw storageErrors.moved(source.place, left.other, left.at.slice(0, 10));
  const target = holds === 'an attempt' || holds === 'the data of before' ? await move.emptied(move.target, holds) : move.target;
  const mark = { token: ids.uuid(), at: clock.iso() };
  // The target first: without it a mark of the source would name an attempt that is not there.
  await target.change([...target.schema(plan.owners), ...plan.tables.map(({ name }) => `DELETE FROM ${name}`), CREATE_PROGRESS, ...marked(target, source, 'arriving', mark)]);
  await source.change(marked(source, target, 'leaving', mark));
  return { target, mark, isResumed: false };
};

const marked = (end: MoveEnd, other: MoveEnd, state: MoveState, mark: Pick<MoveMark, 'token' | 'at'>): string[] => markSql({ ...mark, state, other: other.place }, end.literal);

/** What the target holds of this source, which may be taken away. Anything else is somebody's. */
const holdingOf = async (source: MoveEnd, target: MoveEnd): Promise<'nothing' | 'this attempt' | 'an attempt' | 'the data of before'> => {
  const tables = await target.tables();
  if (tables.length === 0) return 'nothing';
  const [own, other] = [await markOf(source), await markOf(target)];
  if (other?.state === 'left' && own?.state === 'arrived' && other.token === own.token) return 'the data of before';
  if (other?.state !== 'arriving') throw moveErrors.move_target_used(target.place, tables.length > 3 ? `${tables.slice(0, 3).join(', ')} and ${tables.length - 3} more tables` : tables.join(', '));
  if (other.token === own?.token) return 'this attempt';
  // It was begun before this source was used again.
  if (other.other !== source.place) throw moveErrors.move_target_other(target.place, other.other);
  return 'an attempt';
};

/** The source is closed before the target opens: at no time both can be used. */
const finish = async ({ source, target }: Pick<MoveStorage, 'source' | 'target'>, mark: Pick<MoveMark, 'token' | 'at'>): Promise<Identity | undefined> => {
  await source.change([...marked(source, target, 'left', mark), ...source.fence()]);
  const was = identityIn(await source.query(READ_IDENTITY));
  // Newer than what it was made from: a start on the old data says so.
  const identity = was && { id: was.id, mark: was.mark + 1 };
  await target.change([
    `DELETE FROM ${IDENTITY_TABLE}`,
    ...(identity ? [`INSERT INTO ${IDENTITY_TABLE}(one, id, mark) VALUES(1, ${target.literal(identity.id)}, ${identity.mark})`] : []),
    `DROP TABLE IF EXISTS ${PROGRESS_TABLE}`,
    ...target.unfence(),
    ...marked(target, source, 'arrived', mark),
  ]);
  return identity;
};
