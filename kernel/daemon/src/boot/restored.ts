/** What a start does about a restore of the home: confirms the one that it is part of, or goes back from one that never started. */
import { BackupRestore } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import { confirmSwap, openRestore } from '@svc/platform/backup/restore-swap';
import { confirmServer } from '@svc/platform/backup/server-database';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Home } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import type { HomeLock } from '@svc/platform/process/home-lock';
import { dropStaged } from '../backup/home-backup.js';
import { revertRestore } from '../backup/reverting.js';
import { settingsOf } from '../offline/local-storage.js';
import type { BootOptions } from './contract.js';
import type { Kernel } from './kernel.js';

/** The home is locked by whoever starts it. */
export const settleRestore = async (home: Home, env: BootOptions['env'], clock: TimerClock, lock: HomeLock): Promise<void> => {
  try {
    // By the settings that came with the restore: the address of the database is that of before.
    await revertRestore(home, clock.iso(), 'The daemon stopped before the restored data had started.', async () => databaseUrlOf(await settingsOf(home, env)));
  } catch (error) {
    await lock.release();
    throw error;
  }
};

/** Rejects when an area refuses the restored data; the daemon is stopped then. */
export const acceptRestore = async ({ parts }: Kernel, databaseUrl: string | undefined, stop: (reason: string) => Promise<void>): Promise<void> => {
  const home = parts.home.home;
  const plan = await openRestore(home);
  if (!plan) return;
  const { actor, filename, safety, serverToken } = plan;
  try {
    await parts.hooks.handle(BackupRestore).call({ filename });
    if (serverToken !== undefined && databaseUrl !== undefined) await confirmServer(databaseUrl, serverToken);
  } catch (error) {
    await stop('the restored data was refused');
    throw error;
  }
  await confirmSwap(home, parts.clock.iso());
  await dropStaged(parts.home);
  const asked = systemActor('kernel');
  if (parts.audit.isOn()) await parts.audit.note({ type: 'backup_restored', actor: asked, details: { file: filename, safety: safety ?? '' }, personal: { asked_by: actor ?? 'the command line' } });
  parts.log.logger('kernel').info('a backup was restored', { file: filename, safety });
};
