/** What a handler sees of a request. The abort signal is made when somebody asks for it: most handlers never do. */
import type { ServerResponse } from 'node:http';
import type { Actor, Logger, Method, Reply, Req, Write, RunSubject } from '@svc/api';
import type { SendingPage } from '@svc/api/internal';
import type { Call } from './call.js';

/** The same for all of them. */
const NOTHING: AsyncIterable<Uint8Array> = Object.freeze({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }) });

const NO_BYTES = new Uint8Array();

export class HandlerRequest<P = unknown, Q = unknown, B = unknown> implements Req<P, Q, B | undefined> {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  params: P;
  query: Q;
  body: B | undefined = undefined;
  stream: AsyncIterable<Uint8Array> = NOTHING;
  bytes: Uint8Array = NO_BYTES;
  readonly headers: Call['headers'];
  readonly actor: Actor;
  readonly ip: string;
  readonly network: string;
  readonly isSecure: boolean;
  readonly page: SendingPage;
  readonly log: Logger;
  readonly call: Call;
  /** Set where the caller brought a key and the route keeps answers. */
  receipts: ((answer: Reply, about?: RunSubject) => readonly Write[]) | undefined;
  readonly #res: ServerResponse | undefined;
  #abort: AbortController | undefined;

  constructor(id: string, call: Call, actor: Actor, params: P, query: Q, log: Logger, res: ServerResponse | undefined) {
    this.id = id;
    this.call = call;
    this.method = call.method as Method; // it matched a row, so it is one of them
    this.path = call.path;
    this.params = params;
    this.query = query;
    this.headers = call.headers;
    this.actor = actor;
    this.ip = call.ip;
    this.network = call.network;
    this.isSecure = call.isSecure;
    this.page = call.page;
    this.log = log;
    this.#res = res;
  }

  receipt(answer: Reply, about?: RunSubject): readonly Write[] {
    return this.receipts?.(answer, about) ?? [];
  }

  get signal(): AbortSignal {
    return this.#ending().signal;
  }

  /** Ends what still works for this caller; `reason` is what it is told. */
  end(reason: Error): void {
    this.#ending().abort(reason);
  }

  #ending(): AbortController {
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
    return this.#abort;
  }
}

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
