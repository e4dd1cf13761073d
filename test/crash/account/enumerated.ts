/** Puts a list of points to the story, two at once, and keeps the books by family. */
import { addAccounts } from './account.js';
import { type CrashRows, familyOf } from './crash-table.js';
import type { PlannedModel } from '../planned-model.js';
import { dieAndReturn, dieInTurn } from '../scenario.js';

const AT_ONCE = 2;

export interface Plunge {
  /** Where each life ends. */
  readonly points: readonly string[];
  /** The row it counts in; the family of its first point when left out. */
  readonly row?: string;
}

/** Gives the points that were never reached. */
export const dieAtEach = async (model: PlannedModel, plunges: readonly Plunge[], rows: CrashRows): Promise<string[]> => {
  const left = [...plunges];
  const missed: string[] = [];
  const worker = async (): Promise<void> => {
    for (let plunge = left.shift(); plunge !== undefined; plunge = left.shift()) {
      const row = rows.of(plunge.row ?? familyOf(plunge.points[0] ?? ''));
      const where = plunge.points.join(', then ');
      const death = await dieAndReturn(model, plunge.points);
      row.points += 1;
      row.kills += death?.kills ?? 0;
      if (death === undefined) missed.push(where);
      else addAccounts(row.account, { ...death.account, problems: death.account.problems.map((problem) => `killed at ${where}: ${problem}`) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return missed;
};

/** The same for points of any story, in fewer lives: two homes, each with one death after another. Gives the problems, and the points that were never reached. */
export const dieInTurns = async (model: PlannedModel, points: readonly string[]): Promise<{ readonly problems: string[]; readonly missed: string[] }> => {
  const left = [...points];
  const found = { problems: [] as string[], missed: [] as string[] };
  const report = (point: string, problems: readonly string[] | undefined): void => {
    if (problems === undefined) found.missed.push(point);
    else found.problems.push(...problems.map((problem) => `killed at ${point}: ${problem}`));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => dieInTurn(model, () => left.shift(), report)));
  return found;
};
