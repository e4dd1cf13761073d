/** What adapters over HTTP share. */
import type { FetchInit, FetchResponse } from '@svc/api';
import { ChannelFault, type Connection } from './adapter.js';

const SECOND_MS = 1_000;
const MAX_ANSWER = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** A request to what the settings name. `isEndless`: a stream that goes on as long as it is not silent. */
export const request = (
  { fetch, signal }: Pick<Connection, 'fetch' | 'signal'>,
  url: string,
  { isEndless = false, ...init }: Omit<FetchInit, 'purpose'> & { readonly isEndless?: boolean } = {},
): Promise<FetchResponse> => fetch(url, { purpose: 'server', ...(isEndless ? {} : { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER }), ...init, signal });

/** In seconds, or as a date; undefined where it says nothing readable. */
export const retryAfterMs = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * SECOND_MS);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
};

/** What a status means for a message that was sent. */
export const faultOfStatus = (name: string, status: number, why: string, waitMs?: number): ChannelFault => {
  const said = `${name} answered ${status}${why === '' ? '' : `: ${why}`}`;
  if (status === 401 || status === 403) return new ChannelFault(said, `Check the token of ${name} and what it may do, then configure the channel again.`, 'later', waitMs);
  if (status === 429) return new ChannelFault(said, 'svc waits as long as it was asked to.', 'later', waitMs);
  if (status >= 500) return new ChannelFault(said, `Wait until ${name} works again.`, 'later', waitMs);
  return new ChannelFault(said, 'Check where the message goes.', 'never');
};

/** Lines of JSON, as they come. */
export async function* jsonLines(body: AsyncIterable<Uint8Array>, maxLine: number): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    const text = decoder.decode(piece, { stream: true });
    let from = 0;
    // The rest is not searched again with each piece of a long line.
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      const line = (rest + text.slice(from, at)).trim();
      [rest, from] = ['', at + 1];
      if (line !== '') yield parsed(line);
    }
    rest += text.slice(from);
    if (rest.length > maxLine) throw new ChannelFault(`a line has more than ${maxLine} characters`, 'Check what the address answers.');
  }
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // What is no JSON is nothing that was sent to us.
    return undefined;
  }
};
