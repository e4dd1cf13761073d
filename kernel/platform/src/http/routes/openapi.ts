/** The OpenAPI 3.1 document: folded from what is mounted now, so that it cannot say anything else. */
import { createHash } from 'node:crypto';
import { ErrorBody, isTable, type MediaAnswer, type RouteDecl, type SocketDecl, type TObject, type TSchema } from '@svc/api';
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

type Json = Record<string, unknown>;

interface Described {
  readonly description: string;
  readonly content?: Json;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is not what this call takes',
  401: 'The API key is missing or wrong',
  403: 'The caller may not do this, or not from there',
  404: 'It does not exist',
  406: 'The Accept header names a version that there is not',
  408: 'The body came too slowly',
  409: 'It does not go with what is there now',
  412: 'Something has to be set first: the key of a provider, say',
  413: 'The body is too large',
  415: 'The body is not of the type that this call takes',
  426: 'This path speaks WebSocket',
  429: 'The rate limit is used up; Retry-After says for how long, in seconds',
  500: 'Internal error; the log has the cause under the request id',
  503: 'Not at the moment: the service starts, stops or is closed. Retry-After says when to ask again, in seconds',
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
  const schemas: NamedSchemas = {};
  const plain = plainWith(schemas);
  // One name for paths that differ only in what they call their parameters.
  const named = new Map<string, readonly string[]>();
  const all: ReadonlyArray<Row<RouteDecl> | Row<SocketDecl>> = [...sockets, ...routes];
  for (const row of [...all].sort((a, b) => (a.pattern.path < b.pattern.path ? -1 : a.pattern.path > b.pattern.path ? 1 : 0))) {
    const own = parameterNames(row);
    const names = named.get(row.pattern.shape) ?? own;
    named.set(row.pattern.shape, names);
    const operation = 'handler' in row.decl ? routeOperation(plain, row.decl, row.owner.id, own, names) : socketOperation(plain, row.decl, row.owner.id, own, names);
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
      ...(Object.keys(schemas).length > 0 ? { schemas } : {}),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function routeOperation(plain: Plain, decl: RouteDecl, owner: string, own: readonly string[], names: readonly string[]): Json {
  const parameters = [...pathParameters(plain, decl.params, own, names), ...queryParameters(plain, decl.query)];
  return {
    ...common(decl, owner, parameters),
    ...(decl.body ? { requestBody: { required: decl.bodyRule !== 'optional', content: { 'application/json': { schema: plain(decl.body), ...examplesOf(decl) } } } } : {}),
    ...(decl.rawBody || decl.streamBody ? { requestBody: { content: takenTypes(plain, decl) } } : {}),
    responses: responsesOf(plain, decl),
  };
}

const takenTypes = (plain: Plain, { takes }: RouteDecl): Json =>
  takes ? Object.fromEntries(Object.entries(takes).map(([type, schema]) => [type, { schema: plain(schema) }])) : { 'application/octet-stream': { schema: {} } };

const examplesOf = ({ examples }: RouteDecl): Json =>
  examples ? { examples: Object.fromEntries(Object.entries(examples).map(([summary, value], index) => [`example${index + 1}`, { summary, value }])) } : {};

function socketOperation(plain: Plain, decl: SocketDecl, owner: string, own: readonly string[], names: readonly string[]): Json {
  const responses: Json = { 101: { description: 'Switching to WebSocket' }, '2XX': { description: 'Never answered: the connection becomes a WebSocket' } };
  for (const status of [400, ...bearerOnly(decl), 404, 426, ...ALWAYS]) responses[status] = failure(plain, status);
  return { ...common(decl, owner, pathParameters(plain, decl.params, own, names)), responses };
}

const common = (decl: RouteDecl | SocketDecl, owner: string, parameters: Json[]): Json => ({
  operationId: decl.id,
  summary: decl.summary,
  ...('description' in decl && decl.description ? { description: decl.description } : {}),
  tags: [owner],
  security: decl.auth === 'bearer' ? [{ bearer: [] }] : [],
  ...(parameters.length > 0 ? { parameters } : {}),
});

/** Any call may meet these, whatever it does. */
const ALWAYS = [403, 406, 429, 500, 503];
const ofBody = (decl: RouteDecl): number[] => (decl.body ? [400, 408, 413, 415] : decl.rawBody || decl.streamBody ? [400, 408, 413] : []);
const bearerOnly = (decl: RouteDecl | SocketDecl): number[] => (decl.auth === 'bearer' ? [401] : []);

function responsesOf(plain: Plain, decl: RouteDecl): Json {
  const responses: Json = {};
  for (const [status, declared] of Object.entries(decl.responses)) {
    const answer = success(plain, Number(status), declared);
    responses[status] = decl.streamed && status === '200' ? orStreamed(plain, answer, decl.streamed) : answer;
  }
  const takesInput = decl.params !== undefined || decl.query !== undefined;
  const usual = [...(takesInput ? [400] : []), ...ofBody(decl), ...bearerOnly(decl), ...(decl.path.includes('{') ? [404] : []), ...ALWAYS];
  for (const status of usual) responses[status] ??= failure(plain, status);
  return responses;
}

const orStreamed = (plain: Plain, { description, content }: Described, streamed: MediaAnswer): Described => ({
  description: `${description}; or ${streamed.description}`,
  content: { ...content, ...mediaOf(plain, streamed) },
});

function success(plain: Plain, status: number, declared: RouteDecl['responses'][number]): Described {
  if (isMedia(declared)) return { description: declared.description, content: mediaOf(plain, declared) };
  const schema = declared;
  const description = schema.description ?? REASONS[status] ?? (status < 300 ? 'Success' : 'Refused');
  if (status === 204 || status === 304) return { description };
  return { description, content: { 'application/json': { schema: plain(schema) } } };
}

const isMedia = (declared: TSchema | MediaAnswer): declared is MediaAnswer => 'contentType' in declared;

const mediaOf = (plain: Plain, { contentType, events }: MediaAnswer): Json => ({ [contentType]: { schema: events ? streamOf(plain, events) : { type: 'string' } } });

/** A stream as the list of its events, which is how OpenAPI 3.2 reads sequential media types; 3.1 has no word for it. */
const streamOf = (plain: Plain, events: Readonly<Record<string, TSchema>>): Json => {
  const [first, ...others] = Object.entries(events).map(([name, data]) => ({
    type: 'object',
    required: [...(name === '' ? [] : ['event']), 'data'],
    properties: { ...(name === '' ? {} : { event: { const: name } }), id: { type: 'string' }, data: plain(data) },
  }));
  return {
    type: 'array',
    description: 'The events in the order they come; `data` is sent as one line of JSON, `id` names a place from which Last-Event-ID resumes',
    items: others.length === 0 ? first : { oneOf: [first, ...others] },
  };
};

const failure = (plain: Plain, status: number): Json => ({ description: REASONS[status] ?? 'Refused', content: { 'application/json': { schema: plain(ErrorBody) } } });

/** The parameters of the path under the names that the document uses for it. */
function pathParameters(plain: Plain, schema: TObject | undefined, own: readonly string[], names: readonly string[]): Json[] {
  return names.map((name, index) => {
    const declared = schema?.properties[own[index] ?? name];
    return { name, in: 'path', required: true, schema: declared ? plain(declared) : { type: 'string' } };
  });
}

function queryParameters(plain: Plain, schema: TObject | undefined): Json[] {
  const { properties, required = [] } = schema ?? { properties: {} };
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

type NamedSchemas = Record<string, Json>;
type Plain = (schema: TSchema) => Json;

/** Makes schemas plain JSON. One that has a name is listed once and referred to; ids are left out, since they would open scopes of their own. */
const plainWith = (named: NamedSchemas): Plain => {
  // Many places show the same few schemas.
  const texts = new Map<string, string>();
  const refer = (name: string, schema: Json): Json => {
    const text = JSON.stringify(schema);
    const known = texts.get(name);
    // Two areas may mean two things by one name: then the second stands where it is used.
    if (known !== undefined && known !== text) return schema;
    texts.set(name, text);
    named[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  return (schema) =>
    JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
      if (!isTable(value)) return value;
      // What the handler judges itself is documented like what the validator does.
      const { $id: _dropped, 'x-format': format, 'x-name': name, ...rest } = value;
      const bare = format === undefined ? rest : { ...rest, format };
      return typeof name === 'string' ? refer(name, bare) : bare;
    }) as Json; // a schema is a JSON object
};
