/** What a route answers, as data: the code that turns frames into bytes is named, never carried. */

export type Headers = Readonly<Record<string, string>>;

export interface JsonReply<S extends number = number, B = unknown> {
  readonly kind: 'json';
  readonly status: S;
  readonly body: B;
  readonly headers: Headers;
}

/** Plain data: what code it needs is named. */
export type Reply = JsonReply | MediaReply;

/** An answer that is not one JSON value, or not there yet. */
export type MediaReply =
  | { readonly kind: 'bytes'; readonly status: number; readonly contentType: string; readonly body: string | Uint8Array; readonly headers: Headers }
  | { readonly kind: 'stream'; readonly status: number; readonly contentType: string; readonly source: AsyncIterable<Uint8Array>; readonly headers: Headers }
  | { readonly kind: 'follow'; readonly topic: string; readonly projection: string; readonly args: unknown; readonly after: string | number; readonly headers: Headers }
  | { readonly kind: 'wait'; readonly topic: string; readonly projection: string; readonly args: unknown; readonly headers: Headers; readonly late?: LateReply; readonly after?: string };

/** What is answered when no such frame has come after so long. */
export interface LateReply {
  readonly afterMs: number;
  readonly reply: Reply;
}
