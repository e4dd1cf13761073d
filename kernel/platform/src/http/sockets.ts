/**
 * WebSockets on koa-websocket without its own listening: the upgrade is ours, so that a
 * refusal is an HTTP answer with its status and request id, before any handshake.
 *
 * W1  Every message goes to the current declaration of its socket's id: a reload takes over open sockets.
 * W2  When an area goes without a successor, its sockets close with 1012.
 * W3  Who a socket belongs to is validated with each message, and for all at once when keys or roles change: a key that is
 *     no longer valid closes it with 4401, a role that does not allow it with 4403; a new role holds from then on.
 * W4  A socket has its place among those of its network and its person from before anything of it is waited for: upgrades side by side are counted.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Actor, type HookHandle, isSvcError, type SocketDecl, type SocketUpgrade } from '@svc/api';
import { runAs } from '@svc/core';
import type { App } from 'koa-websocket';
import type { WebSocket, WebSocketServer } from 'ws';
import { auditRefusal } from './audited.js';
import { admitOrigin } from './callers/access.js';
import { type Call, callOf, headersSeen } from './call.js';
import { charge, chargedRefusal, identify, identifyAgain, refuse } from './callers/caller.js';
import { CLOSE, SocketConnection } from './connections/connection.js';
import { createFrameShares, type FrameShares } from './connections/frame-shares.js';
import { createFrameTurns, type FrameTurns } from './connections/frame-turns.js';
import { createSocketPlaces, type SocketPlaces } from './connections/socket-places.js';
import { refuseUpgrade } from './connections/early-listener.js';
import { httpErrors } from './errors.js';
import { assertOpen } from './callers/admission.js';
import { notServed } from './not-served.js';
import type { PipelineDeps } from './pipeline.js';
import { HandlerRequest, parseQuery } from './request.js';
import { matchRoute } from './routes/route-match.js';
import type { Row } from './routes/route-table.js';
import { inTurns, refusalOf, seesLess } from './callers/standing.js';

const DEFAULT_MAX_FRAME_BYTES = 65_536;
/** What the protocol library reads at most; declarations may ask for less. */
const MAX_FRAME_BYTES = 1_048_576;

/** How fast frames come is a matter of the wire: no virtual clock. */
const now = (): number => performance.now();

export interface SocketHub {
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  count(): number;
  /** Open connections of one declaration. */
  connections(socketId: string): SocketConnection[];
  /** To be called when the sockets' table has changed. */
  tableChanged(): void;
  /** Validates all open sockets again: keys or roles have changed. */
  recheck(): Promise<void>;
  /** Closes the sockets of an area. */
  closeOf(ownerId: string, code: number): void;
  /** From now on no upgrade is taken, and areas that go leave their sockets open: they are closed together. */
  stopAccepting(): void;
  closeAll(code: number): void;
  /** Hangs up on what did not close. */
  terminateAll(): void;
}

export interface SocketDeps extends PipelineDeps {
  readonly upgradeHook: HookHandle<typeof SocketUpgrade>;
  readonly pingMs: number;
}

/** Sockets take their parameters and query as text, which they are. */
type SocketRequest = HandlerRequest<Record<string, string>, Record<string, string>, undefined>;

/** What was decided about an upgrade, until the handshake is done. */
interface Accepted {
  readonly row: Row<SocketDecl>;
  readonly call: Call;
  readonly request: SocketRequest;
  readonly state: Record<string, unknown>;
}

/** Which socket an upgrade is for, once that is known. */
interface Asked {
  row: Row<SocketDecl> | undefined;
}

interface Open {
  readonly connection: SocketConnection;
  readonly socketId: string;
  readonly ownerId: string;
  readonly accepted: Accepted;
  readonly req: IncomingMessage;
}

interface Hub {
  readonly deps: SocketDeps;
  readonly server: WebSocketServer;
  readonly accepted: WeakMap<IncomingMessage, Accepted>;
  readonly open: Set<Open>;
  readonly places: SocketPlaces;
  readonly shares: FrameShares;
  readonly turns: FrameTurns;
  byId: Map<string, Row<SocketDecl>>;
  timer: NodeJS.Timeout | undefined;
  isClosing: boolean;
}

export const createSocketHub = (app: App, deps: SocketDeps): SocketHub => {
  // Its declared return value is not there; the server is kept on the object.
  app.ws.listen({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false, autoPong: false, handleProtocols: (offered) => [...offered].find(isBearer) ?? false });
  const { server } = app.ws;
  if (!server) throw new Error('koa-websocket made no server');
  const hub: Hub = {
    deps,
    server,
    accepted: new WeakMap(),
    open: new Set(),
    places: createSocketPlaces(),
    shares: createFrameShares(now),
    turns: createFrameTurns(),
    byId: new Map(),
    timer: undefined,
    isClosing: false,
  };
  server.on('headers', (headers, req) => {
    const found = hub.accepted.get(req);
    if (found) headers.push(`x-request-id: ${found.request.id}`, 'x-api-version: v1');
  });
  app.ws.use(async (ctx) => opened(hub, ctx.websocket, ctx.req));
  rebuild(hub);
  return {
    upgrade: (req, socket, head) => void upgrade(hub, req, socket, head),
    count: () => hub.open.size,
    connections: (socketId) => [...hub.open].filter((open) => open.socketId === socketId).map((open) => open.connection),
    tableChanged: () => rebuild(hub),
    recheck: () => inTurns(hub.open, async (open) => void (await stillMay(hub, open).catch(() => undefined)) /* nobody can tell now: its next message is validated */),
    closeOf: (ownerId, code) => closeWhere(hub, (open) => open.ownerId === ownerId, code),
    stopAccepting: () => {
      hub.isClosing = true;
    },
    closeAll: (code) => {
      hub.isClosing = true;
      closeWhere(hub, () => true, code);
    },
    terminateAll: () => {
      for (const open of hub.open) open.connection.terminate();
    },
  };
};

