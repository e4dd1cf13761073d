/**
 * Where the process can die: every commit of every owner, and every call of an adapter, before and after.
 * They are found by running, not listed: each is named as it is reached, and the name with its turn is the point.
 */
import { appendFileSync } from 'node:fs';
import type { Db, Dir, FetchResponse, Write } from '@svc/api';
import type { PartFactories } from '@svc/daemon';

export interface CrashPoints {
  /** One more place is reached; the process may end here. */
  reach(name: string): void;
}

/** The file that each point is appended to, and the point at which the process kills itself; `any #7` is the seventh of all. */
export interface Watch {
  readonly file: string;
  readonly killAt?: string | undefined;
}

/** The process dies with no chance to tidy up. `watch` begins to count anew. */
export const createCrashPoints = (first: Watch): CrashPoints & { watch(next: Watch): void } => {
  const turns = new Map<string, number>();
  let { file, killAt } = first;
  let reached = 0;
  return {
    reach(name) {
      const turn = (turns.get(name) ?? 0) + 1;
      turns.set(name, turn);
      reached += 1;
      appendFileSync(file, `${name} #${turn}\n`);
      if (killAt === `${name} #${turn}` || killAt === `any #${reached}`) process.kill(process.pid, 'SIGKILL');
    },
    watch(next) {
      ({ file, killAt } = next);
      turns.clear();
      reached = 0;
    },
  };
};

/** The standard parts, with a point before and after whatever they do. */
export const crashingFactories = (points: CrashPoints, parts: PartFactories): PartFactories => ({
  ...parts,
  openStorage: async (options) => {
    const storage = await parts.openStorage(options);
    return {
      ...storage,
      dbFor: (owner) => crashingDb(points, storage.dbFor(owner), owner.id),
      migrate: (owner, migrations) => around(points, `commit ${owner.id}: migration`, () => storage.migrate(owner, migrations)),
    };
  },
  createFetchAdapter: (deps) => {
    const entryPoint = parts.createFetchAdapter(deps);
    return {
      ...entryPoint,
      fetch: async (url, init, resolve) => crashingResponse(points, init.purpose, await around(points, `fetch ${init.purpose}`, () => entryPoint.fetch(url, init, resolve))),
    };
  },
  createExecAdapter: (deps) => {
    const entryPoint = parts.createExecAdapter(deps);
    return {
      ...entryPoint,
      exec: (command, args, options) => around(points, 'exec', () => entryPoint.exec(command, args, options)),
      spawn: (owner, command, args, options) => around(points, 'spawn', () => entryPoint.spawn(owner, command, args, options)),
      endSurvivors: (ownerKey) => around(points, 'exec end survivors', () => entryPoint.endSurvivors(ownerKey)),
    };
  },
  createTcpAdapter: (deps) => {
    const entryPoint = parts.createTcpAdapter(deps);
    return { ...entryPoint, dial: (caller, options) => around(points, 'dial', () => entryPoint.dial(caller, options)) };
  },
  openDir: (root) => crashingDir(points, parts.openDir(root)),
});

const around = async <T>(points: CrashPoints, name: string, work: () => Promise<T>): Promise<T> => {
  points.reach(`before ${name}`);
  const result = await work();
  points.reach(`after ${name}`);
  return result;
};

const crashingDb = (points: CrashPoints, db: Db, owner: string): Db => ({
  ...db,
  sql: (text, args, options) => {
    const write = db.sql(text, args, options);
    sqlOf.set(write, text);
    return write;
  },
  commit: (writes) => around(points, `commit ${owner}: ${kindOf(writes)}`, () => db.commit(writes)),
});

/** The text of what was written as SQL; the rest says in its seal what it does. */
const sqlOf = new WeakMap<Write, string>();

/** What a commit does, without its values: commits of one kind look alike. */
const kindOf = (writes: readonly Write[]): string => [...new Set(writes.flatMap(verbOf))].join(', ');

const verbOf = (write: Write): string[] => {
  const sql = sqlOf.get(write);
  if (sql === undefined) return / event /.test(write.sealed) ? [] : [write.sealed];
  const [, verb, table] = /^\s*(insert|update|delete)\s+(?:into\s+|from\s+|or\s+\w+\s+into\s+)?(\w+)/i.exec(sql) ?? [];
  // An end of a run and a touch of it are both updates of its row, and not the same place.
  const to = /status = '(\w+)', |(result = )/.exec(sql);
  return [`${verb?.toLowerCase() ?? 'sql'} ${table ?? ''}${to ? ` (${to[1] ?? 'end'})` : ''}`];
};

/** A body in the middle of its way, and at its end. */
const crashingResponse = (points: CrashPoints, purpose: string, response: FetchResponse): FetchResponse => ({
  ...response,
  body: pieces(points, purpose, response.body),
  each: async (take) => {
    let isFirst = true;
    await response.each((piece) => {
      take(piece);
      if (isFirst) points.reach(`within fetch ${purpose} body`);
      isFirst = false;
    });
    points.reach(`after fetch ${purpose} body`);
  },
  text: () => around(points, `fetch ${purpose} text`, () => response.text()),
  json: () => around(points, `fetch ${purpose} json`, () => response.json()),
  cancel: () => response.cancel(),
});

async function* pieces(points: CrashPoints, purpose: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of body) {
    yield piece;
    if (isFirst) points.reach(`within fetch ${purpose} body`);
    isFirst = false;
  }
  points.reach(`after fetch ${purpose} body`);
}

const crashingDir = (points: CrashPoints, dir: Dir): Dir => ({
  path: dir.path,
  read: (path, options) => dir.read(path, options),
  readText: (path, options) => dir.readText(path, options),
  list: (path, options) => dir.list(path, options),
  stat: (path) => dir.stat(path),
  write: (path, data, options) => around(points, 'file write', () => dir.write(path, data, options)),
  readStream: (path, options) => dir.readStream(path, options),
  writeStream: (path, source, options) => around(points, 'file write', () => dir.writeStream(path, source, options)),
  remove: (path, options) => around(points, 'file remove', () => dir.remove(path, options)),
  dir: (path) => crashingDir(points, dir.dir(path)),
});
