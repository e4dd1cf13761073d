/** Keeps events for durable listeners, in the commit that causes them. Bounded: the oldest go. */
import type { Clock, Logger } from '@svc/api';
import { storageErrors } from './errors.js';
import type { Event, Unit } from './write-compiler.js';
import type { WriteQueue } from './write-queue.js';

const MAX_EVENTS = 100_000;
const PRUNE_EVERY = 1_000;
const PRUNE = `DELETE FROM kernel_events WHERE seq <= (SELECT max(seq) FROM kernel_events) - ${MAX_EVENTS};`;

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
      if (text === undefined) throw storageErrors.bad_write(`the event ${event} carries nothing that JSON can hold`);
      sincePrune += 1;
      if (sincePrune >= PRUNE_EVERY) {
        sincePrune = 0;
        void prune(options);
      }
      return `INSERT INTO kernel_events(name,data,at) VALUES(${[event, text, options.clock.iso()].map(options.literal).join()})`;
    },
  };
};

const prune = async ({ queue, log }: EventStoreOptions): Promise<void> => {
  const unit: Unit = { id: 0, sql: PRUNE, changes: [], counted: false, statements: [{ sql: PRUNE, check: undefined }], events: [], rows: 0 };
  try {
    await queue.commit(unit);
  } catch (error) {
    log.warn('Old events could not be removed; the next round tries again.', { error });
  }
};
