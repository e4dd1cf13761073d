/** What keeps a move between databases from starting, or stops it. Nothing is lost by any of them: the source stays as it was. */
import { defineErrors } from '@svc/api';

export const moveErrors = defineErrors('storage', {
  move_same: {
    status: 409,
    retry: false,
    message: (place: string) => `This home already uses ${place}.`,
    hint: 'Name another database: postgres://user:password@host/name, or "sqlite" for the file in the data folder.',
  },
  move_bad_target: {
    status: 400,
    retry: false,
    message: (text: string) => `"${text}" is not a database that svc can move to.`,
    hint: 'Write postgres://user:password@host:5432/name, or "sqlite" for the file in the data folder.',
  },
  move_no_source: {
    status: 404,
    retry: false,
    message: (place: string) => `${place} holds no data of svc, so there is nothing to move.`,
    hint: 'To start with the other database, write it into config.toml: [storage] url = "postgres://…"',
  },
  move_source_suspect: {
    status: 409,
    retry: false,
    message: (problem: string) => `The database was not moved, because it may not be the one that was used last. ${problem}`,
    hint: 'Put the right database back. If this is the one you want, run "svc doctor --accept-database" first.',
  },
  move_daemons: {
    status: 409,
    retry: false,
    message: (place: string, who: string) => `A daemon still uses ${place}: ${who}.`,
    hint: 'Stop every daemon that uses this database, then try again. A daemon that was killed counts for 30 s.',
  },
  move_target_used: {
    status: 409,
    retry: false,
    message: (place: string, tables: string) => `${place} is not empty: it has ${tables}.`,
    hint: 'Name an empty database. For SQLite, move the file svc.db and the files beside it to another folder first.',
  },
  move_target_other: {
    status: 409,
    retry: false,
    message: (place: string, from: string) => `${place} holds an unfinished move from another database: ${from}.`,
    hint: 'Finish that move, or name an empty database.',
  },
  move_upgrade_open: {
    status: 409,
    retry: false,
    message: (owners: string) => `An upgrade of ${owners} has not finished, so the database was not copied.`,
    hint: 'Start the daemon once and stop it again. That finishes or undoes the upgrade.',
  },
  move_unknown_tables: {
    status: 409,
    retry: false,
    message: (what: string) => `The database was not copied: it has tables of extensions that are not installed: ${what}.`,
    hint: 'Install the extensions again, or leave their tables behind with --without ID.',
  },
  move_other_version: {
    status: 409,
    retry: false,
    message: (owner: string, migration: string) => `The database was not copied: migration ${migration} of ${owner} is not one of this version.`,
    hint: 'Use the version of svc that the database was used with last.',
  },
  move_nul: {
    status: 400,
    retry: false,
    message: (table: string, column: string, key: string) => `A text contains a NUL character, which PostgreSQL cannot store: ${table}.${column}, row ${key}.`,
    hint: 'Run it again with --replace-nul to store U+FFFD (�) in its place; the move continues where it stopped. Or correct the row first.',
  },
  move_row: {
    status: 400,
    retry: false,
    message: (table: string, key: string, place: string, why: string) => `${place} refuses a row of ${table}, row ${key}: ${why}.`,
    hint: 'Correct the row in the source, then run the same command again; the move continues where it stopped.',
  },
  move_differs: {
    status: 500,
    retry: true,
    message: (differences: string) => `The copy differs from the source: ${differences}.`,
    hint: 'Nothing was switched over. Run the same command again; it copies these tables again.',
  },
  move_no_mark: {
    status: 404,
    retry: false,
    message: (place: string) => `${place} was not moved, and no restore into it is unfinished, so there is nothing to reopen.`,
    hint: 'svc storage status shows which database this home uses.',
  },
  reopen_no_restore: {
    status: 409,
    retry: false,
    message: (place: string) => `No restore into ${place} is unfinished.`,
    hint: 'Leave out --restored.',
  },
  reopen_own_restore: {
    status: 409,
    retry: false,
    message: (place: string, backup: string) => `This home itself restores the backup ${backup} into ${place}.`,
    hint: 'Start the daemon: it finishes the restore or undoes it, with the files of this home.',
  },
});
