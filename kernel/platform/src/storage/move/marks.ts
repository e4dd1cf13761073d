/**
 * What a database knows of a move: one row in each of the two.
 *
 * M1  A source that was moved away from opens no more, and neither does a target that is not complete: of the two at most
 *     one is in use, whenever the move ends.
 * M2  A source that is opened before its move is finished forgets the move: what was copied no longer fits it.
 * M3  A database that a backup was restored into opens for the daemon that restores alone, until that has confirmed it.
 */
import type { Logger } from '@svc/api';
import type { DriverRow } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';

export const MOVE_TABLE = 'kernel_move';
export const PROGRESS_TABLE = 'kernel_move_progress';

export type MoveState = 'leaving' | 'left' | 'arriving' | 'arrived' | 'restoring' | 'restored';

export interface MoveMark {
  readonly state: MoveState;
  /** The same in source and target; of a restore the same in the home that restores. */
  readonly token: string;
  /** The other database or the backup, for people. */
  readonly other: string;
  readonly at: string;
}

/** The same text for both engines. */
export const CREATE_MARK = `CREATE TABLE IF NOT EXISTS ${MOVE_TABLE} (one integer PRIMARY KEY CHECK (one = 1), state text NOT NULL, token text NOT NULL, other text NOT NULL, at text NOT NULL)`;
export const CREATE_PROGRESS = `CREATE TABLE ${PROGRESS_TABLE} (name text PRIMARY KEY, rows bigint NOT NULL, sum text NOT NULL, place text, done integer NOT NULL)`;
export const READ_MARK = `SELECT state, token, other, at FROM ${MOVE_TABLE}`;
export const FORGET_MARK = `DELETE FROM ${MOVE_TABLE}`;

export const markSql = ({ at, other, state, token }: MoveMark, literal: (value: string) => string): string[] => [
  CREATE_MARK,
  FORGET_MARK,
  `INSERT INTO ${MOVE_TABLE} VALUES(1, ${[state, token, other, at].map(literal).join()})`,
];

const STATES: readonly MoveState[] = ['leaving', 'left', 'arriving', 'arrived', 'restoring', 'restored'];

export const markIn = ([row]: readonly DriverRow[]): MoveMark | undefined => {
  const state = STATES.find((one) => one === row?.state);
  return row && state && { state, token: String(row.token), other: String(row.other), at: String(row.at) };
};

export interface MarkCheck {
  readonly place: string;
  /** This start is part of the restore (M3). */
  readonly isRestored: boolean;
  readonly log: Logger;
  forget(): Promise<unknown>;
}

/** Rejects with `storage_moved`, `storage_move_unfinished` and `storage_restore_unfinished`. */
export const checkMark = async (mark: MoveMark | undefined, { forget, isRestored, log, place }: MarkCheck): Promise<void> => {
  if (mark?.state === 'left') throw storageErrors.moved(place, mark.other, mark.at.slice(0, 10));
  if (mark?.state === 'arriving') throw storageErrors.move_unfinished(place, mark.other);
  if (mark?.state === 'restoring' && !isRestored) throw storageErrors.restore_unfinished(place, mark.other);
  if (mark?.state !== 'leaving') return;
  await forget();
  log.info('An unfinished move of the database was given up.', { database: place, to: mark.other });
};
