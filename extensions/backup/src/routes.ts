/** Backups over HTTP. Each of them holds the data of every person, so they are for the owner alone. */
import { type Backups, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { Schedule, ScheduleSettings } from './schedule.js';
import { BackupList, CreatedBackup, FilenamePath, RestoreBody, RestoreStarted } from './shapes.js';

export interface BackupDeps {
  readonly backups: Backups;
  readonly schedule: Schedule;
  readonly settings: () => ScheduleSettings;
}

const route = routeGroup({ area: 'backup', errors: [403] });
/** A backup reads everything. */
const COST = 20;

export const backupRoutes = ({ backups, schedule, settings }: BackupDeps): RouteDecl[] => [
  route({
    id: 'createBackup',
    method: 'POST',
    path: '/api/backup',
    summary: 'Create a backup',
    description:
      'A snapshot of the database and the files of the home folder, as one .tar.gz in its folder `backups`. The daemon keeps working. Keys are not in it, and secrets only as the vault encrypted them: to use them on another machine, copy the key of the vault too. ' +
      'It answers when the archive is complete. For the owner.',
    permission: 'backup.own',
    cost: COST,
    audit: 'backup_created',
    auditCategory: 'settings',
    errors: [409, 507],
    responses: { 200: CreatedBackup },
    handler: async () => {
      const { components, createdAt, filename, path, sizeBytes } = await backups.create('manual');
      return reply(200, { filename, path, size_bytes: sizeBytes, components: [...components], created_at: createdAt });
    },
  }),
  route({
    id: 'listBackups',
    method: 'GET',
    path: '/api/backups',
    summary: 'List backups',
    description: 'The backups of this home, what runs now, how the last restore ended, and the schedule. For the owner.',
    permission: 'backup.own',
    responses: { 200: BackupList },
    handler: async () => {
      const [all, { lastRestore, running }] = await Promise.all([backups.list(), backups.state()]);
      return reply(200, {
        backups: all.map((one) => ({
          filename: one.filename,
          path: one.path,
          size_bytes: one.sizeBytes,
          modified_at: one.modifiedAt,
          components: [...one.components],
          svc_version: one.svcVersion,
          created_at: one.createdAt,
          problem: one.problem,
        })),
        total: all.length,
        running: running && { kind: running.kind, step: running.step, started_at: running.startedAt },
        last_restore: lastRestore && { filename: lastRestore.filename, status: lastRestore.status, at: lastRestore.at, reason: lastRestore.reason, safety_backup: lastRestore.safetyBackup },
        schedule: { ...settings(), next_at: await schedule.nextAt(all) },
      });
    },
  }),
  route({
    id: 'deleteBackup',
    method: 'DELETE',
    path: '/api/backups/{filename}',
    summary: 'Delete a backup',
    description: 'Deletes the archive from the folder `backups` of the home. You cannot undo this. For the owner.',
    permission: 'backup.own',
    audit: 'backup_deleted',
    auditCategory: 'settings',
    errors: [404],
    params: FilenamePath,
    responses: { 200: Type.Object({ status: Type.Literal('deleted'), filename: Type.String() }) },
    handler: async ({ params: { filename } }) => {
      await backups.remove(filename);
      return reply(200, { status: 'deleted' as const, filename });
    },
  }),
  route({
    id: 'restoreBackup',
    method: 'POST',
    path: '/api/restore',
    summary: 'Restore a backup',
    description:
      'Validates the whole archive and answers; then the daemon stops, backs up the present data, replaces it, and starts again within the same process. Meanwhile requests get 503. If the restored data does not start, the present data comes back. ' +
      '`last_restore` of GET /api/backups tells how it ended. For the owner.',
    permission: 'backup.own',
    cost: COST,
    audit: 'backup_restore_requested',
    auditCategory: 'settings',
    errors: [404, 409, 507],
    body: RestoreBody,
    examples: {
      'a backup that somebody created': { filename: 'svc_backup_20260131_120000.tar.gz' },
      'a scheduled backup': { filename: 'svc_backup_20260131_030000_scheduled.tar.gz' },
      'what was there before another restore': { filename: 'svc_backup_20260131_121500_safety.tar.gz' },
    },
    responses: { 200: RestoreStarted },
    handler: async ({ actor, body: { filename } }) => {
      const { files, manifest } = await backups.restore(filename, actor.id);
      return reply(200, {
        restored_files: files,
        errors: [],
        manifest: { ...manifest, components: [...manifest.components] },
        message: 'The backup is valid. The daemon restarts with it now; if it does not start, the present data comes back.',
      });
    },
  }),
];
