/**
 * Sends what an area makes as it makes it.
 *
 * S1  Nothing is asked of the source before the client has taken what came before.
 * S2  A client that leaves, or takes nothing for so long, ends the source.
 * S3  What cannot be sent whole is hung up on: half an answer never looks like a whole one.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Reply } from '@svc/api';
import { type Head, headersOf } from './answer.js';
import { httpErrors } from '../errors.js';

export interface StreamTerms {
  /** How long a client may take nothing, with so many bytes before it. */
  readonly patienceMs: (bytesWaiting: number) => number;
  /** Aborted when the area stops. */
  readonly stopped: AbortSignal;
  /** Runs code of the area as the area's. */
  readonly enter: <T>(fn: () => T) => T;
}

type StreamReply = Extract<Reply, { kind: 'stream' }>;

/** Resolves when all is sent or nobody is left. Rejects with what the source threw, or with `reloading`. */
export const sendStream = async (res: ServerResponse, head: Head, reply: StreamReply, terms: StreamTerms): Promise<void> => {
  const source = terms.enter(() => reply.source[Symbol.asyncIterator]());
  const left = new AbortController();
  const onLeave = (): void => left.abort();
  res.once('close', onLeave);
  if (res.destroyed) onLeave();
  const ended = AbortSignal.any([left.signal, terms.stopped]);
  try {
    const isWhole = await pump(res, head, reply, source, ended, terms);
    if (!isWhole && terms.stopped.aborted) throw httpErrors.reloading(res.req.url?.split('?', 1)[0] ?? '');
  } finally {
    res.off('close', onLeave);
    await clearUp(source, terms);
  }
};

/** False when `ended` aborted before all was taken. */
async function pump(res: ServerResponse, head: Head, { status, contentType, headers }: StreamReply, source: AsyncIterator<Uint8Array>, ended: AbortSignal, terms: StreamTerms): Promise<boolean> {
  const begin = (): void => void (res.headersSent || res.writeHead(status, headersOf(head, contentType, headers)));
  const isBare = res.req.method === 'HEAD' || status === 204 || status === 304;
  const announced = lengthOf(headers);
  let sent = 0;
  while (!isBare) {
    const next = await unless(ended, () => terms.enter(() => source.next()));
    if (next === 'aborted') return false;
    if (next.done) break;
    sent += next.value.byteLength;
    if (announced !== undefined && sent > announced) throw new RangeError('the source gave more than the content-length that was announced');
    // Not before the first piece, which decides whether there is an answer at all.
    begin();
    if (!res.write(next.value)) await taken(res, ended, terms);
  }
  if (!isBare && announced !== undefined && sent < announced) throw new RangeError('the source gave less than the content-length that was announced');
  begin();
  res.end();
  if (res.writableFinished) return true;
  const timer = setTimeout(() => res.destroy(), terms.patienceMs(res.writableLength));
  const last = await unless(ended, () => once(res, 'finish'));
  clearTimeout(timer);
  return last !== 'aborted';
}

/** Until the client has taken what was written. One that takes nothing in time is hung up on. */
const taken = async (res: ServerResponse, ended: AbortSignal, { patienceMs }: StreamTerms): Promise<void> => {
  const timer = setTimeout(() => res.destroy(), patienceMs(res.writableLength));
  await unless(ended, () => once(res, 'drain'));
  clearTimeout(timer);
};

/** Lets the source clean up. One that hangs in it is waited for as long as its area lives, and no longer. */
const clearUp = async (source: AsyncIterator<Uint8Array>, { enter, stopped }: StreamTerms): Promise<void> => {
  // What is thrown while cleaning up changes no answer.
  const closing = async (): Promise<void> => void (await enter(async () => source.return?.()).catch(() => undefined));
  await unless(stopped, closing);
};

/** What comes first; leaves nothing behind on the signal, however often it is asked. */
const unless = <T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T | 'aborted'> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return resolve('aborted');
    const onAbort = (): void => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    begin()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });

const lengthOf = (headers: Readonly<Record<string, string>>): number | undefined => {
  const [, text] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-length') ?? [];
  return text === undefined ? undefined : Number(text);
};
