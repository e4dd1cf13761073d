/** The caller's address: the socket's, or what a trusted proxy says of it. */
import type { IncomingMessage } from 'node:http';
import { type IpRange, isInRange, parseAddress, parseRange } from '../../adapters/ip-range.js';
import { isLoopbackName } from '../../config/loopback.js';

/** `trusted` are addresses and ranges in CIDR form; the list is validated once, so it must not be changed. */
export const clientAddress = (req: IncomingMessage, trusted: readonly string[]): string => {
  const peer = plain(req.socket.remoteAddress ?? '');
  const ranges = rangesOf(trusted);
  if (ranges.length === 0 || !isTrusted(peer, ranges)) return peer;
  const forwarded = req.headers['x-forwarded-for'];
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',').map((hop) => plain(withoutPort(hop.trim())));
  let nearest = peer;
  // Every proxy adds at the right; the first from there that is not ours is the caller. What stands left of it anybody can write.
  for (const hop of hops.reverse()) {
    // What cannot be read was not written by a proxy that is ours: the one that passed it on answers for it.
    if (parseAddress(hop) === undefined) return nearest;
    if (!isTrusted(hop, ranges)) return hop;
    nearest = hop;
  }
  return nearest;
};

/** Whether the peer is one of the trusted proxies. */
export const isProxy = (peer: string, trusted: readonly string[]): boolean => trusted.length > 0 && isTrusted(plain(peer), rangesOf(trusted));

/** Whether the client spoke https, by the word of a trusted proxy: the daemon itself speaks plain HTTP. Of several words the nearest proxy's counts. */
export const cameOverHttps = (req: IncomingMessage, trusted: readonly string[]): boolean => {
  const reported = req.headers['x-forwarded-proto'];
  if (reported === undefined || !isProxy(req.socket.remoteAddress ?? '', trusted)) return false;
  return String(reported).split(',').at(-1)?.trim().toLowerCase() === 'https';
};

/** A program of this machine, called directly. */
export const isLoopbackCaller = (req: IncomingMessage): boolean =>
  isLoopbackName(req.socket.remoteAddress ?? '') && req.headers['x-forwarded-for'] === undefined && req.headers.forwarded === undefined && req.headers['x-real-ip'] === undefined;

const NONE: readonly IpRange[] = [];
const validated = new WeakMap<readonly string[], readonly IpRange[]>();

const rangesOf = (trusted: readonly string[]): readonly IpRange[] => {
  if (trusted.length === 0) return NONE;
  const known = validated.get(trusted);
  if (known) return known;
  // What is no range was refused where the settings are read; here it would only trust nobody.
  const ranges = trusted.flatMap((text) => parseRange(text) ?? []);
  validated.set(trusted, ranges);
  return ranges;
};

const isTrusted = (ip: string, ranges: readonly IpRange[]): boolean => {
  const address = parseAddress(ip);
  return address !== undefined && ranges.some((range) => isInRange(address, range));
};

/** `::ffff:10.0.0.7` → `10.0.0.7`: one caller has one name. Others are written as they come. */
const plain = (address: string): string => (address.startsWith('::ffff:') ? (parseAddress(address)?.toString() ?? address) : address);

/** Some proxies write `10.0.0.7:51234` or `[2001:db8::7]:51234`. */
const withoutPort = (hop: string): string => {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop);
  if (bracketed) return bracketed[1] ?? '';
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
};
