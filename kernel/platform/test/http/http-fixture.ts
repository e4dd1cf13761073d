/** A server on port 0 with hooks that a test fills, areas it can swap, and a client that speaks raw HTTP. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import {
  type Actor,
  type Clock,
  type HttpAdmit,
  type HttpAuthenticate,
  type Ids,
  type Logger,
  type RouteDecl,
  type SocketDecl,
  type TapOf,
  Type,
  defineAnswerProjection,
  defineFrames,
  defineStreamProjection,
  actorFrom,
} from '@svc/api';
import { type AnswerCode, type StreamCode, declaredAs } from '@svc/api/internal';
import { Lifetime, type Contributor } from '@svc/core';
import { createHttp, type Http, type HttpOptions } from '../../src/http/http-server.js';
import type { Admission } from '../../src/http/callers/admission.js';
import { DEFAULT_LIMITS, type HttpLimits } from '../../src/http/limits.js';
import { answerProjection, createProjections, type Projection, streamProjection } from '../../src/streams/projections.js';
import { createStreams } from '../../src/streams/streams.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly json: any;
}

export const owner: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });

export const clock: Clock = {
  now: () => Date.now(),
  iso: () => new Date().toISOString(),
  mono: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};
export const ids: Ids = { uuid: () => randomUUID(), hex: (count) => randomBytes(count).toString('hex'), bytes: (count) => randomBytes(count), random: () => 0.5 };

const Anything = Type.Unknown();
const Nothing = Type.Undefined();

/** The frames of these tests: numbers, text that may be joined, and the rest. */
export const TestFrames = defineFrames('test', '1.0.0', {
  frames: { n: Anything, chunk: Anything, hidden: Anything, phase: Anything, waiting: Anything, done: Anything },
  final: ['done'],
  joins: { chunk: 'content' },
});
/** How these tests show frames; each brings its own code. */
export const TestStream = defineStreamProjection('test.stream', '1.0.0', { format: TestFrames, contentType: 'text/event-stream; charset=utf-8', args: Nothing });
export const TestAnswer = defineAnswerProjection('test.answer', '1.0.0', { format: TestFrames, args: Nothing });

export interface Bench {
  readonly http: Http;
  readonly streams: ReturnType<typeof createStreams>;
  port: number;
  readonly logged: Array<{ message: string; fields: Record<string, unknown> | undefined }>;
  admission: Admission;
  apiKey: string;
  cors: string[];
  trusted: readonly string[];
  admit: TapOf<typeof HttpAdmit> | undefined;
  authenticate: TapOf<typeof HttpAuthenticate> | undefined;
  authorize: ((subject: Parameters<HttpOptions['hooks']['authorize']['atOnce']>[0]) => ReturnType<HttpOptions['hooks']['authorize']['atOnce']>) | undefined;
  upgrade: ((subject: Parameters<HttpOptions['hooks']['upgrade']['call']>[0]) => Awaited<ReturnType<HttpOptions['hooks']['upgrade']['call']>>) | undefined;
  /** The code behind `TestStream`. */
  shows(code: StreamCode<typeof TestFrames, typeof Nothing>): void;
  /** The code behind `TestAnswer`. */
  answers(code: AnswerCode<typeof TestFrames, typeof Nothing>): void;
  /** Publishes a generation of an area. */
  area(id: string, decls: { routes?: RouteDecl[]; sockets?: SocketDecl[] }, previous?: Contributor): Contributor;
  remove(area: Contributor): void;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
}

/** As a hook answers: what fails rejects. */
const tried = <T>(tap: () => T | Promise<T>): T | Promise<T> => {
  try {
    return tap();
  } catch (error) {
    return Promise.reject(error);
  }
};

