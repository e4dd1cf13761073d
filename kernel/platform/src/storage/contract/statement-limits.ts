/**
 * How long a statement may take, and how much it may read, by who made it.
 *
 * D1  A statement that takes longer is interrupted, and its caller is told `storage_too_slow`.
 * D2  A third-party extension loses time on nobody's account but its own: who was late is told to `onSlow`, and for a
 *     while its other commits are refused before they reach the database.
 */
import { performance } from 'node:perf_hooks';
import { storageErrors } from './errors.js';
import type { TableNames } from './table-names.js';

export interface StatementLimits {
  /** A read, or one commit. */
  readonly statementMs: number;
  readonly migrationMs: number;
  /** Rows of one read, in bytes as they stand in memory. */
  readonly readBytes: number;
}

export interface StorageLimits {
  /** Of the kernel and of what is shipped. */
  readonly own: StatementLimits;
  readonly thirdParty: StatementLimits;
}

const MIB = 1_048_576;
const WATCHED_MS = 60_000;

export const DEFAULT_LIMITS: StorageLimits = {
  own: { statementMs: 60_000, migrationMs: 3_600_000, readBytes: 64 * MIB },
  thirdParty: { statementMs: 2_000, migrationMs: 10_000, readBytes: 8 * MIB },
};

/** Who a statement is made for; of a read also who reads, such as `system: pruning`. */
export type StatementOwner = Pick<TableNames, 'id' | 'isThirdParty'> & Partial<Pick<TableNames, 'isPlatform'>> & { readonly reader?: string };

/** What the storage itself reads. */
export const KERNEL: StatementOwner = { id: 'kernel', isThirdParty: false, isPlatform: true };

/** Time that a statement of a third-party extension took and should not have. */
export interface SlowStatement {
  readonly ownerId: string;
  readonly kind: 'read' | 'write' | 'migration';
  readonly ms: number;
  /** Of a read: as whom, or why with no actor. */
  readonly reader?: string | undefined;
}

export interface StatementRules {
  limitsOf(owner: { readonly isThirdParty: boolean }): StatementLimits;
  /** Without end for the kernel and the journal: a few large messages must not keep all the others from being taken up. */
  readBytesOf(owner: StatementOwner): number;
  /** Notes time that was lost, and refuses what else the owner has waiting (D2). */
  late(owner: StatementOwner, kind: SlowStatement['kind'], ms: number): void;
  /** Notes what a part of a commit took, where that is more than half of what it may. */
  took(ownerId: string, ms: number): void;
  /** Some of these made a batch long: for a while each part of their commits is timed by itself. */
  watch(owners: Iterable<string>): void;
  isWatched(owners: Iterable<string>): boolean;
  /** Throws `storage_late_owner` where one of these owners was late a moment ago. */
  refuseLate(owners: Iterable<string>): void;
}

export const createStatementRules = (limits = (): StorageLimits => DEFAULT_LIMITS, onSlow?: (slow: SlowStatement) => void): StatementRules => {
  const lateUntil = new Map<string, number>();
  const watchedUntil = new Map<string, number>();
  return {
    limitsOf: ({ isThirdParty }) => (isThirdParty ? limits().thirdParty : limits().own),
    readBytesOf: ({ isPlatform = false, isThirdParty }) => (isPlatform ? Number.POSITIVE_INFINITY : (isThirdParty ? limits().thirdParty : limits().own).readBytes),
    late: ({ id, isThirdParty, reader }, kind, ms) => {
      if (!isThirdParty) return;
      if (kind === 'write') lateUntil.set(id, performance.now() + limits().thirdParty.statementMs);
      onSlow?.({ ownerId: id, kind, ms, reader });
    },
    took: (ownerId, ms) => {
      if (ms > limits().thirdParty.statementMs / 2) onSlow?.({ ownerId, kind: 'write', ms });
    },
    watch: (owners) => {
      for (const id of owners) watchedUntil.set(id, performance.now() + WATCHED_MS);
    },
    isWatched: (owners) => {
      if (watchedUntil.size === 0) return false;
      for (const id of owners) {
        const until = watchedUntil.get(id);
        if (until === undefined) continue;
        if (until > performance.now()) return true;
        watchedUntil.delete(id);
      }
      return false;
    },
    refuseLate: (owners) => {
      if (lateUntil.size === 0) return;
      const now = performance.now();
      for (const id of owners) {
        const until = lateUntil.get(id);
        if (until === undefined) continue;
        if (until > now) throw storageErrors.late_owner(id, secondsOf(limits().thirdParty.statementMs));
        lateUntil.delete(id);
      }
    },
  };
};

export const secondsOf = (ms: number): number => Math.max(0.1, Math.round(ms / 100) / 10);
