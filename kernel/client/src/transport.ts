/** The part of `fetch` that the client needs: the global one has it, and so may any other. */

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: FetchBody;
  readonly signal: AbortSignal;
  /** Redirects are never followed: they would carry the key to another place. */
  readonly redirect: 'manual';
}

export type FetchBody = string | Uint8Array<ArrayBuffer> | Blob | FormData;

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ByteStream | AsyncIterable<Uint8Array> | null;
}

/** What of a ReadableStream is used. Not every browser can iterate one. */
export interface ByteStream {
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<void> };
}

export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** The bytes as they come. Leaving early ends the connection. */
export async function* bytesOf(body: FetchAnswer['body']): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  if (!('getReader' in body)) return yield* body;
  const reader = body.getReader();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value) yield value;
    }
    isRead = true;
  } finally {
    // Of a stream that broke this rejects with what broke it, which was told already.
    if (!isRead) await reader.cancel().catch(() => undefined);
  }
}