export const startBench = async (
  options: { checkReplies?: boolean; keepAliveMs?: number; pingMs?: number; limits?: Partial<HttpLimits>; streams?: Partial<Parameters<typeof createStreams>[0]> } = {},
): Promise<Bench> => {
  const streams = createStreams({ clock, ...options.streams });
  const shown = new Map<string, Projection>();
  const logged: Bench['logged'] = [];
  const note = (message: string, fields?: Record<string, unknown>) => void logged.push({ message, fields });
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const control = { signal: new AbortController().signal };
  let generation = 0;
  const http = createHttp({
    access: { corsOrigins: () => bench.cors, hasApiKey: () => bench.apiKey !== '', listenHost: () => '127.0.0.1', trustedProxies: () => bench.trusted },
    hooks: {
      admit: { isEmpty: () => bench.admit === undefined, atOnce: (subject) => tried(() => bench.admit?.(subject, control)) },
      authenticate: { isEmpty: () => bench.authenticate === undefined, atOnce: (subject) => tried(() => bench.authenticate?.(subject, control)) },
      authorize: { isEmpty: () => bench.authorize === undefined, atOnce: (subject) => tried(() => bench.authorize?.(subject)) },
      upgrade: { isEmpty: () => bench.upgrade === undefined, call: async (subject) => bench.upgrade?.(subject) },
    },
    log,
    ids,
    clock,
    streams,
    projections: createProjections((name) => shown.get(name)),
    admission: () => bench.admission,
    checkReplies: options.checkReplies ?? true,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    pingMs: options.pingMs ?? 30_000,
    limits: () => ({ ...DEFAULT_LIMITS, ...options.limits }),
  });
  const bench: Bench = {
    http,
    streams,
    port: 0,
    logged,
    admission: { state: 'ready' },
    apiKey: '',
    cors: [],
    trusted: [],
    admit: undefined,
    authenticate: () => owner,
    authorize: undefined,
    upgrade: undefined,
    shows: (code) => void shown.set(declaredAs(TestStream), streamProjection(TestStream, code)),
    answers: (code) => void shown.set(declaredAs(TestAnswer), answerProjection(TestAnswer, code)),
    area: (id, decls, previous) => {
      const made: Contributor = { id, generation: ++generation, lifetime: new Lifetime(`${id}@${generation}`) };
      for (const route of decls.routes ?? []) http.routes.add(made, route);
      for (const socket of decls.sockets ?? []) http.sockets.add(made, socket);
      http.routes.verify(made, previous);
      http.sockets.verify(made, previous);
      http.routes.swap(previous, made);
      http.sockets.swap(previous, made);
      return made;
    },
    remove: (area) => {
      http.routes.swap(area, undefined);
      http.sockets.swap(area, undefined);
    },
    get: (path, headers) => bench.send('GET', path, undefined, headers),
    send: (method, path, body, headers = {}) => {
      const text = body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return answerOf(
        request({
          host: '127.0.0.1',
          port: bench.port,
          method,
          path,
          agent: false,
          headers: { ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }), ...headers },
        }),
        text,
      );
    },
    stop: async () => {
      streams.close();
      await http.close(50);
    },
  };
  bench.port = (await http.listen({ host: '127.0.0.1', port: 0 })).port;
  await http.attach();
  return bench;
};

export const answerOf = (req: ClientRequest, body?: string | Buffer): Promise<Answer> =>
  new Promise((resolve, reject) => {
    req.once('error', reject);
    req.once('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.once('error', reject);
      res.once('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = (res.headers['content-type'] ?? '').includes('json') && text !== '';
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    req.end(body);
  });

/** Writes bytes to the port and gives what came back until `enough` is content or the peer hung up. */
export const raw = (port: number, text: string, enough: (seen: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    let seen = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      if (enough(seen)) socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(seen));
  });

/** More than a busy machine needs. */
const PATIENCE_MS = 60_000;

/** Resolves when the condition holds; fails when it does not in time. */
export const until = async (holds: () => boolean, what: string): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
};

export const route = (decl: Partial<RouteDecl> & Pick<RouteDecl, 'path' | 'handler'>): RouteDecl => ({
  id: `${decl.method ?? 'GET'}-${decl.path}`.replace(/[^A-Za-z]+/g, '.'),
  method: 'GET',
  summary: 'A route of a test',
  auth: 'bearer',
  permission: 'test.read',
  cost: 1,
  responses: {},
  ...decl,
});
