/**
 * Reads config.toml again when somebody saved it.
 *
 * Looks at the file's state instead of listening for events: editors that save by rename, network
 * disks and containers' mounts all change it, and none of them tells a watcher reliably.
 */
import { stat } from 'node:fs/promises';
import type { Logger } from '@svc/api';

const LOOK_EVERY_MS = 1_000;

export interface ConfigWatch {
  dispose(): void;
}

/** `reload` applies a good save and reports a bad one; it is called once a change has stood still for one look. */
export const watchConfig = (file: string, reload: () => Promise<void>, log: Logger, everyMs = LOOK_EVERY_MS): ConfigWatch => {
  let applied: string | undefined;
  let seen: string | undefined;
  let isBusy = false;
  const look = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      const now = await stateOf(file);
      applied ??= now;
      // Half-written files change again: only what two looks saw alike is read.
      if (now !== applied && now === seen) {
        applied = now;
        await reload();
      }
      seen = now;
    } catch (cause) {
      log.error('the settings could not be read again', { file, cause });
    } finally {
      isBusy = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  void look();
  return { dispose: () => clearInterval(timer) };
};

/** Changes with every save: another file, another size or another time. */
const stateOf = async (file: string): Promise<string> => {
  try {
    const { mtimeMs, ctimeMs, size, ino, mode } = await stat(file);
    return [mtimeMs, ctimeMs, size, ino, mode].join(':');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
};
