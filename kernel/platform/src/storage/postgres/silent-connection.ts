/**
 * Notices a connection on which nothing will ever come again although nobody closed it: a firewall forgot it, or the
 * machine at its other end is gone. The system would wait a quarter of an hour for that.
 *
 * When an answer does not come, a second connection asks the server whether it still works on it. Slow statements go on.
 */
import pg from 'pg';

/** Without a byte for this long the server is asked. */
const SILENT_MS = 10_000;
/** Between the two requests that have to say the same: an answer may be on its way. */
const AGAIN_MS = 1_000;
const CONNECT_MS = 5_000;
/** The state that the server shows for a session that works on a statement. */
const ACTIVE = 'active';
/** To be sent with what sets up a session: behind a pooler the driver's number names no process of the server. */
export const WHICH_PROCESS = 'SELECT pg_backend_pid() AS pid';

interface Stream {
  readonly bytesRead: number;
  destroy(error: Error): void;
  pause(): void;
  resume(): void;
}

export interface SilenceOptions {
  readonly url: string;
  readonly pid: number;
  readonly stream: Stream;
  readonly silentMs?: number | undefined;
}

/** Around each statement. A connection that is found dead is closed, and what was asked on it rejects. */
export type WatchSilence = <T>(answer: Promise<T>) => Promise<T>;

export const createSilenceWatch = ({ url, pid, stream, silentMs = SILENT_MS }: SilenceOptions): WatchSilence => {
  let asked = 0;
  let isArmed = false;
  let bytes = -1;
  let misses = 0;
  const arm = (ms: number): void => {
    isArmed = true;
    setTimeout(() => void look(), ms).unref();
  };
  const look = async (): Promise<void> => {
    isArmed = false;
    if (asked === 0) return;
    const isSilent = stream.bytesRead === bytes;
    bytes = stream.bytesRead;
    if (!isSilent) misses = 0;
    else misses = (await isWorking(url, pid)) ? 0 : misses + 1;
    if (asked > 0 && stream.bytesRead === bytes && misses > 1) stream.destroy(Object.assign(new Error('The server does not answer.'), { code: 'ETIMEDOUT' }));
    else if (!isArmed) arm(misses > 0 ? AGAIN_MS : silentMs);
  };
  return async (answer) => {
    asked += 1;
    bytes = stream.bytesRead;
    misses = 0;
    if (!isArmed) arm(silentMs);
    try {
      return await answer;
    } finally {
      asked -= 1;
    }
  };
};

/** False when the server cannot be reached, or does not work for this process. One that refuses to say is believed to work. */
const isWorking = async (url: string, pid: number): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS, application_name: 'svc asks' });
  client.on('error', () => undefined); // its next call tells
  try {
    await client.connect();
    const { rows } = await client.query<{ state: string | null }>('SELECT state FROM pg_stat_activity WHERE pid = $1', [pid]);
    return rows.some(({ state }) => state === ACTIVE || state === null);
  } catch (error) {
    return error instanceof Error && 'severity' in error;
  } finally {
    void client.end().catch(() => undefined); // it is gone already
  }
};

/** Where the driver reads from; undefined in versions that do not show it. */
export const streamOf = (client: pg.ClientBase): Stream | undefined => {
  const connection: unknown = 'connection' in client ? client.connection : undefined;
  return typeof connection === 'object' && connection !== null && 'stream' in connection && isStream(connection.stream) ? connection.stream : undefined;
};

const isStream = (value: unknown): value is Stream => typeof value === 'object' && value !== null && 'bytesRead' in value && 'destroy' in value && 'pause' in value && 'resume' in value;
