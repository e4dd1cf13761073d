/** HTTP as a client of the daemon speaks it, with assertions that say what came instead. */
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
    const response = await this.raw(method, path, body, headers);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  }

  /** The response before its body was read. */
  raw(method: string, path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const hasBody = body !== undefined;
    const key = typeof this.#key === 'function' ? this.#key() : this.#key;
    return fetch(this.url + path, {
      method,
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers },
      ...(hasBody ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
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
