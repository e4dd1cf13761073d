/**
 * How many connections are open, in all and per address.
 *
 * C1  Beyond a cap a connection is refused with 503 before anything of it is read.
 * C2  An IPv6 client is its /64: whoever has one address there has all of them.
 * C3  Programs of this machine and trusted proxies speak for many: only the cap in all holds for them.
 * C4  When that is reached, a few connections from this machine still get one question each, about health.
 */
import type { Socket } from 'node:net';
import { networkOf } from '../../adapters/ip-range.js';
import { isLoopbackName } from '../../config/loopback.js';

/** C4. */
const RESERVE = 32;

export interface CapLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

export interface ConnectionCaps {
  /** `reserve`: it may ask about health and is closed then. */
  admit(socket: Socket): 'open' | 'reserve' | 'refused';
  stats(): { readonly open: number; readonly refused: number };
}

export const createConnectionCaps = (limits: () => CapLimits, isProxy: (address: string) => boolean): ConnectionCaps => {
  const perAddress = new Map<string, number>();
  let open = 0;
  let reserved = 0;
  let refused = 0;
  const recheck = (address: string, isLocal: boolean): 'open' | 'reserve' | 'refused' => {
    const { maxConnections, maxConnectionsPerAddress } = limits();
    if (!isLocal && !isProxy(address) && (perAddress.get(networkOf(address)) ?? 0) >= maxConnectionsPerAddress) return 'refused';
    if (open < maxConnections) return 'open';
    return isLocal && reserved < RESERVE ? 'reserve' : 'refused';
  };
  return {
    admit: (socket) => {
      const address = socket.remoteAddress ?? '';
      const verdict = recheck(address, isLoopbackName(address));
      if (verdict === 'refused') {
        refused++;
        return verdict;
      }
      const network = networkOf(address);
      perAddress.set(network, (perAddress.get(network) ?? 0) + 1);
      if (verdict === 'reserve') reserved++;
      else open++;
      socket.once('close', () => {
        if (verdict === 'reserve') reserved--;
        else open--;
        const left = (perAddress.get(network) ?? 1) - 1;
        if (left > 0) perAddress.set(network, left);
        else perAddress.delete(network);
      });
      return verdict;
    },
    stats: () => ({ open: open + reserved, refused }),
  };
};
