/**
 * What the page does for a third party's panel, and what it does not.
 *
 * H1  It asks the daemon for routes of the panel's own extension and for nothing else, as whoever looks at the page.
 * H2  However much a panel asks, sends or says, the page goes on: few calls at the same time, short bodies, and one that floods is cut off.
 * H3  It goes to places of its own panel, and nowhere else.
 */
import { askAsIs } from '@svc/client/as-is';
import type { FrameChange, FrameNow, FromFrame, ToFrame } from '@svc/client/frame';
import type { Panel } from './panels.js';

type Route = NonNullable<Panel['frame']>['routes'][number];

export interface HostOptions {
  readonly port: MessagePort;
  readonly routes: readonly Route[];
  onHeight(px: number): void;
  onGo(path: readonly string[]): void;
  /** It sends without end; the channel is closed. */
  onFlood(): void;
}

export interface Host {
  notify(now: FrameNow): void;
  changed(change: FrameChange | null): void;
  close(): void;
}

const MAX_AT_ONCE = 6;
const MAX_WAITING = 100;
const MAX_MESSAGES = 300;
const WITHIN_MS = 1_000;
const MAX_HEIGHT_PX = 20_000;
const MAX_PATH_PARTS = 8;
const MAX_PART_CHARS = 200;

export const hostFrame = ({ port, routes, onHeight, onGo, onFlood }: HostOptions): Host => {
  const gone = new AbortController();
  const waiting: Array<() => Promise<void>> = [];
  let atOnce = 0;
  let received = 0;
  let since = performance.now();
  const send = (message: ToFrame): void => {
    if (!gone.signal.aborted) port.postMessage(message);
  };
  const close = (): void => {
    gone.abort();
    waiting.length = 0;
    port.close();
  };
  const floods = (): boolean => {
    const now = performance.now();
    if (now - since > WITHIN_MS) [since, received] = [now, 0];
    received += 1;
    return received > MAX_MESSAGES;
  };
  const pump = (): void => {
    while (atOnce < MAX_AT_ONCE && waiting.length > 0) {
      atOnce += 1;
      void waiting
        .shift()?.()
        .finally(() => {
          atOnce -= 1;
          pump();
        });
    }
  };
  const call = ({ id, method, path, body }: Extract<FromFrame, { type: 'call' }>): void => {
    const refuse = (why: string): void => send({ type: 'refused', id, why });
    const address = addressIn(routes, method, path);
    if (address === undefined) refuse(`${method} ${path.slice(0, 200)} is not a route of this panel's extension.`);
    else if (waiting.length >= MAX_WAITING) refuse(`At most ${MAX_WAITING} calls wait at a time.`);
    else {
      waiting.push(async () => {
        try {
          send({ type: 'answer', id, ...(await askAsIs({ method, address, body, signal: gone.signal })) });
        } catch (error) {
          refuse(error instanceof Error ? error.message : String(error));
        }
      });
      pump();
    }
  };
  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (floods()) {
      close();
      onFlood();
      return;
    }
    const message = readMessage(data);
    if (message?.type === 'call') call(message);
    else if (message?.type === 'height') onHeight(Math.min(MAX_HEIGHT_PX, Math.max(0, message.px)));
    else if (message?.type === 'go') onGo(message.path);
  };
  return { notify: (now) => send({ type: 'now', now }), changed: (change) => send({ type: 'changed', change }), close };
};

/** H1. As the daemon will read it; undefined where it is none of these. */
export const addressIn = (routes: readonly Route[], method: string, path: string): string | undefined => {
  if (!path.startsWith('/') || !URL.canParse(path, location.origin)) return undefined;
  const { origin, pathname, search } = new URL(path, location.origin);
  // What is a slash to one reader and none to another belongs to no segment.
  if (origin !== location.origin || /%2f|%5c|%00|\/\//i.test(pathname)) return undefined;
  const parts = pathname.split('/');
  const fits = ({ path: pattern }: Route): boolean => {
    const wanted = pattern.split('/');
    return wanted.length === parts.length && wanted.every((one, index) => (one.startsWith('{') ? !one.startsWith('{*') && parts[index] !== '' : one === parts[index]));
  };
  return routes.some((route) => route.method === method && fits(route)) ? pathname + search : undefined;
};

/** Undefined where it is none of those that are known: it came from anybody's code. */
const readMessage = (data: unknown): FromFrame | undefined => {
  if (typeof data !== 'object' || data === null || !('type' in data)) return undefined;
  const { type, id, method, path, body, px } = data as Record<string, unknown>; // an object, as was asked above
  if (type === 'call' && typeof id === 'number' && typeof method === 'string' && typeof path === 'string') return { type, id, method, path, ...(body === undefined ? {} : { body }) };
  if (type === 'height' && typeof px === 'number' && Number.isFinite(px)) return { type, px };
  if (type === 'go' && isPath(path)) return { type, path };
  return undefined;
};

const isPath = (path: unknown): path is readonly string[] =>
  Array.isArray(path) && path.length <= MAX_PATH_PARTS && path.every((part) => typeof part === 'string' && part.length > 0 && part.length <= MAX_PART_CHARS);
