/** `svc backup`: the list is data; what takes long or works without the daemon is in cli/backup.ts. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'backup',
    summary: 'create, verify and restore backups',
    usage: 'backup create|list|verify|restore|…',
    order: 60,
    module: 'backup',
    synonyms: [{ word: 'backups', means: 'backup list', runs: true }],
  },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'backup list',
    summary: 'list the backups',
    operation: 'listBackups',
    output: {
      kind: 'table',
      rows: 'backups',
      empty: 'There are no backups. Create one with: svc backup create',
      columns: [
        { field: 'filename', title: 'BACKUP' },
        { field: 'created_at', title: 'CREATED', format: 'ago' },
        { field: 'size_bytes', title: 'SIZE', format: 'bytes' },
        { field: 'problem', shrinks: true },
      ],
    },
  },
  {
    command: 'backup delete',
    summary: 'delete a backup',
    operation: 'deleteBackup',
    args: ['filename'],
    confirm: 'Delete the backup {filename}?',
    output: { kind: 'line', text: 'Backup {filename} deleted' },
  },
];
