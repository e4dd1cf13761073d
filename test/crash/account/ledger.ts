/** The database as a third party reads it: read-only, past the daemon and all its code. */
import pg from 'pg';
import sqlite3 from 'sqlite3';

/** A SQLite file, or the URL of a server. */
export interface Database {
  readonly file: string;
  readonly url: string | undefined;
}

export interface RunRow {
  readonly id: string;
  readonly request_key: string | null;
  readonly status: string;
  readonly error: string | null;
}

export interface StepRow {
  readonly run_id: string;
  readonly kind: string;
  readonly key: string;
  readonly status: string;
}

export interface EntryRow {
  readonly session_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly run_id: string | null;
  readonly body: { readonly callId?: string; readonly tool?: string; readonly args?: { readonly mark?: string }; readonly status?: string; readonly parts?: ReadonlyArray<{ readonly text?: string }> };
}

export interface Ledger {
  readonly runs: readonly RunRow[];
  readonly steps: readonly StepRow[];
  readonly entries: readonly EntryRow[];
  /** What `PRAGMA integrity_check` says; `ok` when nothing is wrong. */
  readonly integrity: string;
}

export const readLedger = async (database: Database): Promise<Ledger> => {
  const db = await openReadOnly(database);
  try {
    const [runs, steps, entries, checks] = await Promise.all([
      db.all<RunRow>("SELECT id, request_key, status, error FROM journal__runs WHERE kind = 'agent' ORDER BY position"),
      db.all<StepRow>('SELECT run_id, kind, key, status FROM journal__steps ORDER BY run_id, seq'),
      db.all<Omit<EntryRow, 'body'> & { body: string }>('SELECT session_id, seq, kind, run_id, body FROM sessions__entries ORDER BY session_id, seq'),
      db.check(),
    ]);
    return { runs, steps, entries: entries.map((row) => ({ ...row, body: JSON.parse(row.body) as EntryRow['body'] })), integrity: checks.join('; ') };
  } finally {
    await db.close();
  }
};

/** How many runs have not ended. */
export const unfinishedRuns = async (database: Database): Promise<number> => {
  const db = await openReadOnly(database);
  try {
    return (await db.all<{ n: number }>("SELECT count(*) AS n FROM journal__runs WHERE status IN ('queued', 'running', 'waiting')"))[0]?.n ?? 0;
  } finally {
    await db.close();
  }
};

interface Opened {
  all<T>(sql: string): Promise<T[]>;
  /** What a check of the whole says; a server keeps its own files in order. */
  check(): Promise<string[]>;
  close(): Promise<void>;
}

/** Closed by whoever opened it. */
export const openReadOnly = ({ file, url }: Database): Promise<Opened> => (url === undefined ? openFile(file) : openServer(url));

const openFile = async (file: string): Promise<Opened> => {
  const db = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (error) => (error ? reject(error) : resolve(opened)));
  });
  db.configure('busyTimeout', 5_000);
  const all = <T>(sql: string): Promise<T[]> => new Promise((resolve, reject) => db.all<T>(sql, (error, rows) => (error ? reject(error) : resolve(rows))));
  return {
    all,
    check: async () => (await all<{ integrity_check: string }>('PRAGMA integrity_check')).map((row) => row.integrity_check),
    close: () => new Promise<void>((resolve) => db.close(() => resolve())),
  };
};

const openServer = async (url: string): Promise<Opened> => {
  const pool = new pg.Pool({ connectionString: url, max: 1, types: { getTypeParser: () => (text: string) => (/^\d+$/.test(text) ? Number(text) : text) } });
  return { all: async (sql) => (await pool.query(sql)).rows, check: async () => ['ok'], close: () => pool.end() };
};
