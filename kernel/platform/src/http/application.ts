/** The heavy half of the server: koa, its router and WebSockets. Imported after the socket is open. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import websockify from 'koa-websocket';
import { pipeline } from './pipeline.js';
import { createSocketHub, type SocketDeps, type SocketHub } from './sockets.js';

export interface Application {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void;
  readonly sockets: SocketHub;
}

export const createApplication = (deps: SocketDeps): Application => {
  const app = websockify(new Koa());
  // Errors are answered and logged by the boundary; koa's own way loses headers.
  app.silent = true;
  app.use(pipeline(deps));
  const callback = app.callback();
  return { request: (req, res) => void callback(req, res), sockets: createSocketHub(app, deps) };
};
