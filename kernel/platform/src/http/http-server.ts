/**
 * The HTTP face of the daemon: opens the port, hands over to koa when it is loaded, keeps
 * the tables of routes and sockets, and ends without cutting what it answers.
 */
import type { OffExtension } from './not-served.js';
import type { Clock, Connection, Histogram, HookHandle, Ids, Logger, RouteDecl, SocketDecl, SocketUpgrade } from '@svc/api';
import { ContributionRegistry } from '@svc/core';
import type { HttpAudit } from './audited.js';
import type { Once } from './idempotency.js';
import type { Projections } from '../streams/projections.js';
import type { StreamsAdmin } from '../streams/streams.js';
import type { Access } from './callers/access.js';
import type { Application } from './application.js';
import type { CallerHooks } from './callers/caller.js';
import { isProxy } from './callers/client-address.js';
import { CLOSE } from './connections/connection.js';
import { createEarlyListener } from './connections/early-listener.js';
import { httpErrors } from './errors.js';
import { anonymousGet, type OwnAnswer } from './own-request.js';
import { createRequestFigures, type RequestFigures } from './request-figures.js';
import { createFollowers } from './replies/follow-reply.js';
import { createWrongKeys, type Admission } from './callers/admission.js';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.js';
import { type ApiDescription, type ApiInfo, createApiDescriber } from './routes/openapi.js';
import { checkRow, createCurrentTable, type CurrentTable, methodOf } from './routes/route-table.js';
import { createStanding, type Standing } from './callers/standing.js';
import { createValidators } from './routes/validators.js';

/** How long a socket's client has to answer the close frame. */
const GOODBYE_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;
const PING_MS = 30_000;

export interface HttpOptions {
  readonly access: Access;
  readonly hooks: CallerHooks & { readonly upgrade: HookHandle<typeof SocketUpgrade> };
  readonly log: Logger;
  readonly ids: Ids;
  readonly clock: Pick<Clock, 'sleep' | 'mono'>;
  readonly streams: StreamsAdmin;
  readonly projections: Projections;
  readonly admission: () => Admission;
  /** Asked for each connection and each body; those of time are set once, when the server is made. */
  readonly limits?: () => HttpLimits;
  /** Holds replies to their declared schemas: for test kernels. Default false. */
  readonly checkReplies?: boolean;
  readonly offExtension?: OffExtension;
  /** A silent event stream gets a comment this often; default 15 s. */
  readonly keepAliveMs?: number;
  /** Sockets are pinged this often, and hung up on after two pings without an answer; default 30 s. */
  readonly pingMs?: number;
}

export interface HttpStats {
  readonly routes: number;
  readonly sockets: number;
  readonly openSockets: number;
  readonly openStreams: number;
  readonly requests: number;
  readonly inFlight: number;
  readonly connections: number;
  readonly refusedConnections: number;
  readonly durations: Pick<Histogram, 'buckets' | 'sum' | 'count'>;
  readonly answers: Readonly<Record<string, number>>;
}

export interface Http {
  readonly routes: ContributionRegistry<RouteDecl>;
  readonly sockets: ContributionRegistry<SocketDecl>;
  /** Resolves when the port is open; answers `starting` until `attach` is done and admission is open. */
  listen(where: { host: string; port: number }): Promise<{ address: string; port: number }>;
  /** Loads the application and hands over to it. Begun by `listen`; the same promise each time. */
  attach(): Promise<void>;
  openSockets(): number;
  /** Open connections of one socket declaration, by its id. */
  connections(socketId: string): readonly Connection[];
  /** From now on routes that are `idempotent` keep their answers. */
  keepAnswers(once: Once): void;
  /** From now on calls are entered in the audit trail. */
  keepAudit(audit: HttpAudit): void;
  /** Validates who stays again, streams, waits and sockets: keys, people or roles have changed. */
  recheckCallers(): Promise<void>;
  /** Closes the sockets that an area opened. */
  closeSockets(ownerId: string, code: number): void;
  stopAccepting(): void;
  /** Ends streams and sockets, waits up to `drainMs` for answers in progress, then hangs up. */
  close(drainMs: number): Promise<void>;
  openapi(info: ApiInfo): ApiDescription;
  /** A request of the daemon to itself, as somebody without a key on another machine would send it. */
  anonymousGet(path: string): Promise<OwnAnswer>;
  stats(): HttpStats;
}

interface Parts {
  readonly options: HttpOptions;
  readonly early: ReturnType<typeof createEarlyListener>;
  readonly followers: ReturnType<typeof createFollowers>;
  readonly standing: Standing;
  once: Once | undefined;
  audit: HttpAudit | undefined;
  readonly routes: CurrentTable<RouteDecl>;
  readonly sockets: CurrentTable<SocketDecl>;
  application: Application | undefined;
  requests: number;
  inFlight: number;
  readonly figures: RequestFigures;
  /** Resolves when the port and every connection are closed; set when accepting stops. */
  closed: Promise<void> | undefined;
}

