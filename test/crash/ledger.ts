/** The database as a stranger reads it: read-only, past the daemon and all its code. */
import sqlite3 from 'sqlite3';

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

export const readLedger = async (file: string): Promise<Ledger> => {
  const db = await openReadOnly(file);
  try {
    const [runs, steps, entries, checks] = await Promise.all([
      all<RunRow>(db, "SELECT id, request_key, status, error FROM journal__runs WHERE kind = 'agent' ORDER BY position"),
      all<StepRow>(db, 'SELECT run_id, kind, key, status FROM journal__steps ORDER BY run_id, seq'),
      all<Omit<EntryRow, 'body'> & { body: string }>(db, 'SELECT session_id, seq, kind, run_id, body FROM sessions__entries ORDER BY session_id, seq'),
      all<{ integrity_check: string }>(db, 'PRAGMA integrity_check'),
    ]);
    return { runs, steps, entries: entries.map((row) => ({ ...row, body: JSON.parse(row.body) as EntryRow['body'] })), integrity: checks.map((row) => row.integrity_check).join('; ') };
  } finally {
    await new Promise<void>((resolve) => db.close(() => resolve()));
  }
};

/** How many runs have not ended. */
export const unfinishedRuns = async (file: string): Promise<number> => {
  const db = await openReadOnly(file);
  try {
    return (await all<{ n: number }>(db, "SELECT count(*) AS n FROM journal__runs WHERE status IN ('queued', 'running', 'waiting')"))[0]?.n ?? 0;
  } finally {
    await new Promise<void>((resolve) => db.close(() => resolve()));
  }
};

const openReadOnly = (file: string): Promise<sqlite3.Database> =>
  new Promise((resolve, reject) => {
    const db = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (error) => (error ? reject(error) : resolve(db)));
    db.configure('busyTimeout', 5_000);
  });

const all = <T>(db: sqlite3.Database, sql: string): Promise<T[]> => new Promise((resolve, reject) => db.all<T>(sql, (error, rows) => (error ? reject(error) : resolve(rows))));
