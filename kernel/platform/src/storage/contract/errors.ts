import { defineErrors, isSvcError, type SvcError } from '@svc/api';

/** Why a commit was refused, in `details` of `storage_conflict`. */
export interface ConflictDetails {
  /** `expect`: a row that the write expected was not there. The others: a rule of the table. */
  readonly reason: 'expect' | 'unique' | 'foreign_key';
  /** Index of the write in its commit; known for `expect` only. */
  readonly write?: number;
  /** `table.column` names of the broken unique key. */
  readonly columns?: readonly string[];
}

export const storageErrors = defineErrors('storage', {
  conflict: {
    status: 409,
    retry: true,
    message: (what: string) => `Nothing was written: ${what}.`,
    hint: 'Someone else changed it first. Read it again, then decide.',
  },
  invalid_row: { status: 500, retry: false, message: (what: string) => `The row breaks a rule of its table: ${what}.`, hint: 'This is a bug in the extension that wrote it; see the log.' },
  bad_write: { status: 500, retry: false, message: (what: string) => `The write cannot be carried out: ${what}.`, hint: 'This is a bug in the extension that wrote it.' },
  number_too_large: {
    status: 500,
    retry: false,
    message: (value: string) => `The number ${value} is beyond 2^53 and would not be exact.`,
    hint: 'Store it as text, or in a larger unit.',
  },
  unknown_table: {
    status: 500,
    retry: false,
    message: (owner: string, table: string) => `${owner} has no table "${table}".`,
    hint: 'Declare it under "tables" in extension.json. Use services to reach other extensions\' rows.',
  },
  bad_name: {
    status: 500,
    retry: false,
    message: (id: string, table: string, why: string) => `The table "${table}" of "${id}" cannot be named: ${why}.`,
    hint: 'Choose another name under "tables" in extension.json.',
  },
  reserved_owner: { status: 500, retry: false, message: (id: string) => `The id "${id}" belongs to the platform.`, hint: 'Choose another id for the extension.' },
  write_unsealed: {
    status: 500,
    retry: false,
    message: (index: number, what: string) => `Write ${index} of the commit was not sealed by this daemon: it is ${what}.`,
    hint: 'Build it with ctx.db (insert, update, upsert, remove, sql) or ctx.events.event, and pass on the object they return unchanged.',
  },
  foreign_table: {
    status: 403,
    retry: false,
    message: (owner: string, table: string) => `SQL text of ${owner} names "${table}", which is not one of its tables.`,
    hint: "Use your own tables, with ctx.db.table. Use services to reach other extensions' rows.",
  },
  sql_refused: {
    status: 500,
    retry: false,
    message: (why: string) => `The SQL text is refused: ${why}.`,
    hint: 'Write one plain statement over your own tables, without comments, that SQLite and PostgreSQL both understand.',
  },
  bad_query: { status: 500, retry: false, message: (why: string) => `The query cannot be carried out: ${why}.`, hint: 'This is a bug in the extension that sent the query.' },
  no_owner_column: {
    status: 500,
    retry: false,
    message: (owner: string, table: string) => `The table ${table} of ${owner} has no column owner_id, so it cannot be read as an actor.`,
    hint: "Add owner_id in a migration. Read rows without an owner with ctx.db.system('why').",
  },
  no_owned_table: {
    status: 500,
    retry: false,
    message: (owner: string) => `SQL text of ${owner} reads as an actor, and names no table with a column owner_id.`,
    hint: "Join a table that has owner_id, or read with ctx.db.system('why').",
  },
  search_too_long: { status: 400, retry: false, message: (limit: number) => `A search takes ${limit} words at most.`, hint: 'Leave some words out.' },
  too_many_rows: {
    status: 500,
    retry: false,
    message: (table: string, limit: number) => `A select from ${table} without a limit found more than ${limit} rows.`,
    hint: 'Set a limit, or read in pages.',
  },
  bad_cursor: { status: 400, retry: false, message: () => 'The cursor is not one that this list gave.', hint: 'Start again without a cursor. Pass "next" of a page unchanged, with the same order.' },
  full: { status: 507, retry: true, message: () => 'The disk is full: nothing was written.', hint: 'Free some space on the disk that holds the database, then try again.' },
  io: { status: 500, retry: false, message: () => 'The disk reported an error while writing.', hint: 'Check the disk and the log. A restart shows whether the last change was saved.' },
  busy: { status: 503, retry: true, message: () => 'Another program has locked the database.', hint: 'Close the other program, then try again.' },
  overloaded: { status: 503, retry: true, message: (waiting: number) => `${waiting} commits already wait for the disk.`, hint: 'Try again in a moment.' },
  too_slow: {
    status: 503,
    retry: false,
    message: (owner: string, what: 'read' | 'commit', seconds: number) => `A ${what} of ${owner} took more than ${seconds} s and was interrupted; nothing was written.`,
    hint: 'Let it touch fewer rows: add an index for its condition, or do it in several steps. The limits are [storage] statement_seconds and, for third-party extensions, [extensions] statement_seconds.',
  },
  late_owner: {
    status: 503,
    retry: true,
    message: (owner: string, seconds: number) => `Nothing was written: a commit of ${owner} took more than ${seconds} s a moment ago.`,
    hint: 'Its other commits are refused for the same time. Make that commit touch fewer rows.',
  },
  reads_waiting: {
    status: 503,
    retry: true,
    message: (owner: string, waiting: number) => `${waiting} reads of ${owner} already wait for their turn.`,
    hint: 'A third-party extension can run one read at a time. Wait for the result, or read several rows at once.',
  },
  read_too_large: {
    status: 400,
    retry: false,
    message: (owner: string, mebibytes: number) => `A read of ${owner} found more than ${mebibytes} MiB, which is the limit of one read.`,
    hint: 'Read in pages: ctx.db.page with a smaller limit, then again with "after" set to its "next"; or ask for fewer columns.',
  },
  too_large: {
    status: 400,
    retry: false,
    message: () => 'A value, pattern or statement is too large for the database.',
    hint: 'Split it into several rows, or store it as a file.',
  },
  closed: { status: 503, retry: true, message: () => 'The database is closed.', hint: 'The daemon is stopping.' },
  failed: { status: 500, retry: false, message: () => 'The database refused a statement.', hint: 'The log has the cause.' },
  unavailable: {
    status: 503,
    retry: false,
    message: (file: string, why: string) => `The database ${file} cannot be opened: ${why}.`,
    hint: 'Check that the folder exists, that this user may write there, and that the disk has space; or name another home.',
  },
  server_unavailable: {
    status: 503,
    retry: false,
    message: (place: string, why: string) => `The database ${place} cannot be used: ${why}.`,
    hint: 'Check [storage] url (user, password, host, port and name) and the server. Nothing was changed.',
  },
  unreachable: {
    status: 503,
    retry: true,
    message: (place: string, why: string) => `The database ${place} does not answer: ${why}.`,
    hint: 'Nothing was written. svc tries again with the next request.',
  },
  moved: {
    status: 409,
    retry: false,
    message: (place: string, to: string, day: string) => `The database ${place} was moved to ${to} on ${day}. The data here is old.`,
    hint: 'Name the other one in config.toml, [storage] url (svc config edit). To use the old data instead, run "svc storage reopen".',
  },
  move_unfinished: {
    status: 409,
    retry: false,
    message: (place: string, from: string) => `The database ${place} holds an unfinished move from ${from}.`,
    hint: 'Run the same "svc storage migrate" again to finish it, or go on with the other database.',
  },
  restore_unfinished: {
    status: 409,
    retry: true,
    message: (place: string, backup: string) => `A daemon restores the backup ${backup} into ${place}, and it has not finished.`,
    hint: 'Wait for it. If that daemon is stopped, start it again: it finishes the restore or undoes it. If its home is lost, run "svc storage reopen".',
  },
  bad_url: {
    status: 500,
    retry: false,
    message: (why: string) => `The setting [storage] url is not a database address: ${why}.`,
    hint: 'Write it as postgres://user:password@host:5432/name, or leave it out to use the file in the data folder.',
  },
  bad_text: { status: 400, retry: false, message: () => 'A text contains a NUL character, which PostgreSQL cannot store.', hint: 'Leave the character out.' },
  number_read: {
    status: 500,
    retry: false,
    message: (value: string) => `The database contains the number ${value}, which is beyond 2^53 and cannot be read exactly.`,
    hint: 'This is a bug in the extension that wrote it.',
  },
  migration_changed: {
    status: 500,
    retry: false,
    message: (owner: string, name: string) => `Migration ${name} of ${owner} was changed after it had been applied here.`,
    hint: 'Restore the old text and add a new migration for the change.',
  },
  migration_missing: {
    status: 500,
    retry: false,
    message: (owner: string, name: string) => `Migration ${name} of ${owner} comes before one that is already applied.`,
    hint: 'Give the new migration a higher number.',
  },
  migration_joined: {
    status: 500,
    retry: false,
    message: (owner: string, missing: string, name: string) =>
      `The database is older than this version can read: migration ${missing} of ${owner} was never applied, and this version has it only as a part of ${name}.`,
    hint: 'Nothing was changed. Start the last version before this one once, which applies it, then start this one again.',
  },
  migration_failed: {
    status: 500,
    retry: false,
    message: (owner: string, name: string, why: string) => `Migration ${name} of ${owner} failed and was undone: ${why}.`,
    hint: 'Its tables are as they were. Go back to the version that worked (the earlier build, or "svc ext rollback" for an installed extension) and report it to the author.',
  },
  migration_newer: {
    status: 500,
    retry: false,
    message: (owner: string, name: string, place: string) => `The database ${place} was used by a newer version: it has migration ${name} of ${owner}, which this version does not know.`,
    hint: 'Nothing was changed. Start the newer version again, or use a copy of the database from before the upgrade.',
  },
  migration_too_slow: {
    status: 503,
    retry: false,
    message: (owner: string, name: string, seconds: number) => `Migration ${name} of ${owner} took more than ${seconds} s; it was interrupted and undone.`,
    hint: 'Nothing was changed. If its tables are that large, allow more time with [storage] migration_seconds or, for third-party extensions, [extensions] migration_seconds.',
  },
});

export const conflict = (what: string, details: ConflictDetails, cause: unknown): SvcError => storageErrors.conflict(what).with({ details, cause });

/** The reason of a `storage_conflict`, or undefined for any other error. */
export const conflictOf = (error: unknown): ConflictDetails | undefined =>
  // `details` of this code is always written by `conflict` above.
  isSvcError(error) && error.code === 'storage_conflict' ? (error.details as ConflictDetails) : undefined;
