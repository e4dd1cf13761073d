import type { ExtensionContext } from '@svc/api';
import type { SkillRow } from './contract.js';

const TABLE = 'skills';
const PAGE = 500;

export type StoreContext = Pick<ExtensionContext, 'db' | 'files' | 'clock' | 'ids' | 'log' | 'exec'>;

export interface SkillStore {
  all(): Promise<SkillRow[]>;
  /** A new row that is there already is an error. */
  put(row: SkillRow, isKnown: boolean): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Rows of nobody: access is decided by permission alone. */
export const createSkillStore = ({ db }: StoreContext): SkillStore => ({
  all: async () => {
    const rows: SkillRow[] = [];
    for (let after = ''; ; after = rows.at(-1)?.name ?? '') {
      const page = await db.system('skills of the daemon').select<SkillRow>({ from: TABLE, where: { name: { gt: after } }, order: [{ column: 'name' }], limit: PAGE });
      rows.push(...page);
      if (page.length < PAGE) return rows;
    }
  },
  put: async (row, isKnown) => void (await db.commit([isKnown ? db.update(TABLE, ['name'], [row]) : db.insert(TABLE, [row])])),
  remove: async (name) => void (await db.commit([db.remove(TABLE, { name })])),
});
