/** Homes that have been lived in: rows that a stopped daemon has made, written again a million times with other ids. */
import path from 'node:path';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';

const DAY_MS = 86_400_000;
/** The journal keeps runs for thirty days; what was said before stays in the sessions. */
const RUNS_SINCE_MS = 28 * DAY_MS;
const EXCHANGES_OF_SESSION = 25;
const EXCHANGES_WITH_RUN = 10;

/** Opens the database of a home whose daemon is stopped, without the care for a crash that nobody needs here. */
const openDatabase = async (home) => {
  const db = new sqlite3.Database(path.join(home, 'data', 'svc.db'));
  const exec = promisify(db.exec.bind(db));
  await exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  return { exec, all: promisify(db.all.bind(db)), close: promisify(db.close.bind(db)) };
};

/** SQL of an id that no other number and kind has, in no order, as ids are. */
const idOf = (kind, number) => `printf('%08x-%04x-4000-8000-%012x', (${number}) * 2654435761 & 4294967295, ${kind}, ${number})`;
const quoted = (value) => (value === null ? 'NULL' : typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value));

/** `replacing` is [text of the row, SQL of what stands for it]; `own` has SQL by column. Both may use `i`, the number of the copy. */
const copyRow = ({ exec }, table, row, { count, replacing, own = {} }) => {
  const copied = (value) => {
    const found = replacing.filter(([text]) => typeof value === 'string' && value.includes(text));
    return found.reduce((sql, [text, other]) => (value === text ? other : `replace(${sql}, '${text}', ${other})`), quoted(value));
  };
  const columns = Object.entries(row).map(([column, value]) => [column, own[column] ?? copied(value)]);
  const names = columns.map(([column]) => `"${column}"`).join(', ');
  return exec(
    `INSERT INTO ${table}(${names}) SELECT ${columns.map(([, sql]) => sql).join(', ')} FROM (WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count}) SELECT i FROM n)`,
  );
};

const copyAgents = (db, agent, count) =>
  copyRow(db, 'agents__agents', agent, {
    count,
    replacing: [
      [agent.id, idOf(1, 'i')],
      [agent.session_id, idOf(2, 'i')],
      [agent.name, "'resident-' || i"],
    ],
  });

/** Adds `count` agents like the one of that id. */
export const fillAgents = async (home, agentId, count) => {
  const db = await openDatabase(home);
  const [agent] = await db.all('SELECT * FROM agents__agents WHERE id = ?', agentId);
  await copyAgents(db, agent, count);
  await db.close();
};

/** Adds a table with rows of 4 KiB that compress to about half, until the database has grown by `bytes`. */
export const fillBytes = async (home, bytes) => {
  const db = await openDatabase(home);
  await db.exec('CREATE TABLE bench__filler (id integer PRIMARY KEY, text text NOT NULL)');
  await db.exec(
    `INSERT INTO bench__filler(text) SELECT hex(randomblob(2000)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.ceil(bytes / 4_096)}) SELECT i FROM n)`,
  );
  await db.close();
};

/**
 * Adds `sessions` sessions of 25 exchanges, each like the newest run of that agent; the newest ten of a session have
 * their runs, steps and usage still. Resolves with how many rows there are of each.
 */
export const fillRuns = async (home, agentId, { agents, sessions }) => {
  const db = await openDatabase(home);
  const [agent] = await db.all('SELECT * FROM agents__agents WHERE id = ?', agentId);
  const [run] = await db.all('SELECT * FROM journal__runs WHERE subject = ? ORDER BY position DESC LIMIT 1', agentId);
  const [session] = await db.all('SELECT * FROM sessions__sessions WHERE id = ?', run.lane);
  const ofRun = (table, order) => db.all(`SELECT * FROM ${table} WHERE run_id = ? ORDER BY ${order}`, run.id);
  const entries = await ofRun('sessions__entries', 'seq');

  const idsFor = (exchange) => [
    [agent.id, idOf(1, `(${exchange}) / ${EXCHANGES_OF_SESSION} % ${agents}`)],
    [session.id, idOf(2, `(${exchange}) / ${EXCHANGES_OF_SESSION}`)],
    [run.id, idOf(3, exchange)],
  ];
  const runs = sessions * EXCHANGES_WITH_RUN;
  const sinceMs = Date.now() - RUNS_SINCE_MS;
  const atMs = `(${sinceMs} + i * ${Math.floor((RUNS_SINCE_MS - DAY_MS) / runs)})`;
  const at = `strftime('%Y-%m-%dT%H:%M:%fZ', ${atMs} / 1000.0, 'unixepoch')`;
  const kept = { count: runs, replacing: idsFor(`i / ${EXCHANGES_WITH_RUN} * ${EXCHANGES_OF_SESSION} + ${EXCHANGES_OF_SESSION - EXCHANGES_WITH_RUN} + i % ${EXCHANGES_WITH_RUN}`) };

  await copyAgents(db, agent, agents);
  await copyRow(db, 'sessions__sessions', session, { count: sessions, replacing: idsFor(`i * ${EXCHANGES_OF_SESSION}`) });
  for (const [index, entry] of entries.entries())
    await copyRow(db, 'sessions__entries', entry, {
      count: sessions * EXCHANGES_OF_SESSION,
      replacing: idsFor('i'),
      own: { seq: `i % ${EXCHANGES_OF_SESSION} * ${entries.length} + ${index + 1}`, pending: '0' },
    });
  await copyRow(db, 'journal__runs', run, { ...kept, own: { position: `${atMs} * 1000 + i % 1000`, created_at: at, updated_at: at } });
  for (const step of await ofRun('journal__steps', 'seq')) await copyRow(db, 'journal__steps', step, { ...kept, own: { started_at: at, ended_at: at } });
  for (const [index, usage] of (await ofRun('llm__usage', 'at')).entries()) await copyRow(db, 'llm__usage', usage, { ...kept, own: { id: idOf(10 + index, 'i'), at } });
  await db.close();
  return { runs, entries: sessions * EXCHANGES_OF_SESSION * entries.length };
};

/** Makes one long conversation of the newest session of that agent: its newest exchange, again and again. Resolves with the session's id. */
export const fillConversation = async (home, agentId, exchanges) => {
  const db = await openDatabase(home);
  const [{ id }] = await db.all('SELECT id FROM sessions__sessions WHERE agent_id = ? ORDER BY created_at DESC LIMIT 1', agentId);
  const entries = await db.all('SELECT * FROM sessions__entries WHERE session_id = ? ORDER BY seq', id);
  for (const [index, entry] of entries.entries())
    await copyRow(db, 'sessions__entries', entry, { count: exchanges, replacing: [], own: { seq: `(i + 1) * ${entries.length} + ${index + 1}`, run_id: 'NULL', pending: '0' } });
  await db.close();
  return id;
};
