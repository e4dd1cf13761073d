/** Secrets of rows: in the vault under the row's id, and in the row whether each is set. */
import type { ExtensionContext } from '../extension.js';
import { type AnyResourceSpec, snakeCase } from './spec.js';

type Given = Readonly<Record<string, unknown>>;

export const secretsOf = ({ db, secrets, trash }: Pick<ExtensionContext, 'db' | 'secrets' | 'trash'>, spec: AnyResourceSpec) => {
  const pairs = Object.entries(spec.writeOnly ?? {});
  const prefix = `${snakeCase(spec.one)}.`;
  const nameOf = (id: string, field: string): string => `${prefix}${id}.${field}`;
  const drop = async (id: string): Promise<void> => {
    for (const [field] of pairs) await secrets.delete(nameOf(id, field));
  };
  return {
    nameOf,
    drop,
    /** Whether each is set, where it is given: an empty text and null clear it. */
    flags: (given: Given): Given => Object.fromEntries(pairs.flatMap(([field, shown]) => (given[field] === undefined ? [] : [[shown, isSet(given[field])]]))),
    without: <T extends object>(item: T): T => {
      const rest: Record<string, unknown> = Object.fromEntries(Object.entries(item));
      for (const [field, shown] of pairs) {
        delete rest[field];
        rest[shown] ??= false;
      }
      return rest as T; // of a row that was read the secrets are not there either
    },
    /** Stored before the row says so, and taken back where a new row is refused. */
    around: async (id: string, given: Given, commit: () => Promise<void>): Promise<void> => {
      const stored: string[] = [];
      for (const [field] of pairs)
        if (isSet(given[field])) {
          await secrets.put(nameOf(id, field), String(given[field]));
          stored.push(nameOf(id, field));
        }
      await commit().catch(async (error: unknown) => {
        const isThere = stored.length > 0 && (await db.system('secrets of a row').first({ from: tableOf(spec), columns: ['id'], where: { id } })) !== undefined;
        if (!isThere) for (const name of stored) await secrets.delete(name);
        throw error;
      });
      for (const [field] of pairs) if (given[field] !== undefined && !isSet(given[field])) await secrets.delete(nameOf(id, field));
    },
    /** Those whose row has gone with its owner or its agent, and cannot come back. */
    sweep: async (table: string): Promise<void> => {
      for (const name of pairs.length === 0 ? [] : await secrets.list(prefix)) {
        const id = name.slice(prefix.length).split('.')[0] ?? '';
        if (await db.system('secrets without a row').first({ from: table, columns: ['id'], where: { id } })) continue;
        if (!(await trash.holds(table, 'id', id))) await secrets.delete(name);
      }
    },
  };
};

const isSet = (value: unknown): boolean => typeof value === 'string' && value !== '';

const tableOf = ({ one, many = `${one}s` }: AnyResourceSpec): string => snakeCase(many);
