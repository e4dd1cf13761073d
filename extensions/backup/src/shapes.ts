/** What the routes of backups take and answer. */
import { BACKUP_NAME, Nullable, OneOf, TextOf, Type } from '@svc/api';

const Filename = Type.String({ description: 'Such as `svc_backup_20260131_120000.tar.gz`' });
const Time = (description: string) => Type.String({ description: `${description} (ISO 8601, UTC)` });
const Components = Type.Array(Type.String(), { description: 'What is in it: database, config, workspaces, …' });

export const CreatedBackup = Type.Object(
  {
    filename: Filename,
    path: Type.String({ description: 'On the machine of the daemon' }),
    size_bytes: Type.Integer(),
    components: Components,
    created_at: Time('When the snapshot of the database began'),
  },
  { 'x-name': 'CreatedBackup' },
);

export const Backup = Type.Object(
  {
    filename: Filename,
    path: Type.String({ description: 'On the machine of the daemon' }),
    size_bytes: Type.Integer(),
    modified_at: Time('When the file was written'),
    components: Components,
    svc_version: Nullable(Type.String(), { description: 'null: the file cannot be read' }),
    created_at: Time('When the snapshot of the database began'),
    problem: Nullable(Type.String(), { description: 'Why it cannot be restored' }),
  },
  { 'x-name': 'Backup' },
);

export const BackupList = Type.Object(
  {
    backups: Type.Array(Backup, { description: 'Newest first' }),
    total: Type.Integer(),
    running: Nullable(Type.Object({ kind: OneOf(['backup', 'restore']), step: OneOf(['database', 'files', 'writing', 'validating']), started_at: Time('Start') }), { description: 'What runs now' }),
    last_restore: Nullable(
      Type.Object({
        filename: Filename,
        status: OneOf(['restored', 'reverted'], { description: '`reverted`: the restored data did not start, and the data of before is back' }),
        at: Time('End'),
        reason: Nullable(Type.String()),
        safety_backup: Nullable(Type.String(), { description: 'The backup of what was there before' }),
      }),
    ),
    schedule: Type.Object({
      every_hours: Type.Integer({ description: '0 without `cron`: no schedule' }),
      cron: Type.String({ description: 'Used instead of `every_hours` if it is not empty' }),
      time_zone: Type.String(),
      keep: Type.Integer(),
      keep_days: Type.Integer(),
      next_at: Nullable(Type.String()),
    }),
  },
  { 'x-name': 'BackupList' },
);

export const FilenamePath = Type.Object({ filename: TextOf(BACKUP_NAME, { examples: ['svc_backup_20260131_120000.tar.gz'] }) });

export const RestoreBody = Type.Object({ filename: TextOf(BACKUP_NAME, { description: 'The name of a backup of this home, without a path' }) }, { additionalProperties: false });

export const RestoreStarted = Type.Object(
  {
    restored_files: Type.Integer({ description: 'Files that were unpacked and validated' }),
    errors: Type.Array(Type.String(), { description: 'Always empty: an archive is used whole or not at all' }),
    manifest: Type.Object({ version: Type.Integer(), created_at: Type.String(), hostname: Type.String(), svc_version: Type.String(), components: Components }),
    message: Type.String(),
  },
  { 'x-name': 'RestoreStarted' },
);
