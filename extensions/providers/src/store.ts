import type { Db } from '@svc/api';
import type { DefaultModel } from './contract.js';

/** What was chosen to answer for `default`, by whom and when. */
export interface KeptDefault {
  readonly provider: string;
  readonly model: string;
  /** One sentence for a person. */
  readonly reason: string;
  readonly chosenBy: Exclude<DefaultModel['chosen_by'], 'config'>;
  readonly chosenAt: string;
}

/** What was chosen and saved at run time. */
export interface SettingsStore {
  baseUrls(): Promise<Map<string, string>>;
  saveBaseUrl(name: string, baseUrl: string, at: string): Promise<void>;
  keptDefault(): Promise<KeptDefault | undefined>;
  keepDefault(choice: KeptDefault): Promise<void>;
  /** Keeps the choice where none stands yet; gives the one that stands. Two processes that start together agree. */
  keepFirstDefault(choice: KeptDefault): Promise<KeptDefault>;
}

const MAX_ROWS = 500;
const DEFAULT = 'default';

export const createSettingsStore = (db: Db): SettingsStore => {
  const keptDefault = async (): Promise<KeptDefault | undefined> => {
    const row = await db.first<{ provider: string; model: string; reason: string; chosen_by: KeptDefault['chosenBy']; chosen_at: string }>({ from: 'defaults', where: { name: DEFAULT } });
    return row && { provider: row.provider, model: row.model, reason: row.reason, chosenBy: row.chosen_by, chosenAt: row.chosen_at };
  };
  return {
    baseUrls: async () => {
      const rows = await db.select<{ name: string; base_url: string }>({ from: 'settings', columns: ['name', 'base_url'], order: [{ column: 'name' }], limit: MAX_ROWS });
      return new Map(rows.map((row) => [row.name, row.base_url]));
    },
    saveBaseUrl: async (name, baseUrl, at) => {
      await db.commit([db.upsert('settings', ['name'], [{ name, base_url: baseUrl, updated_at: at }])]);
    },
    keptDefault,
    keepDefault: async (choice) => {
      await db.commit([db.upsert('defaults', ['name'], [rowOf(choice)])]);
    },
    keepFirstDefault: async (choice) => {
      await db.commit([db.insert('defaults', [rowOf(choice)], { ifAbsent: true })]);
      return (await keptDefault()) ?? choice;
    },
  };
};

const rowOf = ({ provider, model, reason, chosenBy, chosenAt }: KeptDefault) => ({ name: DEFAULT, provider, model, reason, chosen_by: chosenBy, chosen_at: chosenAt });
