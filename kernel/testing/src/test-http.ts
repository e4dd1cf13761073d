/** HTTP as a client of the daemon speaks it, with assertions that say what came instead. */
import { Agent, request } from 'node:http';
import { createParser } from 'eventsource-parser';

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape the route answers
  readonly body: any;
}

export interface SseEvent {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape the frame has
  readonly data: any;
}

export class TestHttp {
  readonly url: string;
  readonly #key: string | (() => string | undefined) | undefined;

  /** A function is asked for each request. */
  constructor(url: string, key?: string | (() => string | undefined)) {
    this.url = url;
    this.#key = key;
  }

  get = (path: string, headers: Record<string, string> = {}): Promise<TestAnswer> => this.send('GET', path, undefined, headers);
  post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> => this.send('POST', path, body, headers);
  put = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> => this.send('PUT', path, body, headers);
  delete = (path: string, headers: Record<string, string> = {}): Promise<TestAnswer> => this.send('DELETE', path, undefined, headers);

  async send(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
    const message = this.#message(body, headers);
    const { status, headers: answered, text } = await ((message.body?.length ?? 0) > LARGE_CHARS ? fetched : exchanged)({ url: new URL(this.url + path), method, ...message });
    return { status, headers: answered, text, body: parse(text) };
  }

  /** The response before its body was read. */
  raw(method: string, path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const { body: text, headers: all } = this.#message(body, headers);
    return fetch(this.url + path, { method, headers: all, ...(text === undefined ? {} : { body: text }), ...(signal ? { signal } : {}) });
  }

  #message(body: unknown, headers: Record<string, string>): { readonly headers: Record<string, string>; readonly body: string | undefined } {
    const hasBody = body !== undefined;
    const key = typeof this.#key === 'function' ? this.#key() : this.#key;
    return {
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers },
      body: !hasBody || typeof body === 'string' ? body : JSON.stringify(body),
    };
  }

  /** Like `send`, and fails with the answer's own words when the status is another. */
  async expect(status: number, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
    const answer = await this.send(method, path, body, headers);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${answer.text.slice(0, 500)}`);
    return answer;
  }

  /** Reads server-sent events until the stream ends, or until `enough` says so. */
  async events(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, enough: (event: SseEvent) => boolean = () => false): Promise<SseEvent[]> {
    const abort = new AbortController();
    const response = await this.raw(method, path, body, headers, abort.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw new Error(`${method} ${path} answered ${response.status} without events: ${await response.text()}`);
    const events: SseEvent[] = [];
    for await (const event of readEvents(response)) {
      events.push(event);
      // Leaving the loop cancels the body; an abort on top of it would reject here.
      if (enough(event)) break;
    }
    abort.abort();
    return events;
  }
}

/** Connections wait for the next request of the same daemon, as those of fetch do. */
const agent = new Agent({ keepAlive: true });

/** A daemon that refuses so large a body closes the connection while it is still written: fetch reads the refusal all the same. */
const LARGE_CHARS = 1_000_000;

interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

interface Exchanged {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const fetched = async ({ body, headers, method, url }: Exchange): Promise<Exchanged> => {
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

/** What fetch does, for a third of the processor time: most tests send many small requests. */
const exchanged = ({ body, headers, method, url }: Exchange): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { agent, method, headers: { accept: '*/*', ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.once('error', reject);
      answer.once('end', () => {
        const answered = new Headers();
        for (let at = 0; at < answer.rawHeaders.length; at += 2) answered.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
        resolve({ status: answer.statusCode ?? 0, headers: answered, text: Buffer.concat(pieces).toString('utf8') });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });

async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const parsed: SseEvent[] = [];
  const parser = createParser({ onEvent: ({ event = 'message', id, data }) => void parsed.push({ event, id, data: parse(data) ?? data }) });
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* parsed.splice(0);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
