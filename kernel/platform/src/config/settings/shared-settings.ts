/**
 * Settings that were changed over the API hold at every daemon on the database, each in its own config.toml.
 *
 * S1  A change is a row, numbered in the order of commits; the newest of a setting counts. The bus says that there is one.
 * S2  Each home remembers the number it has come to, so that a daemon that was off makes up for it at its start.
 * S3  What says where a daemon listens and what it is connected to stays its own. So does what a person writes into the file.
 * S4  A change is entered into the audit trail where it was made, and nowhere else.
 */
import { readFile } from 'node:fs/promises';
import type { Clock, Db, Disposable, Logger } from '@svc/api';
import { atomicWrite } from '../../adapters/files/atomic-write.js';
import type { Bus } from '../../bus/bus.js';
import type { TimerClock } from '../../clock/clock.js';
import { createTimers } from '../../clock/timers.js';
import type { Settings } from '../apply-settings.js';
import type { Config } from '../config.js';

export interface SharedSettingsDeps {
  readonly db: Db;
  readonly bus: Pick<Bus, 'name' | 'publish' | 'subscribe' | 'onGap'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<Config, 'edit'>;
  readonly settings: Settings;
  /** Where this home remembers how far it has come. */
  readonly markFile: string;
}

export interface SharedSettings {
  /** Tells the others what was changed here; null was taken out. Rejects when the database does not take it. */
  share(path: string, value: unknown): Promise<void>;
  /** Brings into force what others changed, now and from now on. */
  watch(clock: TimerClock): Promise<Disposable>;
}

interface Row {
  readonly path: string;
  readonly value: string | null;
  readonly n: number;
  readonly daemon: string;
}

const LOOK_EVERY_MS = 5_000;
const OWN = ['api.listen_addr', 'storage', 'cluster'];

const isOwn = (path: string): boolean => OWN.some((one) => path === one || path.startsWith(`${one}.`));

export const createSharedSettings = (deps: SharedSettingsDeps): SharedSettings => {
  const { bus, clock, db, log } = deps;
  const table = db.table('settings');
  let queue: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work);
    queue = result.catch(() => undefined); // whoever asked hears of it
    return result;
  };
  let seen: number | undefined;
  const look = async (): Promise<void> => {
    seen ??= await readMark(deps.markFile);
    const newest = (await db.system('settings shared by daemons').readOne<{ n: number | null }>(`SELECT MAX(n) AS n FROM ${table}`))?.n ?? 0;
    if (newest === seen) return;
    // Another database, or an older state of it: all that it says is news.
    const after = newest < seen ? 0 : seen;
    const rows = await db.system('settings shared by daemons').read<Row>(`SELECT path, value, n, daemon FROM ${table} WHERE n > ? ORDER BY n`, [after]);
    const taken = await takeAll(deps, rows);
    if (taken.length > 0) await deps.settings.apply(`${taken.join(', ')} changed at another daemon`, { isElsewhere: true });
    seen = rows.at(-1)?.n ?? newest;
    await atomicWrite(deps.markFile, String(seen), { modeWhenNew: 0o600 });
  };
  return {
    share: async (path, value) => {
      if (isOwn(path)) return;
      await inOrder(() =>
        db.commit([
          db.sql(
            `INSERT INTO ${table}(path, value, n, daemon, at) SELECT ?, ?, COALESCE(MAX(n), 0) + 1, ?, ? FROM ${table} WHERE 1 = 1
            ON CONFLICT (path) DO UPDATE SET value = excluded.value, n = excluded.n, daemon = excluded.daemon, at = excluded.at`,
            [path, value === null ? null : JSON.stringify(value), bus.name, clock.iso()],
          ),
        ]),
      );
      bus.publish('settings', { path });
    },
    watch: async (timerClock) => {
      const onError = (cause: unknown): void => log.warn('Settings that other daemons changed could not be read; svc tries again.', { cause });
      const lookNow = (): Promise<void> => inOrder(look).catch(onError);
      const timers = createTimers({ clock: timerClock, onError });
      const watching = [bus.subscribe('settings', () => void lookNow()), bus.onGap(() => void lookNow()), timers.every(LOOK_EVERY_MS, lookNow)];
      await lookNow();
      return {
        dispose: async () => {
          for (const one of watching) await one.dispose();
          await queue;
        },
      };
    },
  };
};

const readMark = async (file: string): Promise<number> => {
  const text = await readFile(file, 'utf8').catch(() => '0'); // a new home takes all that is there
  return Number.isSafeInteger(Number(text)) ? Number(text) : 0;
};

/** One that does not fit here, because the environment holds it say, is told and left out: it will not fit at the next look either. */
const takeAll = async ({ bus, config, log }: SharedSettingsDeps, rows: readonly Row[]): Promise<string[]> => {
  const taken: string[] = [];
  for (const { daemon, path, value } of rows) {
    if (daemon === bus.name || isOwn(path)) continue;
    try {
      // Whoever changed it there has confirmed it there.
      await config.edit({ path, value: value === null ? null : JSON.parse(value), isConfirmed: true });
      taken.push(path);
    } catch (cause) {
      log.warn(`${path} was changed at another daemon and cannot be changed here.`, { setting: path, cause });
    }
  }
  return taken;
};
