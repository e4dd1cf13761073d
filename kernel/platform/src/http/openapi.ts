/** The OpenAPI 3.1 document: folded from what is mounted now, so that it cannot say anything else. */
import { createHash } from 'node:crypto';
import { ErrorBody, type RouteDecl, type SocketDecl, type TSchema } from '@svc/api';
import type { RouteTable, Row } from './route-table.js';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the service answers. */
  readonly serverUrl: string;
  /** SPDX. */
  readonly license: string;
}

export interface ApiDescription {
  readonly etag: string;
  readonly document: Readonly<Record<string, unknown>>;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

type Json = Record<string, unknown>;

const ERROR = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } };
const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is not what this call takes',
  401: 'The API key is missing or wrong',
  404: 'It does not exist',
  413: 'The body is too large',
  426: 'This path speaks WebSocket',
  429: 'The rate limit is used up; Retry-After says for how long, in seconds',
  500: 'Internal error; the log has the cause under the request id',
};

/** Made again only when a table or the info has changed. */
export const createApiDescriber = (routes: () => RouteTable<RouteDecl>, sockets: () => RouteTable<SocketDecl>): ((info: ApiInfo) => ApiDescription) => {
  let key = '';
  let made: ApiDescription | undefined;
  return (info) => {
    const now = `${routes().version}.${sockets().version}.${JSON.stringify(info)}`;
    if (made && now === key) return made;
    const document = describe(info, routes().rows, sockets().rows);
    key = now;
    made = { document, etag: `"${createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 32)}"` };
    return made;
  };
};

function describe(info: ApiInfo, routes: ReadonlyArray<Row<RouteDecl>>, sockets: ReadonlyArray<Row<SocketDecl>>): Json {
  const paths: Record<string, Json> = {};
  // One name for paths that differ only in what they call their parameters.
  const named = new Map<string, readonly string[]>();
  const all: ReadonlyArray<Row<RouteDecl> | Row<SocketDecl>> = [...sockets, ...routes];
  for (const row of [...all].sort((a, b) => (a.pattern.path < b.pattern.path ? -1 : a.pattern.path > b.pattern.path ? 1 : 0))) {
    const own = parameterNames(row);
    const names = named.get(row.pattern.shape) ?? own;
    named.set(row.pattern.shape, names);
    const operation = 'handler' in row.decl ? routeOperation(row.decl, row.owner.id, own, names) : socketOperation(row.decl, row.owner.id, names);
    const path = writtenPath(row, names);
    const item = paths[path] ?? {};
    // A route at a socket's path answers the same GET; the route says more.
    item[row.method.toLowerCase()] = operation;
    paths[path] = item;
  }
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, description: info.description, license: { name: info.license, identifier: info.license } },
    servers: [{ url: info.serverUrl }],
    security: [],
    paths,
    components: {
      ...(Object.keys(paths).length > 0 ? { schemas: { ErrorBody: plain(ErrorBody) } } : {}),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function routeOperation(decl: RouteDecl, owner: string, own: readonly string[], names: readonly string[]): Json {
  const parameters = [...pathParameters(decl.params, own, names), ...queryParameters(decl.query)];
  return {
    ...common(decl, owner, parameters),
    ...(decl.body ? { requestBody: { required: decl.bodyRule !== 'optional', content: { 'application/json': { schema: plain(decl.body) } } } } : {}),
    ...(decl.rawBody ? { requestBody: { content: { 'application/octet-stream': { schema: {} } } } } : {}),
    responses: responsesOf(decl),
  };
}

function socketOperation(decl: SocketDecl, owner: string, names: readonly string[]): Json {
  const responses: Json = { 101: { description: 'Switching to WebSocket' }, '2XX': { description: 'Never answered: the connection becomes a WebSocket' } };
  for (const status of [400, ...(decl.auth === 'bearer' ? [401] : []), 404, 426, 429, 500]) responses[status] = failure(status);
  return { ...common(decl, owner, pathParameters(undefined, names, names)), responses };
}

const common = (decl: RouteDecl | SocketDecl, owner: string, parameters: Json[]): Json => ({
  operationId: decl.id,
  summary: decl.summary,
  tags: [owner],
  security: decl.auth === 'bearer' ? [{ bearer: [] }] : [],
  ...(parameters.length > 0 ? { parameters } : {}),
});

function responsesOf(decl: RouteDecl): Json {
  const responses: Json = {};
  for (const [status, declared] of Object.entries(decl.responses)) responses[status] = success(Number(status), declared);
  const takesInput = decl.params !== undefined || decl.query !== undefined || decl.body !== undefined;
  const usual = [...(takesInput ? [400] : []), ...(decl.auth === 'bearer' ? [401] : []), ...(decl.path.includes('{') ? [404] : []), ...(decl.body || decl.rawBody ? [413] : []), 429, 500];
  for (const status of usual) responses[status] ??= failure(status);
  return responses;
}

function success(status: number, declared: RouteDecl['responses'][number]): Json {
  if ('contentType' in declared) return { description: String(declared.description), content: { [String(declared.contentType)]: { schema: {} } } };
  const schema = declared as TSchema; // the other form has a contentType
  const description = schema.description ?? REASONS[status] ?? (status < 300 ? 'Success' : 'Refused');
  if (status === 204 || status === 304) return { description };
  return { description, content: schema.$id === 'ErrorBody' ? ERROR : { 'application/json': { schema: plain(schema) } } };
}

const failure = (status: number): Json => ({ description: REASONS[status] ?? 'Refused', content: ERROR });

/** The parameters of the path under the names that the document uses for it. */
function pathParameters(schema: TSchema | undefined, own: readonly string[], names: readonly string[]): Json[] {
  const properties = (schema as ObjectSchema | undefined)?.properties ?? {}; // params are declared as an object
  return names.map((name, index) => {
    const declared = properties[own[index] ?? name];
    return { name, in: 'path', required: true, schema: declared ? plain(declared) : { type: 'string' } };
  });
}

function queryParameters(schema: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema; // queries are declared as an object
  return Object.entries(properties).map(([name, declared]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && declared.default === undefined ? { required: true } : {}),
    ...(declared.description ? { description: declared.description } : {}),
    schema: plain(declared),
  }));
}

const parameterNames = (row: Row<RouteDecl> | Row<SocketDecl>): string[] => row.pattern.segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name]));

const writtenPath = (row: Row<RouteDecl> | Row<SocketDecl>, names: readonly string[]): string => {
  let next = 0;
  return `/${row.pattern.segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${names[next++]}}`)).join('/')}`;
};

/** A schema as plain JSON, with the shared error body as a reference and without ids, which would open scopes of their own. */
function plain(schema: TSchema): Json {
  const isShared = schema !== ErrorBody;
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$id' in value)) return value;
    if (isShared && value.$id === 'ErrorBody') return { $ref: '#/components/schemas/ErrorBody' };
    const { $id: _dropped, ...rest } = value;
    return rest;
  }) as Json; // a schema is a JSON object
}
