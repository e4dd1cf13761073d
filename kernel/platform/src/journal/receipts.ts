/**
 * Effects that happen once per key. The receipt is a row that joins the effect's own commit: either both are there or
 * neither, and of two that come at the same time the database lets one through.
 */
import type { Write, RunSubject } from '@svc/api';
import type { OnceRequest } from '@svc/api/internal';
import { journalErrors } from './errors.js';
import type { JournalParts } from './journal-parts.js';
import { runByKey } from './rows/run-reads.js';

type Effect<T> = (receipt: (result: T, about?: RunSubject) => readonly Write[]) => Promise<T>;

export const once = async <T>(parts: JournalParts, request: OnceRequest, effect: Effect<T>): Promise<{ result: T; replayed: boolean }> => {
  if (request.key === undefined) return { result: await effect(() => []), replayed: false };
  const earlier = await find<T>(parts, request, request.key);
  if (earlier) return earlier;
  try {
    return { result: await effect((result, about) => [parts.writes.receipt({ ...rowOf(parts, request), ...about }, parts.nextPosition(), result)]), replayed: false };
  } catch (error) {
    // Somebody may have been first with this key; any other failure is the effect's own.
    const other = await find<T>(parts, request, request.key);
    if (other) return other;
    throw error;
  }
};

const find = async <T>(parts: JournalParts, { actor, kind, fingerprint }: OnceRequest, key: string): Promise<{ result: T; replayed: true } | undefined> => {
  const run = await runByKey(parts, actor.ownerId, kind, key);
  if (!run) return undefined;
  if (run.fingerprint !== fingerprint) throw journalErrors.key_conflict(key);
  // What the effect of the same fingerprint gave its receipt.
  return { result: run.result as T, replayed: true };
};

const rowOf = (parts: JournalParts, { actor, kind, key, fingerprint }: OnceRequest) => ({
  id: parts.ids.uuid(),
  kind,
  ownerId: actor.ownerId,
  key: key ?? null,
  fingerprint,
  at: parts.clock.iso(),
});
