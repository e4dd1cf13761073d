/** The members of a context that ask the daemon: rows, files, secrets, the network. What each may reach is validated there. */
import {
  type Actor,
  type Db,
  type Dir,
  type Egress,
  type ExtensionContext,
  type FetchInit,
  type FetchResponse,
  type FileRoot,
  type Files,
  type Reader,
  type Row,
  type Scalar,
  type Secrets,
  type Select,
  type Where,
  type Write,
  parsedUrl,
} from '@svc/api';
import type { TextSearch } from '@svc/api/internal';
import type { Peer } from '../channel/peer.js';
import { isolationErrors } from '../errors.js';
import type { WireFetch, WireReader, WireWrite } from '../protocol.js';

/** Behind a write stands what was asked for; a copy of it is nothing. */
const asked = new WeakMap<Write, WireWrite>();

export const sealed = (id: string, what: string, write: WireWrite): Write => {
  const one: Write = Object.freeze({ sealed: `${id}: ${what}` });
  asked.set(one, write);
  return one;
};

const wireOf = (write: Write): WireWrite => {
  const wire = asked.get(write);
  if (!wire) throw isolationErrors.not_plain('a write that this extension did not create; it cannot pass on writes of others');
  return wire;
};

export const childDb = (peer: Peer, id: string): Db => {
  const make =
    (name: 'insert' | 'update' | 'upsert' | 'remove' | 'sql') =>
    (...args: unknown[]): Write =>
      sealed(id, `${name} ${String(args[0])}`, { make: name, args });
  // The daemon answers with rows of the shape that the caller's own tables have.
  const ask = <T>(to: string, ...args: unknown[]): Promise<T> => peer.call(to, args) as Promise<T>;
  const reader = (who: WireReader): Reader =>
    Object.freeze({
      select: <T = Row>(query: Select) => ask<T[]>('db.select', who, query),
      first: <T = Row>(query: Select) => ask<T | undefined>('db.first', who, query),
      count: (table: string, where?: Where, search?: TextSearch) => ask<number>('db.count', who, table, where, search),
      page: <T = Row>(query: Select) => ask<{ rows: T[]; next: string | null }>('db.page', who, query),
      read: <T = Row>(sql: string, args: readonly Scalar[] = []) => ask<T[]>('db.read', who, sql, args),
      readOne: <T = Row>(sql: string, args: readonly Scalar[] = []) => ask<T | undefined>('db.readOne', who, sql, args),
    });
  return Object.freeze({
    insert: make('insert'),
    update: make('update'),
    upsert: make('upsert'),
    remove: make('remove'),
    sql: make('sql'),
    as: (actor: Actor) => reader(['as', actor]),
    system: (why: string) => reader(['system', why]),
    commit: async (writes: readonly Write[]) => ask<{ changes: readonly number[] }>('db.commit', writes.map(wireOf)),
    table: (name: string) => `${id.replaceAll('-', '_')}__${name}`,
  });
};

export const childFetch =
  (peer: Peer): ExtensionContext['fetch'] =>
  async (url, init) => {
    const { signal, ...rest }: FetchInit = init;
    // The daemon answers fetch with this shape.
    return responseOf((await peer.call('fetch', [url, rest], { signal })) as WireFetch);
  };

const responseOf = ({ status, headers, url, body }: WireFetch): FetchResponse => {
  const pieces = body[Symbol.asyncIterator]();
  const whole = async (): Promise<Buffer> => {
    const all: Uint8Array[] = [];
    for await (const piece of { [Symbol.asyncIterator]: () => pieces }) all.push(piece);
    return Buffer.concat(all);
  };
  return {
    status,
    headers,
    url,
    body: { [Symbol.asyncIterator]: () => pieces },
    each: async (take) => {
      for await (const piece of { [Symbol.asyncIterator]: () => pieces }) take(piece);
    },
    text: async () => (await whole()).toString('utf8'),
    json: async (): Promise<unknown> => JSON.parse((await whole()).toString('utf8')),
    cancel: () => void Promise.resolve(pieces.return?.()).catch(() => undefined),
  };
};

export const childEgress = (peer: Peer): Egress => {
  let next = 1;
  return {
    allow: (baseUrl, purpose = 'model', { proxy } = {}) => {
      if (!parsedUrl(baseUrl)) throw isolationErrors.not_plain(`"${baseUrl}", which is not a URL`);
      const entry = next++;
      // Messages keep their order: a request that follows finds it allowed.
      peer.notify('egress.allow', [entry, baseUrl, purpose, proxy ?? null]);
      return { dispose: () => peer.notify('egress.drop', [entry]) };
    },
    refusal: (url) => peer.call('egress.refusal', [url]) as Promise<string | undefined>,
  };
};

export const childSecrets = (peer: Peer): Secrets => {
  const ask = <T>(to: string, ...args: unknown[]): Promise<T> => peer.call(`secrets.${to}`, args) as Promise<T>;
  return {
    where: (ref) => ask('where', ref),
    login: (ref) => ask('login', ref),
    put: (name, value) => ask('put', name, value),
    delete: (name) => ask('delete', name),
    list: (prefix) => ask('list', prefix),
    sign: (name, data) => ask('sign', name, data),
    hmac: (name, data, options) => ask('hmac', name, data, options),
  };
};

type Root = 'data' | 'cache' | 'assets' | FileRoot;

export const childFiles = (peer: Peer, folders: Readonly<Record<'data' | 'cache', string>>): Files => ({
  data: dirOf(peer, 'data', '', folders.data),
  cache: dirOf(peer, 'cache', '', folders.cache),
  assets: dirOf(peer, 'assets', '', ''),
  root: (name) => dirOf(peer, name, '', ''),
  foreign: () => Promise.reject(isolationErrors.unavailable('files.foreign')),
});

const dirOf = (peer: Peer, root: Root, under: string, path: string): Dir => {
  const ask = <T>(to: string, ...args: unknown[]): Promise<T> => peer.call(`files.${to}`, [root, under, ...args]) as Promise<T>;
  return {
    path,
    read: (file, options) => ask('read', file, options),
    readText: (file, options) => ask('readText', file, options),
    write: (file, data, options) => ask('write', file, data, options),
    readStream: (file, options) => pieces(() => ask('readStream', file, options)),
    writeStream: (file, source, options) => ask('writeStream', file, source, options),
    list: (file, options) => ask('list', file, options),
    stat: (file) => ask('stat', file),
    remove: (file, options) => ask('remove', file, options),
    dir: (name) => dirOf(peer, root, under === '' ? name : `${under}/${name}`, path === '' ? '' : `${path}/${name}`),
  };
};

/** Nothing is asked for before the first piece is. */
async function* pieces(open: () => Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  yield* await open();
}