function rebuild(hub: Hub): void {
  hub.byId = new Map(hub.deps.sockets().rows.map((row) => [row.decl.id, row]));
  if (!hub.isClosing) closeWhere(hub, (open) => !hub.byId.has(open.socketId), CLOSE.restart);
}

function closeWhere(hub: Hub, which: (open: Open) => boolean, code: number): void {
  for (const open of hub.open) if (which(open)) open.connection.close(code, hub.isClosing ? 'the service is stopping' : 'the area has stopped');
}

async function upgrade(hub: Hub, req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  const id = hub.deps.ids.uuid();
  const call = callOf(req, hub.deps.access, withBearer(req));
  const asked: Asked = { row: undefined };
  // node hands over the connection's own TCP socket.
  (socket as Socket).setNoDelay(true);
  try {
    const accepted = await recheck(hub, req, socket, id, call, asked);
    // The client may have left while it was validated.
    if (socket.destroyed) return;
    if (hub.isClosing) throw httpErrors.stopping();
    hub.accepted.set(req, accepted);
    hub.server.handleUpgrade(req, socket, head, (ws) => hub.server.emit('connection', ws, req));
  } catch (refusal) {
    const error = await chargedRefusal(hub.deps.hooks, call, req, refusal);
    if (!isSvcError(error)) hub.deps.log.error('an upgrade failed', { request: id, path: req.url, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    if (asked.row && isSvcError(error)) auditRefusal(hub.deps.audit(), asked.row.decl, call, id, error.status);
    if (!socket.destroyed) refuseUpgrade(socket, error, id);
  }
}

async function recheck(hub: Hub, req: IncomingMessage, socket: Duplex, id: string, call: Call, asked: Asked): Promise<Accepted> {
  const { deps } = hub;
  const admission = deps.admission();
  if (admission.state === 'starting') throw httpErrors.starting();
  if (admission.state === 'stopping') throw httpErrors.stopping();
  const match = matchRoute(deps.sockets(), call.method, call.path);
  if (match.kind === 'encoding') throw httpErrors.bad_path_encoding();
  if (match.kind !== 'row') throw notServed(deps, call.method, call.path);
  const { row } = match;
  asked.row = row;
  admitOrigin(deps.access, req.headers, 'GET', true, call.isSecure);
  assertOpen(admission, deps.hooks, row.decl);
  const actor = await identify(deps.hooks, row, call, req);
  const others = hub.places.take(socket, call.network, personOf(actor, call));
  if (!deps.upgradeHook.isEmpty()) refuse(await deps.upgradeHook.call({ actor, ip: call.ip, routeId: row.decl.id, openFromIp: others.ofNetwork, openOfPerson: others.ofPerson }));
  // A socket has one value per name: of a repeated one the last.
  const query = Object.fromEntries(Object.entries(parseQuery(call.query)).map(([name, value]) => [name, Array.isArray(value) ? (value.at(-1) ?? '') : value]));
  const request: SocketRequest = new HandlerRequest(id, call, actor, match.params, query, deps.log, undefined);
  const leave = row.owner.lifetime.enter(row.label);
  if (!leave) throw httpErrors.reloading(call.path);
  try {
    const state = await runAs(row.owner, () => row.decl.upgrade(request));
    return { row, call, request, state: state ?? {} };
  } finally {
    leave();
  }
}

/** Whose sockets share. Nobody knows who stands behind public ones, but from where they come. */
const personOf = (actor: Actor, { network }: Call): string => (actor.role === 'public' ? `at ${network}` : actor.id);

/** Browsers cannot set headers on a WebSocket: the key may come as a subprotocol instead. */
function withBearer(req: IncomingMessage): Call['headers'] {
  const headers = headersSeen(req);
  if (headers.authorization !== undefined) return headers;
  const offered = headers['sec-websocket-protocol']
    ?.split(',')
    .map((name) => name.trim())
    .find(isBearer);
  return offered === undefined ? headers : { ...headers, authorization: `Bearer ${offered.slice('bearer.'.length)}` };
}

const isBearer = (protocol: string): boolean => protocol.startsWith('bearer.');

function opened(hub: Hub, ws: WebSocket, req: IncomingMessage): void {
  const accepted = hub.accepted.get(req);
  // Only upgrades that were validated reach this point.
  if (!accepted) {
    ws.terminate();
    return;
  }
  const { row, call, request, state } = accepted;
  const { id, actor, ip, params, query } = request;
  const { streams, projections, log } = hub.deps;
  const share = hub.shares.open(personOf(actor, call));
  const maxMessageBytes = () => hub.byId.get(row.decl.id)?.decl.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES;
  const connection = new SocketConnection({ id, actor, ip, params, query, state, log }, { ws, socket: req.socket, streams, projections, share, turns: hub.turns, maxMessageBytes, now });
  const open: Open = { connection, socketId: row.decl.id, ownerId: row.owner.id, accepted, req };
  hub.open.add(open);
  hub.timer ??= setInterval(() => tick(hub), hub.deps.pingMs);
  ws.on('message', (data, isBinary) => {
    // A Buffer is what the library gives for one frame.
    connection.inOrder(() => message(hub, open, data as Buffer, isBinary));
  });
  ws.on('close', () => closed(hub, open));
  connection.inOrder(() => dispatch(hub, open, 'opened', (decl) => decl.opened?.(connection)));
}

function closed(hub: Hub, open: Open): void {
  hub.open.delete(open);
  open.connection.release();
  if (hub.open.size === 0) {
    clearInterval(hub.timer);
    hub.timer = undefined;
  }
  open.connection.inOrder(() => dispatch(hub, open, 'closed', (decl) => decl.closed?.(open.connection)));
}

async function message(hub: Hub, open: Open, data: Buffer, isBinary: boolean): Promise<void> {
  // What came after the closing was decided is not accepted any more.
  if (!open.connection.isOpen) return;
  const decl = hub.byId.get(open.socketId)?.decl;
  if (data.length > (decl?.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES)) return open.connection.closeTooLarge();
  try {
    const { row, call } = open.accepted;
    if (decl?.messageCost) await charge(hub.deps.hooks, call, open.req, row.decl.id, decl.messageCost);
    if (isBinary) throw httpErrors.frame_not_text();
    assertOpen(hub.deps.admission(), hub.deps.hooks, row.decl);
    if (!(await stillMay(hub, open))) return;
  } catch (refusal) {
    return notify(open, refusal);
  }
  await dispatch(hub, open, 'message', (current) => current.message(open.connection, data.toString('utf8')));
}

/** W3. False when the socket was closed for it; throws where nobody can tell who it is now. */
async function stillMay(hub: Hub, open: Open): Promise<boolean> {
  const { connection, accepted, req } = open;
  try {
    const now = await identifyAgain(hub.deps.hooks, accepted.row, accepted.call, req);
    const before = connection.actor;
    if (now.id === before.id && now.role === before.role && now.ownerId === before.ownerId) return true;
    if (now.id !== before.id) throw httpErrors.unauthorized();
    // What it opened it must still be able to open; the area alone knows whose that is.
    if (seesLess(before, now)) await openAgain(hub, open, now);
    connection.actor = now;
    return true;
  } catch (error) {
    const refusal = refusalOf(error) ?? (isSvcError(error) && error.status === 404 ? error : undefined);
    if (!refusal) throw error;
    auditRefusal(hub.deps.audit(), accepted.row.decl, accepted.call, accepted.request.id, refusal.status);
    connection.close(refusal.status === 401 ? CLOSE.unauthorized : CLOSE.forbidden, refusal.message);
    return false;
  }
}

async function openAgain(hub: Hub, open: Open, actor: Actor): Promise<void> {
  const { request, call } = open.accepted;
  const row = hub.byId.get(open.socketId);
  const leave = row?.owner.lifetime.enter(row.label);
  if (!row || !leave) throw httpErrors.reloading(call.path);
  try {
    const again: SocketRequest = new HandlerRequest(request.id, call, actor, request.params, request.query, hub.deps.log, undefined);
    await runAs(row.owner, () => row.decl.upgrade(again));
  } finally {
    leave();
  }
}

/** Runs a handler of the generation that is current now, under its hold. Never rejects. */
async function dispatch(hub: Hub, open: Open, moment: 'opened' | 'message' | 'closed', call: (decl: SocketDecl) => void | Promise<void>): Promise<void> {
  const row = hub.byId.get(open.socketId);
  const leave = row?.owner.lifetime.enter(`${moment} ${row.decl.path}`);
  if ((!row || !leave) && hub.isClosing) return moment === 'message' ? notify(open, httpErrors.stopping()) : undefined;
  if (!row || !leave) return moment === 'closed' ? undefined : open.connection.close(CLOSE.restart, 'the area has stopped');
  try {
    await runAs(row.owner, () => call(row.decl));
  } catch (error) {
    notify(open, error);
    if (!isSvcError(error))
      hub.deps.log.error('a socket handler failed', { request: open.connection.id, socket: open.socketId, moment, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  } finally {
    leave();
  }
}

/** Errors travel as the frame the interface names. */
const notify = (open: Open, error: unknown): void => open.connection.refuse(isSvcError(error) ? error : httpErrors.internal_error());

function tick(hub: Hub): void {
  for (const open of hub.open) open.connection.ping();
}
