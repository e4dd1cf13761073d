/**
 * Calls every route that a daemon has mounted, whichever those are, with parameters that name nothing:
 * a walk changes nothing, and an area that is added later is walked too.
 */
import type { Method, RouteDecl, SocketDecl } from '@svc/api';
import type { TestAnswer, TestHttp, TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { WebSocket } from 'ws';

export const NOBODY = '00000000-0000-4000-8000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export interface Walked {
  readonly id: string;
  readonly method: Method;
  /** As declared, `/api/agents/{id}`. */
  readonly template: string;
  /** With every parameter filled in. */
  readonly path: string;
  readonly isSocket: boolean;
  readonly decl: RouteDecl | SocketDecl;
}

/** `{id}` and other ids become one that nobody has; names become one that nothing is called. */
export const fillPath = (template: string, values: Readonly<Record<string, string>> = {}): string =>
  template.replace(/\{\*?([^}]+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? (/(^|_)id$/.test(name) ? NOBODY : 'nothing-of-that-name')));

export const walk = (kernel: TestKernel, values: Readonly<Record<string, string>> = {}): Walked[] => {
  const { routes, sockets } = kernel.daemon.parts.http;
  return [
    ...routes.active().map(({ value }) => toWalked(value, value.method, false, values)),
    // The registry forgot the type of the state a socket keeps; nothing here looks at it.
    ...sockets.active().map(({ value }) => toWalked(value as SocketDecl, 'GET', true, values)),
  ];
};

/** What a path counts by is a number. */
const numbersOf = ({ params }: RouteDecl | SocketDecl): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries((params?.properties ?? {}) as Readonly<Record<string, Sampled>>).flatMap(([name, { type }]) => (type === 'integer' ? [[name, '1']] : [])));

const toWalked = (decl: RouteDecl | SocketDecl, method: Method, isSocket: boolean, values: Readonly<Record<string, string>>): Walked => ({
  id: decl.id,
  method,
  template: decl.path,
  path: fillPath(decl.path, { ...values, ...numbersOf(decl) }),
  isSocket,
  decl,
});

/** Some routes start programs to look at their versions. */
const LONGEST_MS = 20_000;

/** Sends a request that the route's schemas accept as far as that can be guessed from them. */
export const call = async (http: TestHttp, one: Walked, headers: Record<string, string> = {}): Promise<TestAnswer> => {
  if (one.isSocket) return refusalOrUpgrade(http.url, one.path, headers);
  const answer = await http.raw(one.method, one.path, bodyFor(one), headers, AbortSignal.timeout(LONGEST_MS)).catch((cause: unknown) => {
    throw new Error(`${one.method} ${one.template} gave no answer`, { cause });
  });
  // A stream that begins is answer enough; it may have no end.
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (isStream) await answer.body?.cancel();
  const text = isStream ? '' : await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: parse(text) };
};

const bodyFor = (one: Walked): unknown => {
  const schema = 'body' in one.decl ? one.decl.body : undefined;
  return schema ? sampleOf(schema) : undefined;
};

interface Sampled {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Sampled[];
  readonly properties?: Readonly<Record<string, Sampled>>;
  readonly required?: readonly string[];
  readonly items?: Sampled;
  readonly minItems?: number;
  readonly minimum?: number;
}

/** The least value that a schema accepts. */
const sampleOf = (given: unknown): unknown => {
  const schema = given as Sampled; // a JSON Schema
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sampleOf(schema.anyOf[0]);
  if (schema.type === 'object') return Object.fromEntries((schema.required ?? []).map((key) => [key, sampleOf(schema.properties?.[key] ?? {})]));
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  return schema.type === 'boolean' ? false : 'x';
};

/** What a WebSocket handshake is answered: 101, or the refusal as an HTTP answer. */
export const refusalOrUpgrade = (url: string, path: string, headers: Record<string, string> = {}, protocols: string[] = []): Promise<TestAnswer> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + path, protocols, { headers });
    let head: Headers | undefined;
    socket.on('upgrade', (response) => {
      head = headersFrom(response.headers);
    });
    socket.on('open', () => {
      socket.close();
      resolve({ status: 101, headers: head ?? new Headers(), text: '', body: undefined });
    });
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: headersFrom(response.headers), text, body: parse(text) }));
    });
    socket.on('error', reject);
  });

const headersFrom = (given: NodeJS.Dict<string | string[]>): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers.set(name, String(value));
  return headers;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A2A over HTTP and JSON prescribes the form of its errors. */
const OF_PROTOCOL = /\/a2a\/v1\//;

/** What holds for every answer there is: its own request id; on errors the one body, which says nothing of the inside. */
export const expectWellFormed = (answer: TestAnswer, what: string): void => {
  expect(answer.headers.get('x-request-id'), `${what}: x-request-id`).to.match(UUID);
  if (answer.status < 400) return;
  expect(answer.headers.get('content-type'), `${what}: ${answer.text}`).to.match(/^application\/json/);
  expect(answer.body, `${what}: ${answer.text}`).to.be.an('object');
  if (OF_PROTOCOL.test(what) && typeof answer.body.error === 'object') {
    expect(answer.body.error.code, what).to.equal(answer.status);
    expect(answer.body.error.message, what).to.be.a('string').with.length.above(0);
  } else {
    expect(answer.body.error, what).to.be.a('string').with.length.above(0);
    expect(answer.body.code, what).to.match(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
  }
  expect(answer.text, `${what}: internals`).to.not.match(/\bat [\w.<>]+ \(|node_modules|\.[tj]s:\d+|SQLITE_|\/dist\/|ECONN|ENOENT/);
};
