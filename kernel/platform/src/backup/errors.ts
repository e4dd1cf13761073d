/** What keeps a backup from being made, read or restored. */
import { defineErrors } from '@svc/api';

export const backupErrors = defineErrors('backup', {
  busy: { status: 409, retry: true, message: () => 'Another backup or restore is running.', hint: 'Try again when it is done. `svc backup list` shows the result.' },
  bad_name: {
    status: 400,
    retry: false,
    message: (name: string) => `${JSON.stringify(name.slice(0, 200))} is not the file name of a backup.`,
    hint: 'Give a name as `svc backup list` shows it, such as svc_backup_20260131_120000.tar.gz, without a path.',
  },
  not_found: { status: 404, retry: false, message: (name: string) => `There is no backup ${name}.`, hint: '`svc backup list` shows the backups of this home.' },
  no_space: {
    status: 507,
    retry: true,
    message: (folder: string, neededMb: number, freeMb: number) => `${folder} has ${freeMb} MB of free space, and ${neededMb} MB are needed.`,
    hint: 'Delete old backups with `svc backup delete`, or free space on this disk.',
  },
  unwritable: {
    status: 507,
    retry: false,
    message: (folder: string, code: string) => `${folder} cannot be written (${code}).`,
    hint: 'Make the home folder writable for the user of the daemon.',
  },
  broken: { status: 400, retry: false, message: (file: string, why: string) => `${file} cannot be used as a backup: ${why}.`, hint: 'Use another backup. `svc backup verify FILE` tests one.' },
  unsafe: {
    status: 400,
    retry: false,
    message: (file: string, entry: string, why: string) => `${file} was refused: its entry ${JSON.stringify(entry.slice(0, 200))} ${why}.`,
    hint: 'svc does not make such archives. Restore only backups from a source that you trust.',
  },
  newer: {
    status: 400,
    retry: false,
    message: (file: string, made: string, mine: string) => `${file} was made by svc ${made}, and this is svc ${mine}.`,
    hint: 'Update svc, then restore again.',
  },
  upgrade_open: {
    status: 409,
    retry: true,
    message: (owners: string) => `An upgrade of ${owners} has not finished, so the database was not copied.`,
    hint: 'Try again in a minute. If the daemon stopped during the upgrade, start it once: it finishes or undoes it.',
  },
  other_daemons: {
    status: 409,
    retry: false,
    message: (who: string) => `Other daemons use this database: ${who}. A restore would replace their data while they work.`,
    hint: 'Stop them, then restore again. A daemon that was killed counts for 30 s. `svc cluster list` shows them.',
  },
  no_schema: {
    status: 409,
    retry: false,
    message: (place: string) => `The user of the database ${place} may not create a schema, which a restore needs.`,
    hint: 'Run this on the server as its administrator: GRANT CREATE ON DATABASE name TO user.',
  },
  server_unknown: {
    status: 409,
    retry: false,
    message: (backup: string) => `The restore of ${backup} into a PostgreSQL database has not finished, and the settings name no database.`,
    hint: 'Set [storage] url to the database that was restored, then start again: svc finishes the restore or undoes it.',
  },
  unknown_tables: {
    status: 400,
    retry: false,
    message: (what: string) => `The backup has tables of extensions that it does not contain: ${what}.`,
    hint: 'Restore it into a home without [storage] url, which uses SQLite. From there, svc storage migrate can leave these tables behind.',
  },
  restoring: { status: 503, retry: true, message: () => 'A backup is being restored.', hint: 'Try again in a moment.' },
  cannot_restart: { status: 409, retry: false, message: () => 'This process cannot restart its daemon.', hint: 'Stop it, then run `svc backup restore FILE`.' },
  differs: { status: 500, retry: false, message: (why: string) => `The data of the backup does not start: ${why}.`, hint: 'Use another backup. The present data was not changed.' },
});
