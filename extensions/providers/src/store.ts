import type { Db } from '@svc/api';

/** Base URLs that were saved at run time. */
export interface SettingsStore {
  baseUrls(): Promise<Map<string, string>>;
  saveBaseUrl(name: string, baseUrl: string, at: string): Promise<void>;
}

const MAX_ROWS = 500;

export const createSettingsStore = (db: Db): SettingsStore => {
  const table = db.table('settings');
  return {
    baseUrls: async () => {
      const rows = await db.read<{ name: string; base_url: string }>(`SELECT name, base_url FROM ${table} ORDER BY name LIMIT ${MAX_ROWS}`);
      return new Map(rows.map((row) => [row.name, row.base_url]));
    },
    saveBaseUrl: async (name, baseUrl, at) => {
      await db.commit([{ upsert: table, key: ['name'], rows: [{ name, base_url: baseUrl, updated_at: at }] }]);
    },
  };
};
