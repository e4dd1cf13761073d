/** `ctx.db` over an engine: reads as they are, writes to the owner's tables only. */
import type { Db, Write } from '@svc/api';
import type { Engine } from './engine.js';
import { createTemplates, targetOf } from './sql-template.js';
import type { TableNames } from './table-names.js';

/** Shared by all handles: the texts are constants of the code. */
const template = createTemplates();

export const createDb = (engine: Engine, names: TableNames): Db => {
  const read = async <T>(sql: string, args: readonly (string | number | null)[] = []): Promise<T[]> =>
    // The caller names the shape of its own SELECT.
    (await engine.read(sql, args)) as T[];
  return {
    table: names.physical,
    read,
    // Reads to the end: a statement left on its first row would keep an old snapshot open.
    readOne: async (sql, args) => (await read<never>(sql, args))[0],
    commit: (writes) => {
      try {
        for (const write of writes) checkOwner(names, write);
      } catch (error) {
        return Promise.reject(error);
      }
      return engine.commit(writes);
    },
  };
};

const checkOwner = (names: TableNames, write: Write): void => {
  if ('event' in write) return;
  if ('sql' in write) names.checkWrite(targetOf(template(write.sql)));
  else if ('insert' in write) names.checkWrite(write.insert);
  else names.checkWrite('update' in write ? write.update : write.upsert);
};