export const createHttp = (options: HttpOptions): Http => {
  const limits = options.limits ?? (() => DEFAULT_LIMITS);
  const parts: Parts = {
    options,
    early: createEarlyListener({ ids: options.ids, limits, isProxy: (address) => isProxy(address, options.access.trustedProxies?.() ?? []) }),
    followers: createFollowers(options.streams, options.keepAliveMs ?? KEEP_ALIVE_MS),
    standing: createStanding(options.hooks),
    once: undefined,
    audit: undefined,
    routes: createCurrentTable(),
    sockets: createCurrentTable(),
    application: undefined,
    requests: 0,
    inFlight: 0,
    figures: createRequestFigures(),
    closed: undefined,
  };
  const routes = routeRegistry(parts);
  const sockets = socketRegistry(parts);
  const describe = createApiDescriber(parts.routes.get, parts.sockets.get);
  let attaching: Promise<void> | undefined;
  const attachOnce = () => {
    attaching ??= attach(parts);
    return attaching;
  };
  return {
    routes,
    sockets,
    listen: async (where) => {
      const bound = await parts.early.listen(where);
      // Whoever awaits attach() gets the failure; the log has it in any case.
      attachOnce().catch((error: unknown) => options.log.error('the HTTP application could not be loaded', { error: String(error) }));
      return bound;
    },
    attach: attachOnce,
    connections: (socketId) => parts.application?.sockets.connections(socketId) ?? [],
    openSockets: () => parts.application?.sockets.count() ?? 0,
    keepAnswers: (once) => {
      parts.once = once;
    },
    keepAudit: (audit) => {
      parts.audit = audit;
    },
    recheckCallers: async () => void (await Promise.all([parts.standing.recheck(), parts.application?.sockets.recheck()])),
    closeSockets: (ownerId, code) => parts.application?.sockets.closeOf(ownerId, code),
    stopAccepting: () => stopAccepting(parts),
    close: (drainMs) => close(parts, drainMs),
    openapi: describe,
    anonymousGet: (path) => anonymousGet(parts.early.server, path),
    stats: () => ({
      routes: parts.routes.get().rows.length,
      sockets: parts.sockets.get().rows.length,
      openSockets: parts.application?.sockets.count() ?? 0,
      openStreams: parts.followers.count(),
      requests: parts.requests,
      inFlight: parts.inFlight,
      connections: parts.early.connections().open,
      refusedConnections: parts.early.connections().refused,
      durations: parts.figures.durations(),
      answers: parts.figures.answers(),
    }),
  };
};

function routeRegistry(parts: Parts): ContributionRegistry<RouteDecl> {
  return new ContributionRegistry<RouteDecl>('route', {
    describe: (decl) => `${methodOf(decl)} ${decl.path}`,
    check: (candidate, others) => {
      const { method, path, streamBody, body, rawBody, callers, auth } = candidate.value;
      if (streamBody && (body || rawBody)) throw httpErrors.route_refused(`${method} ${path} (${candidate.owner.id}) takes its body as a stream and declares another form of it too.`);
      if (callers && auth === 'public') throw httpErrors.route_refused(`${method} ${path} (${candidate.owner.id}) names callers of its own and is open to everybody.`);
      checkRow(candidate, others);
    },
    changed: parts.routes.change,
  });
}

function socketRegistry(parts: Parts): ContributionRegistry<SocketDecl> {
  return new ContributionRegistry<SocketDecl>('socket', {
    describe: (decl) => decl.path,
    check: (candidate, others) => checkRow(candidate, others),
    changed: (active) => {
      parts.sockets.change(active);
      parts.application?.sockets.tableChanged();
    },
  });
}

async function attach(parts: Parts): Promise<void> {
  const { createApplication } = await import('./application.js');
  const { options } = parts;
  const application = createApplication({
    ...options,
    limits: options.limits ?? (() => DEFAULT_LIMITS),
    checkReplies: options.checkReplies ?? false,
    offExtension: options.offExtension ?? (() => undefined),
    upgradeHook: options.hooks.upgrade,
    pingMs: options.pingMs ?? PING_MS,
    routes: parts.routes.get,
    sockets: parts.sockets.get,
    followers: parts.followers,
    standing: parts.standing,
    once: () => parts.once,
    audit: () => parts.audit,
    wrongKeys: createWrongKeys(options.clock),
    validators: createValidators(),
  });
  parts.application = application;
  parts.early.handOver((req, res) => {
    parts.requests++;
    parts.inFlight++;
    const since = options.clock.mono();
    res.once('close', () => {
      parts.inFlight--;
      parts.figures.ended(res.statusCode, options.clock.mono() - since);
    });
    application.request(req, res);
  }, application.sockets.upgrade);
}

function stopAccepting(parts: Parts): void {
  const { server } = parts.early;
  parts.application?.sockets.stopAccepting();
  if (!server.listening) return;
  parts.closed = new Promise((resolve) => server.close(() => resolve()));
}

async function close(parts: Parts, drainMs: number): Promise<void> {
  const { server } = parts.early;
  stopAccepting(parts);
  parts.application?.sockets.closeAll(CLOSE.restart);
  parts.followers.close();
  const late = new AbortController();
  // A client that does not answer the close frame, asleep or gone, holds nobody up.
  void parts.options.clock.sleep(GOODBYE_MS, late.signal).then(
    () => parts.application?.sockets.terminateAll(),
    () => undefined, // all was over before
  );
  await Promise.race([idle(parts), parts.options.clock.sleep(drainMs, late.signal).catch(() => undefined)]); // the sleep ends when the race does
  late.abort();
  parts.application?.sockets.terminateAll();
  server.closeAllConnections();
  await parts.closed;
}

const idle = async (parts: Parts): Promise<void> => {
  while (parts.inFlight > 0 || (parts.application?.sockets.count() ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
};
