/** From an operation and its input to a request. */
import { OPERATIONS } from './generated/operations.js';
import type { OperationId } from './operation-types.js';
import type { FetchBody } from './transport.js';

export interface Request {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: FetchBody;
  /** Whether sending it twice has the effect of sending it once. */
  readonly isRepeatable: boolean;
}

/** How the request is called in errors. */
export const labelOf = ({ method, path }: Pick<Request, 'method' | 'path'>): string => `${method} ${path}`;

/** An operation as its area declares it, for one that the generated list does not have. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** `/api/agents/{id}`. */
  readonly path: string;
  readonly takesKey: boolean;
}

export const requestOf = (operation: OperationId | Operation, input: Readonly<Record<string, unknown>>, key: string | undefined): Request => {
  const { id, method, path: template, takesKey } = typeof operation === 'object' ? operation : operationOf(operation);
  if (key !== undefined && !takesKey) throw new TypeError(`${id} takes no Idempotency-Key: the daemon would not store it, and a repeated request would take effect twice.`);
  const { body, ...rest } = input;
  const { path, query } = placed(id, template, rest);
  const sent = bodyOf(body);
  const ownKey = takesKey ? (key ?? newKey()) : undefined;
  return {
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers: { ...sent.headers, ...(ownKey === undefined ? {} : { 'idempotency-key': ownKey }) },
    ...(sent.body === undefined ? {} : { body: sent.body }),
    isRepeatable: method === 'GET' || ownKey !== undefined,
  };
};

/** A request of a route that is known by its address alone. `key` makes it repeatable; the route has to take one. */
export const requestTo = (method: string, path: string, body: unknown, key: string | undefined): Request => {
  const sent = bodyOf(body);
  return {
    method,
    path,
    headers: { ...sent.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    ...(sent.body === undefined ? {} : { body: sent.body }),
    isRepeatable: method === 'GET' || key !== undefined,
  };
};

const operationOf = (id: OperationId): Operation => {
  const row: readonly [string, string, string?] | undefined = OPERATIONS[id];
  if (row === undefined) throw new TypeError(`There is no operation "${String(id)}".`);
  const [method, path, keyed] = row;
  return { id, method, path, takesKey: keyed !== undefined };
};

const placed = (id: string, template: string, given: Readonly<Record<string, unknown>>): { path: string; query: string } => {
  const used = new Set<string>();
  const path = template.replaceAll(/\{\*?([^}]+)\}/g, (_whole, name: string) => {
    const value = given[name];
    // An empty segment would be another path: of a list, say, in place of one of its items.
    if (value === undefined || value === null || value === '') throw new TypeError(`${id} needs "${name}" in its path.`);
    used.add(name);
    const segment = encodeURIComponent(String(value));
    // A segment of dots is taken out of the path by whoever normalises it.
    if (/^\.{1,2}$/.test(segment)) throw new TypeError(`"${name}" of ${id} may not be "${segment}".`);
    return segment;
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (used.has(name) || value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return { path, query: query.toString() };
};

const bodyOf = (body: unknown): { headers: Record<string, string>; body?: FetchBody } => {
  if (body === undefined) return { headers: {} };
  if (body instanceof Uint8Array) return { headers: { 'content-type': 'application/octet-stream' }, body: new Uint8Array(body) };
  // These say themselves what they are; the looks come late, because Node loads the two classes at the first one.
  if (typeof body === 'object' && body !== null && isBrowserBody(body)) return { headers: {}, body };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
};

const isBrowserBody = (body: object): body is Blob | FormData => ['Blob', 'File', 'FormData'].includes(Object.prototype.toString.call(body).slice(8, -1));

/** A UUID. `crypto.randomUUID` is not there on pages that came over plain HTTP. */
export const newKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => (index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte).toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
