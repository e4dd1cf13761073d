import { createTables, defineExtension, DoctorCheck } from '@svc/api';
import { commands, commandWords } from './commands.js';
import { BackupSection } from './config.js';
import { backupRoutes } from './routes.js';
import { createSchedule } from './schedule.js';
import { scheduleTurns, Turns } from './turns.js';

const LOOK_EVERY_MS = 60_000;

export default defineExtension({
  config: [BackupSection],
  tables: [Turns],
  migrations: [createTables('0001_init', [Turns])],
  commands,
  commandWords,
  completions: [{ name: 'backups', fields: ['filename'], operation: 'listBackups', rows: 'backups', value: 'filename' }],
  activate(ctx) {
    const { clock, kernel, log, timers } = ctx;
    const settings = () => ctx.config.get(BackupSection);
    const schedule = createSchedule({ backups: kernel.backups, turns: scheduleTurns(ctx.db), settings, clock, timers, log });
    ctx.routes.add(...backupRoutes({ backups: kernel.backups, schedule, settings }));
    timers.every('scheduled-backup', LOOK_EVERY_MS, schedule.look);
    ctx.hooks.tap(DoctorCheck, schedule.findings);
  },
});
