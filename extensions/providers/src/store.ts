import type { Db } from '@svc/api';
import type { DefaultModel } from './contract.js';

/** What was chosen to answer for `default`, by whom and when. */
export interface StoredDefault {
  readonly provider: string;
  readonly model: string;
  /** One sentence for a person. */
  readonly reason: string;
  readonly chosenBy: Exclude<DefaultModel['chosen_by'], 'config'>;
  readonly chosenAt: string;
}

/** What a provider said of the key that is kept. */
export type Verdict = 'validated' | 'refused';

/** Where a provider is reached, as it was saved. */
export interface SavedAddress {
  readonly baseUrl: string;
  readonly proxyUrl: string | null;
}

export interface KeyState {
  /** A person removed the key while the environment held one too. */
  readonly suppressed: boolean;
  readonly verdict: Verdict | null;
}

/** What was chosen and saved at run time. */
export interface SettingsStore {
  baseUrls(): Promise<Map<string, SavedAddress>>;
  /** A proxy that is left out stays. */
  saveBaseUrl(name: string, address: { baseUrl: string; proxyUrl?: string | null }, at: string): Promise<void>;
  /** False where none was saved. */
  removeBaseUrl(name: string): Promise<boolean>;
  keyStates(): Promise<Map<string, KeyState>>;
  saveKeyState(name: string, state: KeyState, at: string): Promise<void>;
  storedDefault(): Promise<StoredDefault | undefined>;
  keepDefault(choice: StoredDefault): Promise<void>;
  /** Keeps the choice where none stands yet; gives the one that stands. Two processes that start together agree. */
  keepFirstDefault(choice: StoredDefault): Promise<StoredDefault>;
}

/** Base URLs that can be saved. */
export const MAX_ROWS = 500;
/** Providers of the list, and those with a saved URL. */
const MAX_STATES = 2_000;
const DEFAULT = 'default';

export const createSettingsStore = (db: Db): SettingsStore => {
  const storedDefault = async (): Promise<StoredDefault | undefined> => {
    const row = await db
      .system('default provider')
      .first<{ provider: string; model: string; reason: string; chosen_by: StoredDefault['chosenBy']; chosen_at: string }>({ from: 'defaults', where: { name: DEFAULT } });
    return row && { provider: row.provider, model: row.model, reason: row.reason, chosenBy: row.chosen_by, chosenAt: row.chosen_at };
  };
  return {
    baseUrls: async () => {
      const rows = await db
        .system('addresses of providers')
        .select<{ name: string; base_url: string; proxy_url: string | null }>({ from: 'settings', columns: ['name', 'base_url', 'proxy_url'], order: [{ column: 'name' }], limit: MAX_ROWS });
      return new Map(rows.map((row) => [row.name, { baseUrl: row.base_url, proxyUrl: row.proxy_url }]));
    },
    saveBaseUrl: async (name, { baseUrl, proxyUrl }, at) => {
      await db.commit([db.upsert('settings', ['name'], [{ name, base_url: baseUrl, ...(proxyUrl === undefined ? {} : { proxy_url: proxyUrl }), updated_at: at }])]);
    },
    removeBaseUrl: async (name) => (await db.commit([db.remove('settings', { name })])).changes[0] === 1,
    keyStates: async () => {
      const rows = await db.system('states of keys').select<{ name: string; suppressed: number; verdict: Verdict | null }>({
        from: 'key_states',
        columns: ['name', 'suppressed', 'verdict'],
        order: [{ column: 'name' }],
        limit: MAX_STATES,
      });
      return new Map(rows.map((row) => [row.name, { suppressed: row.suppressed === 1, verdict: row.verdict }]));
    },
    saveKeyState: async (name, { suppressed, verdict }, at) => {
      await db.commit([db.upsert('key_states', ['name'], [{ name, suppressed: suppressed ? 1 : 0, verdict, changed_at: at }])]);
    },
    storedDefault,
    keepDefault: async (choice) => {
      await db.commit([db.upsert('defaults', ['name'], [rowOf(choice)])]);
    },
    keepFirstDefault: async (choice) => {
      await db.commit([db.insert('defaults', [rowOf(choice)], { ifAbsent: true })]);
      return (await storedDefault()) ?? choice;
    },
  };
};

const rowOf = ({ provider, model, reason, chosenBy, chosenAt }: StoredDefault) => ({ name: DEFAULT, provider, model, reason, chosen_by: chosenBy, chosen_at: chosenAt });
