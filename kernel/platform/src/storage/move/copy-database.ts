/** The tables of one database in another one, without marks: for whoever keeps others away from both. */
import { COPY_TABLE } from '../contract/table-copies.js';
import { type CopiedTable, copyTable, type Copying, forgetTable, readBack } from './copy-tables.js';
import { moveErrors } from './errors.js';
import { CREATE_PROGRESS, PROGRESS_TABLE } from './marks.js';
import type { MoveEnd } from './move-end.js';
import { type MovedOwner, type MovePlan, planMove } from './move-plan.js';

export interface CopyPlan {
  readonly plan: MovePlan;
  /** Extensions of which a new version is tried: its tables are there twice. */
  readonly openUpgrades: readonly string[];
}

/** Rejects with `storage_move_no_source` and `storage_move_other_version`. */
export const planCopy = async (source: MoveEnd, owners: readonly MovedOwner[]): Promise<CopyPlan> => {
  const tables = await source.tables();
  if (!tables.includes('kernel__events')) throw moveErrors.move_no_source(source.place);
  const kept = tables.includes(COPY_TABLE) ? await source.query(`SELECT owner FROM ${COPY_TABLE}`) : [];
  return { plan: planMove(owners, { tables, applied: await source.applied() }), openUpgrades: kept.map(({ owner }) => String(owner)) };
};

/** Rejects with `storage_move_differs`. */
export const copyAndCompare = async (copying: Copying, plan: MovePlan): Promise<CopiedTable[]> => {
  const tables: CopiedTable[] = [];
  for (const table of plan.tables) tables.push(await copyTable(copying, table));
  await compare(copying, plan, tables);
  return tables;
};

/** Into a target that is empty. `isCompared`: the target is read once more. */
export const copyDatabase = async (copying: Copying, plan: MovePlan, isCompared: boolean): Promise<CopiedTable[]> => {
  const { target } = copying;
  await target.change([...target.schema(plan.owners), ...plan.tables.map(({ name }) => `DELETE FROM ${name}`), CREATE_PROGRESS]);
  const tables: CopiedTable[] = [];
  if (isCompared) tables.push(...(await copyAndCompare(copying, plan)));
  else for (const table of plan.tables) tables.push(await copyTable(copying, table));
  await target.change([`DROP TABLE ${PROGRESS_TABLE}`]);
  return tables;
};

/** What differs is taken away, so that the next attempt copies it anew. */
const compare = async (copying: Copying, plan: MovePlan, copied: readonly CopiedTable[]): Promise<void> => {
  const differences: string[] = [];
  for (const [index, table] of plan.tables.entries()) {
    const [wanted, found] = [copied[index], await readBack(copying, table, copied[index]?.rows ?? 0)];
    if (wanted?.rows === found.rows && wanted.sum === found.sum) continue;
    differences.push(wanted?.rows === found.rows ? `${table.name} has the same ${found.rows} rows, but other values in them` : `${table.name} has ${found.rows} rows instead of ${wanted?.rows}`);
    await copying.target.change(forgetTable(copying.target, table.name));
  }
  if (differences.length > 0) throw moveErrors.move_differs(differences.join('; '));
};
