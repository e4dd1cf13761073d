/**
 * Keeps events for durable listeners, in the commit that causes them. Bounded: the oldest go.
 * `id` says in which order they were written; their numbers are given later, by whoever hands them on.
 */
import type { Clock, Logger } from '@svc/api';
import { storageErrors } from './errors.js';
import type { Event, Unit } from './write-compiler.js';
import type { WriteQueue } from './write-queue.js';

/** SQL that makes the table, given what this engine calls a key that counts up by itself. */
export const createEvents = (key: string, text: string, number: string): string =>
  [
    `CREATE TABLE IF NOT EXISTS kernel__events (id ${key}, seq ${number} UNIQUE, name ${text} NOT NULL, data ${text} NOT NULL, at ${text} NOT NULL)`,
    'CREATE INDEX IF NOT EXISTS kernel__events_new ON kernel__events (id) WHERE seq IS NULL',
  ].join(';');

const MAX_EVENTS = 100_000;
const PRUNE_EVERY = 1_000;
const PRUNE = `DELETE FROM kernel__events WHERE id <= (SELECT max(id) FROM kernel__events) - ${MAX_EVENTS};`;

export interface EventStoreOptions {
  queue: Pick<WriteQueue, 'commit'>;
  literal(value: string): string;
  clock: Clock;
  log: Logger;
  isStored(event: string): boolean;
}

export const createEventStore = (options: EventStoreOptions): { sqlOf(event: Event): string | undefined } => {
  let sincePrune = 0;
  return {
    sqlOf({ event, data }) {
      if (!options.isStored(event)) return undefined;
      const text = JSON.stringify(data);
      if (text === undefined) throw storageErrors.bad_write(`the event ${event} has no data that JSON can represent`);
      sincePrune += 1;
      if (sincePrune >= PRUNE_EVERY) {
        sincePrune = 0;
        void prune(options);
      }
      return `INSERT INTO kernel__events(name,data,at) VALUES(${[event, text, options.clock.iso()].map(options.literal).join()})`;
    },
  };
};

const prune = async ({ queue, log }: EventStoreOptions): Promise<void> => {
  const unit: Unit = { id: 0, sql: PRUNE, changes: [], counted: false, statements: [{ sql: PRUNE, check: undefined }], events: [], rows: 0 };
  try {
    await queue.commit(unit);
  } catch (error) {
    log.warn('Old events could not be deleted; the next round tries again.', { error });
  }
};
