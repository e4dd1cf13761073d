/** Reads request bodies: bounded in bytes, depth and number of values, JSON only, without names that reach prototypes. */
import type { IncomingMessage } from 'node:http';
import type { SvcError } from '@svc/api';
import { httpErrors } from '../errors.js';
import { describeJsonFault } from './json-position.js';

/** Routes that take more say so (`maxBodyBytes`). */
export const DEFAULT_MAX_BODY_BYTES = 256 * 1_024;
/** A body that is refused for its size is read to its end up to this much, so that the connection can be used again. */
const MAX_DISCARD_BYTES = 32 * 1_048_576;
/** How long a body that is read as a whole may take to arrive, however fast it comes. */
const MAX_BODY_MS = 300_000;

export interface BodyRule {
  readonly maxBytes: number;
  /** So long a body may take whatever its size; beyond that each second has to bring so many bytes. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** Sees each piece as it comes, and refuses the body by what it gives. */
  readonly check?: (chunk: Uint8Array) => SvcError | undefined;
}

/** Throws `body_too_large` where the head announces it. */
export const assertAnnounced = (req: IncomingMessage, maxBytes: number): void => {
  if (Number(req.headers['content-length'] ?? 0) <= maxBytes) return;
  discard(req);
  throw httpErrors.body_too_large(maxBytes);
};

/** The whole body. */
export const readBytes = (req: IncomingMessage, { maxBytes, graceMs, bytesPerSecond, check }: BodyRule): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    assertAnnounced(req, maxBytes);
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (refusal: SvcError) => {
      clock.stop();
      chunks.length = 0;
      req.off('data', take);
      discard(req);
      reject(refusal);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      const refusal = size > maxBytes ? httpErrors.body_too_large(maxBytes) : check?.(chunk);
      if (refusal) refuse(refusal);
      else chunks.push(chunk);
    };
    const clock = watchPace(
      () => Math.min(MAX_BODY_MS, graceMs + (size / bytesPerSecond) * 1_000),
      () => refuse(httpErrors.body_too_slow(bytesPerSecond).with({ headers: { connection: 'close' } })),
    );
    req.on('data', take);
    // Every request is closed at last: an error is made only for one that did not end before.
    let isWhole = false;
    const broken = () => {
      clock.stop();
      if (!isWhole) reject(httpErrors.body_aborted());
    };
    req.once('end', () => {
      isWhole = true;
      clock.stop();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    req.once('error', broken);
    req.once('close', broken);
  });

/** Calls `late` when more time has passed than what came so far is allowed. */
const watchPace = (allowedMs: () => number, late: () => void): { stop(): void } => {
  const begun = performance.now();
  const look = () => {
    const left = begun + allowedMs() - performance.now();
    if (left <= 0) late();
    else timer = setTimeout(look, left);
  };
  let timer = setTimeout(look, allowedMs());
  return { stop: () => clearTimeout(timer) };
};

/** True when the request announces a body. */
export const hasBody = (req: IncomingMessage): boolean => req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** What curl says of `-d '{…}'`. A page's form says the same, but a page also sends an Origin. */
const CURL_DEFAULT = 'application/x-www-form-urlencoded';

/** JSON, or nothing said, or what curl says by itself. */
export const assertJsonType = (req: IncomingMessage): void => {
  const type = req.headers['content-type'];
  if (type === undefined || type === '') return;
  if (type === CURL_DEFAULT && req.headers.origin === undefined) return;
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (bare !== 'application/json' && !(bare.startsWith('application/') && bare.endsWith('+json'))) throw httpErrors.unsupported_media_type(bare.slice(0, 80));
};

/** The depth was validated as the bytes came (json-measure.ts). */
export const parseJson = (bytes: Buffer): unknown => {
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw httpErrors.invalid_json(describeJsonFault(text));
  }
  if (text.includes('__proto__') || text.includes('"constructor"') || text.includes('\\u')) dropFrom(value);
  return value;
};

/** Drops what could reach a prototype, at every depth. */
function dropFrom(root: unknown): void {
  const open: object[] = isObject(root) ? [root] : [];
  for (let node = open.pop(); node; node = open.pop()) {
    if (!Array.isArray(node)) dropPrototypeKeys(node);
    for (const child of Object.values(node)) if (isObject(child)) open.push(child);
  }
}

function dropPrototypeKeys(node: object): void {
  // The own properties that JSON.parse made, not those of every object.
  Reflect.deleteProperty(node, '__proto__');
  const made: unknown = Object.hasOwn(node, 'constructor') ? node.constructor : undefined;
  if (isObject(made) && Object.hasOwn(made, 'prototype')) Reflect.deleteProperty(node, 'constructor');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Lets the rest of a refused body pass, so that the answer arrives and the connection stays usable; hangs up on endless ones. */
export function discard(req: IncomingMessage): void {
  let left = MAX_DISCARD_BYTES;
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.on('error', () => undefined); // the caller has its answer; the socket closes itself
  req.resume();
}
