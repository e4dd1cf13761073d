/** What a person switched on or off, kept in the database: it comes before config.toml, and that before the preset. */
import type { Clock, Db, Write } from '@svc/api';

export interface Choices {
  readonly all: ReadonlyMap<string, boolean>;
  /** `also` is committed with it. */
  set(id: string, enabled: boolean | undefined, also?: readonly Write[]): Promise<void>;
  /** Reads anew what somebody else may have stored; resolves with the ids whose choice was made, changed or dropped. */
  refresh(): Promise<string[]>;
}

interface ChoiceRow {
  readonly id: string;
  readonly enabled: number;
  readonly at: string;
}

export async function openChoices(db: Db, clock: Clock): Promise<Choices> {
  const all = new Map<string, boolean>();
  /** When each was made: choosing the same again is news, to an area that has failed. */
  const made = new Map<string, string>();
  let setting = 0;
  let changes = 0;
  const keep = ({ id, enabled, at }: ChoiceRow): void => {
    all.set(id, enabled === 1);
    made.set(id, at);
  };
  const drop = (id: string): void => {
    all.delete(id);
    made.delete(id);
  };
  const refresh = async (): Promise<string[]> => {
    const before = changes;
    const rows = await db.system('what people chose to run').select<ChoiceRow>({ from: 'choices', columns: ['id', 'enabled', 'at'] });
    // Some of it may be the choice that is being made here, which is no news; the next look sees the rest.
    if (setting > 0 || before !== changes) return [];
    const news = rows.filter((row) => made.get(row.id) !== row.at || all.get(row.id) !== (row.enabled === 1));
    const gone = [...all.keys()].filter((id) => !rows.some((row) => row.id === id));
    for (const row of news) keep(row);
    for (const id of gone) drop(id);
    return [...news.map((row) => row.id), ...gone];
  };
  await refresh();
  return {
    all,
    refresh,
    set: async (id, enabled, also = []) => {
      const row = { id, enabled: enabled ? 1 : 0, at: clock.iso() };
      setting += 1;
      try {
        if (enabled === undefined) await db.commit([db.remove('choices', { id }), ...also]);
        else await db.commit([db.upsert('choices', ['id'], [row]), ...also]);
        if (enabled === undefined) drop(id);
        else keep(row);
      } finally {
        setting -= 1;
        changes += 1;
      }
    },
  };
}
