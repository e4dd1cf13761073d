/** The terminal over HTTP: its state, its windows, and the socket. */
import { bytes, defineSocket, reply, type Req, type RouteDecl, routeGroup, type SocketDecl, Type } from '@svc/api';
import { admit, type AdmissionDeps } from './admission.js';
import { isWindow, sizeOf } from './frames.js';
import { terminalErrors } from './errors.js';
import type { Terminals } from './terminals.js';
import type { Tmux } from './tmux.js';

export interface RouteDeps extends AdmissionDeps {
  readonly tmux: Tmux;
  maxWindows(): number;
}

const route = routeGroup({ area: 'terminal', errors: [403] });

const WindowId = Type.String({ pattern: '^@[0-9]{1,6}$', description: 'As the list shows it', examples: ['@0'] });
const WindowPath = Type.Object({ window: Type.String({ maxLength: 64, description: 'As the list shows it', examples: ['@0'] }) });
const Name = Type.String({ minLength: 1, maxLength: 60, pattern: '^[A-Za-z0-9_ -]+$' });
const Window = Type.Object({ id: WindowId, name: Type.String(), active: Type.Boolean() }, { 'x-name': 'TerminalWindow' });
const Named = Type.Object({ name: Type.Optional(Name) }, { additionalProperties: false });
const Renamed = Type.Object({ name: Name }, { additionalProperties: false });

export const terminalRoutes = (deps: RouteDeps): RouteDecl[] => {
  const { tmux } = deps;
  const admitted = (req: Pick<Req, 'actor' | 'headers'>) => admit(deps, req);
  return [
    route({
      id: 'getTerminalHealth',
      method: 'GET',
      permission: 'terminal.admin',
      path: '/api/terminal/health',
      summary: 'Whether there is a terminal',
      description: 'Answers 403 with the setting where it is switched off, as it is at first, and for who may not use it.',
      responses: {
        200: Type.Object({ ok: Type.Literal(true), tmux: Type.Boolean({ description: 'Whether windows can stay when a terminal is closed' }), max_windows: Type.Integer(), os: Type.String() }),
      },
      handler: async (req) => {
        await admitted(req);
        return reply(200, { ok: true as const, tmux: await tmux.isThere(), max_windows: deps.maxWindows(), os: process.platform });
      },
    }),
    route({
      id: 'listTerminalWindows',
      method: 'GET',
      permission: 'terminal.admin',
      path: '/api/terminal/windows',
      summary: 'List your windows',
      description: 'Windows of tmux. They stay when a terminal is closed, until svc stops.',
      errors: [503],
      responses: { 200: Type.Object({ windows: Type.Array(Window) }) },
      handler: async (req) => {
        await admitted(req);
        return reply(200, { windows: await tmux.list(req.actor.ownerId) });
      },
    }),
    route({
      id: 'createTerminalWindow',
      method: 'POST',
      permission: 'terminal.admin',
      path: '/api/terminal/windows',
      summary: 'Create a window',
      description: 'With a shell that begins at once and stays when the terminal is closed.',
      audit: 'terminal_window_created',
      body: Named,
      bodyRule: 'optional',
      examples: { 'by its program': {}, named: { name: 'logs' }, 'another one': { name: 'build 2' } },
      errors: [429, 503],
      responses: { 201: Window },
      handler: async (req) => {
        await admitted(req);
        return reply(201, await tmux.create(req.actor.ownerId, req.body.name));
      },
    }),
    route({
      id: 'renameTerminalWindow',
      method: 'PATCH',
      permission: 'terminal.admin',
      path: '/api/terminal/windows/{window}',
      summary: 'Rename a window',
      description: 'The name is for people; its id stays.',
      audit: 'terminal_window_renamed',
      params: WindowPath,
      body: Renamed,
      examples: { short: { name: 'logs' }, 'with a blank': { name: 'build 2' }, 'with a dash': { name: 'web-server' } },
      errors: [404, 503],
      responses: { 204: Type.Null() },
      handler: async (req) => {
        await admitted(req);
        await tmux.rename(req.actor.ownerId, req.params.window, req.body.name);
        return bytes(204, 'application/json', '');
      },
    }),
    route({
      id: 'deleteTerminalWindow',
      method: 'DELETE',
      permission: 'terminal.admin',
      path: '/api/terminal/windows/{window}',
      summary: 'Close a window',
      description: 'What runs in it ends.',
      audit: 'terminal_window_deleted',
      params: WindowPath,
      errors: [404, 503],
      responses: { 200: Type.Object({ status: Type.Literal('closed'), window: Type.String() }) },
      handler: async (req) => {
        await admitted(req);
        await tmux.remove(req.actor.ownerId, req.params.window);
        return reply(200, { status: 'closed' as const, window: req.params.window });
      },
    }),
  ];
};

const FRAME_BYTES = 65_536;

export const terminalSocket = (deps: RouteDeps, terminals: Terminals): SocketDecl =>
  defineSocket({
    id: 'openTerminal',
    path: '/api/terminal/ws',
    summary: 'Open a terminal',
    description:
      'A shell with all rights of the daemon, on its machine. Frames are JSON texts. You send `{"type":"input","data":"ls\\r"}`, `{"type":"resize","cols":120,"rows":40}`, `{"type":"switch_window","window":"@1"}`, `{"type":"unlock","code":"123456"}` and `{"type":"close"}`. You get `started` (`shell`, `pid`, `isRoot`), `output` (`data`; with `binary`, in base64), `active_window`, `exit` (`code`, `signal`), `error`, and `locked` where you have an authenticator: the shell starts after `unlock`. The shell and all that it started end with the socket; a `window` stays. Start and end are in the audit.',
    auth: 'bearer',
    permission: 'terminal.admin',
    cost: 10,
    messageCost: 0,
    maxFrameBytes: FRAME_BYTES,
    query: Type.Object({
      cols: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$', description: '1 to 1000; by default 120' })),
      rows: Type.Optional(Type.String({ pattern: '^[0-9]{1,3}$', description: '1 to 500; by default 40' })),
      window: Type.Optional(Type.String({ pattern: '^@[0-9]{1,6}$', description: 'A window to show, instead of a new shell' })),
    }),
    upgrade: async (req) => {
      await admit(deps, req);
      const { cols, rows, window } = req.query;
      const size = sizeOf({ cols, rows });
      if (window === undefined) return { ...size };
      if (!isWindow(window) || !(await deps.tmux.list(req.actor.ownerId)).some(({ id }) => id === window)) throw terminalErrors.window_not_found(window);
      return { ...size, window };
    },
    opened: (conn) => terminals.opened(conn),
    message: (conn, text) => terminals.message(conn, text),
    closed: (conn) => terminals.closed(conn),
  });
