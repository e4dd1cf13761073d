/** The storage of the platform on a file of its own, for programs that measure it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '@svc/platform/clock/clock';
import { openStorage } from '@svc/platform/storage/storage';

const complain = (level) => (message, fields) => console.error(level, message, fields ?? '');
const quiet = () => undefined;

export const log = { debug: quiet, info: quiet, warn: complain('warn'), error: complain('error'), child: () => log };

/** `url`: a server's database instead of the file. */
export const openBenchStorage = async ({ url, storeEvent, onEvents = quiet } = {}) => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-bench-db-'));
  const clock = systemClock();
  const storage = await openStorage({ file: path.join(dir, 'bench.db'), url, clock, log, onEvents, ...(storeEvent ? { storeEvent } : {}) });
  return {
    storage,
    clock,
    close: async () => {
      await storage.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
