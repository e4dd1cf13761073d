/** What a handler sees of a request. The abort signal is made when somebody asks for it: most handlers never do. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Actor, Logger, Method, Req } from '@svc/api';
import type { Call } from './caller.js';

export class HandlerRequest implements Req {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  params: unknown;
  query: unknown;
  body: unknown = undefined;
  readonly headers: Call['headers'];
  readonly actor: Actor;
  readonly ip: string;
  readonly log: Logger;
  readonly #res: ServerResponse | undefined;
  #abort: AbortController | undefined;

  constructor(id: string, call: Call, actor: Actor, params: unknown, query: unknown, log: Logger, res: ServerResponse | undefined) {
    this.id = id;
    this.method = call.method as Method; // it matched a row, so it is one of them
    this.path = call.path;
    this.params = params;
    this.query = query;
    this.headers = call.headers;
    this.actor = actor;
    this.ip = call.ip;
    this.log = log;
    this.#res = res;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      const res = this.#res;
      const gone = () => {
        if (!res?.writableFinished) abort.abort(new Error('the caller has gone away'));
      };
      if (res?.destroyed) gone();
      else res?.once('close', gone);
      this.#abort = abort;
    }
    return this.#abort.signal;
  }
}

/** The headers, by lower-case name. Those that node gives as lists are joined. */
export const headersSeen = (req: IncomingMessage): Call['headers'] => req.headers as Call['headers']; // only set-cookie is a list, and no request carries it

/** `?a=1&b=2&b=3` as an object without prototype: a name that is repeated gives a list. */
export const parseQuery = (text: string): Record<string, string | string[]> => {
  // No prototype: a query named `__proto__` is a name like any other.
  const query: Record<string, string | string[]> = Object.create(null);
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    if (known === undefined) query[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else query[name] = [known, value];
  }
  return query;
};

/** Path and query of a request's target. `/api/v1/x` is another name of `/api/x`. */
export const splitTarget = (url: string): { path: string; query: string } => {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/]*/i, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path.startsWith('/api/v1/') ? `/api${path.slice(7)}` : path, query: mark < 0 ? '' : target.slice(mark + 1) };
};
