/** The OpenAPI 3.1 document: folded from what is mounted now, so that it cannot say anything else. */
import { createHash } from 'node:crypto';
import { IdempotencyKey, type RouteDecl, type SocketDecl, Type, type TObject, type TSchema } from '@svc/api';
import type { OpenApiParts } from '@svc/api/internal';
import { HEADERS, routeAnswers, sharedAnswers, socketAnswers } from './openapi-answers.js';
import { type Json, type NamedSchemas, type Plain, plainWith } from './openapi-schemas.js';
import type { RouteTable, Row } from './route-table.js';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the service answers. */
  readonly serverUrl: string;
  /** SPDX. */
  readonly license: string;
  /** What each area is for, by its id. */
  readonly areas: Readonly<Record<string, string>>;
}

export interface ApiDescription {
  readonly etag: string;
  readonly document: OpenApiParts & Json;
}

type AnyRow = DescribedRow<RouteDecl> | DescribedRow<SocketDecl>;
/** As much of a row as the document is made from. */
export type DescribedRow<D extends RouteDecl | SocketDecl> = Pick<Row<D>, 'decl' | 'method' | 'pattern'> & { readonly owner: { readonly id: string } };

/** Made again only when a table or the info has changed. */
export const createApiDescriber = (routes: () => RouteTable<RouteDecl>, sockets: () => RouteTable<SocketDecl>): ((info: ApiInfo) => ApiDescription) => {
  let key = '';
  let made: ApiDescription | undefined;
  return (info) => {
    const now = `${routes().version}.${sockets().version}.${JSON.stringify(info)}`;
    if (made && now === key) return made;
    const document = describeApi(info, routes().rows, sockets().rows);
    key = now;
    made = { document, etag: `"${createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 32)}"` };
    return made;
  };
};

export const describeApi = (info: ApiInfo, routes: ReadonlyArray<DescribedRow<RouteDecl>>, sockets: ReadonlyArray<DescribedRow<SocketDecl>>): OpenApiParts & Json => {
  const paths: Record<string, Json> = {};
  const schemas: NamedSchemas = {};
  const plain = plainWith(schemas);
  // One name for paths that differ only in what they call their parameters.
  const named = new Map<string, readonly string[]>();
  const all: readonly AnyRow[] = [...sockets, ...routes];
  for (const row of [...all].sort((a, b) => byText(a.pattern.path, b.pattern.path))) {
    const own = parameterNames(row);
    const names = named.get(row.pattern.shape) ?? own;
    named.set(row.pattern.shape, names);
    const operation = 'method' in row.decl ? routeOperation(plain, row.decl, row.owner.id, own, names) : socketOperation(plain, row.decl, row.owner.id, own, names);
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
    tags: tagsOf(all, info.areas),
    paths,
    components: {
      schemas,
      headers: HEADERS,
      responses: sharedAnswers(plain, JSON.stringify(paths)),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `api_key` of config.toml, where one is set. A page logs in with it instead (`POST /auth/session`): its browser then sends a cookie with each call',
        },
      },
    },
  };
};

const tagsOf = (rows: readonly AnyRow[], areas: ApiInfo['areas']): Json[] =>
  [...new Set(rows.map((row) => row.owner.id))].sort(byText).map((name) => ({ name, ...(areas[name] ? { description: areas[name] } : {}) }));

const routeOperation = (plain: Plain, decl: RouteDecl, owner: string, own: readonly string[], names: readonly string[]): Json => {
  const parameters = [...pathParameters(plain, decl.params, own, names), ...inputs(plain, 'query', decl.query), ...inputs(plain, 'header', headersOf(decl))];
  return {
    ...common(decl, owner, parameters),
    ...(decl.body ? { requestBody: { required: decl.bodyRule !== 'optional', content: { 'application/json': { schema: plain(decl.body), ...examplesOf(decl) } } } } : {}),
    ...(decl.rawBody || decl.streamBody ? { requestBody: { content: takenTypes(plain, decl) } } : {}),
    responses: routeAnswers(plain, decl),
  };
};

const takenTypes = (plain: Plain, { takes }: RouteDecl): Json =>
  takes ? Object.fromEntries(Object.entries(takes).map(([type, schema]) => [type, { schema: plain(schema) }])) : { 'application/octet-stream': { schema: {} } };

const examplesOf = ({ examples }: RouteDecl): Json =>
  examples ? { examples: Object.fromEntries(Object.entries(examples).map(([summary, value], index) => [`example${index + 1}`, { summary, value }])) } : {};

const socketOperation = (plain: Plain, decl: SocketDecl, owner: string, own: readonly string[], names: readonly string[]): Json => ({
  ...common(decl, owner, [...pathParameters(plain, decl.params, own, names), ...inputs(plain, 'query', decl.query)]),
  responses: socketAnswers(plain, decl),
});

const common = (decl: RouteDecl | SocketDecl, owner: string, parameters: Json[]): Json => ({
  operationId: decl.id,
  summary: decl.summary,
  ...(decl.description ? { description: decl.description } : {}),
  tags: [owner],
  security: decl.auth === 'bearer' ? [{ bearer: [] }] : [],
  ...(parameters.length > 0 ? { parameters } : {}),
});

const headersOf = ({ headers, idempotent }: RouteDecl): TObject | undefined => (idempotent ? Type.Object({ ...IdempotencyKey, ...headers?.properties }) : headers);

/** An id as it could be, so that a page can fill it in. */
const SOME_UUID = '0d1f6f0a-4f6c-4b4e-9f57-0c7f4f1f2a61';

/** The parameters of the path under the names that the document uses for it. */
const pathParameters = (plain: Plain, schema: TObject | undefined, own: readonly string[], names: readonly string[]): Json[] =>
  names.map((name, index) => {
    const declared = schema?.properties[own[index] ?? name];
    return { name, in: 'path', required: true, ...reported(declared, true), schema: declared ? plain(declared) : { type: 'string' } };
  });

const inputs = (plain: Plain, place: 'query' | 'header', schema: TObject | undefined): Json[] => {
  const { properties, required = [] } = schema ?? { properties: {} };
  const isNeeded = (name: string, declared: TSchema): boolean => required.includes(name) && declared.default === undefined;
  return Object.entries(properties).map(([name, declared]) => ({
    name,
    in: place,
    ...(isNeeded(name, declared) ? { required: true } : {}),
    ...reported(declared, isNeeded(name, declared)),
    schema: plain(declared),
  }));
};

/** What stands beside the schema of a parameter. An example is filled in by pages, so one that may be left out has none. */
const reported = (declared: TSchema | undefined, isNeeded: boolean): Json => {
  const example: unknown = Array.isArray(declared?.examples) ? declared.examples[0] : (declared?.format ?? declared?.['x-documented']?.format) === 'uuid' ? SOME_UUID : undefined;
  return { ...(declared?.description ? { description: declared.description } : {}), ...(isNeeded && example !== undefined ? { example } : {}) };
};

const parameterNames = (row: AnyRow): string[] => row.pattern.segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name]));

const writtenPath = (row: AnyRow, names: readonly string[]): string => {
  let next = 0;
  return `/${row.pattern.segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${names[next++]}}${segment.action ?? ''}`)).join('/')}`;
};

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
