/** The caller's address: the socket's, or what a trusted proxy says of it. */
import type { IncomingMessage } from 'node:http';
import { isLoopbackName } from './access.js';

export const clientAddress = (req: IncomingMessage, trusted: readonly string[]): string => {
  const peer = plain(req.socket.remoteAddress ?? '');
  if (trusted.length === 0 || !trusted.includes(peer)) return peer;
  const forwarded = req.headers['x-forwarded-for'];
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? ''))
    .split(',')
    .map((hop) => plain(hop.trim()))
    .filter((hop) => hop !== '');
  // Every proxy adds at the right; the first from there that is not ours is the caller. What stands left of it anybody can write.
  return hops.findLast((hop) => !trusted.includes(hop)) ?? peer;
};

/** A program of this machine, called directly. */
export const isLoopbackCaller = (req: IncomingMessage): boolean =>
  isLoopbackName(req.socket.remoteAddress ?? '') && req.headers['x-forwarded-for'] === undefined && req.headers.forwarded === undefined && req.headers['x-real-ip'] === undefined;

const plain = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address);
