/** A name becomes addresses that were validated: what is connected to is one of them, and no name is looked up twice. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isHostGranted, isPrivatePattern, isSvcError } from '@svc/api';
import { isAddressGranted } from '@svc/api/internal';
import { loadAddressPolicy, loadMachineCheck, refusedName } from './address-policy.js';
import { fetchErrors } from './errors.js';

export interface ResolvedAddress {
  address: string;
  family: number;
}
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface Target {
  /** Canonical. */
  readonly host: string;
  readonly port: string;
  /** As messages name it. */
  readonly shown: string;
}

/** Patterns of hosts: those granted to whoever asks, and those that [web.fetch] ssrf_allowed_hosts opens to all. */
export interface AddressTerms {
  readonly granted: readonly string[];
  readonly allowed: readonly string[];
  /** An operator named the server. */
  readonly isConfigured?: boolean;
  /** Where this daemon listens: nobody is connected to that (A5). */
  readonly ownPort?: number | undefined;
}

/** Every address of the name; one that may not be reached refuses the name. Rejects with `fetch_refused_address`, `fetch_network`, or the signal's reason. */
export const publicAddresses = async (
  target: Target,
  { granted, allowed, isConfigured = false, ownPort }: AddressTerms,
  resolveHost: ResolveHost = systemLookup,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> => {
  const { host, port, shown } = target;
  const literal = granted.filter(isPrivatePattern);
  const why = refusedName(host, allowed, isConfigured || isHostGranted(literal, host, port));
  if (why !== undefined) throw fetchErrors.refused_address(shown, why);
  const addresses = await resolved(resolveHost, host, shown, signal);
  if (addresses.length === 0) throw fetchErrors.network(shown, 'the name has no address');
  if (ownPort !== undefined && port === String(ownPort)) await refuseOwnPort(addresses, shown);
  const policy = await loadAddressPolicy();
  for (const { address } of addresses) {
    const refused = policy(host, address, allowed, isConfigured ? 'configured' : isAddressGranted(literal, host, port, address) ? 'granted' : undefined);
    if (refused !== undefined) throw fetchErrors.refused_address(shown, refused);
  }
  return addresses;
};

/** The same for a name that a proxy looks up: its addresses are not known here. What is an address by itself is checked as ever. */
export const addressesAtProxy: typeof publicAddresses = async (target, terms, resolveHost, signal) => {
  const { host, port, shown } = target;
  if (isIP(host) !== 0) return publicAddresses(target, terms, resolveHost, signal);
  const why = refusedName(host, terms.allowed, terms.isConfigured === true || isHostGranted(terms.granted.filter(isPrivatePattern), host, port));
  if (why !== undefined) throw fetchErrors.refused_address(shown, why);
  return [];
};

const refuseOwnPort = async (addresses: readonly ResolvedAddress[], shown: string): Promise<void> => {
  const isThisMachine = await loadMachineCheck();
  if (addresses.some(({ address }) => isThisMachine(address))) throw fetchErrors.refused_address(shown, 'it is this daemon');
};

/** The same for an address whose other rules are its own. Rejects with `fetch_refused_address` or `fetch_network`. */
export const assertNotOwnPort = async ({ host, port, shown }: Target, ownPort: number | undefined, resolveHost: ResolveHost = systemLookup, signal: AbortSignal): Promise<void> => {
  if (ownPort !== undefined && port === String(ownPort)) await refuseOwnPort(await resolved(resolveHost, host, shown, signal), shown);
};

const systemLookup: ResolveHost = (host) => lookup(host, { all: true });

const resolved = async (resolveHost: ResolveHost, host: string, shown: string, signal: AbortSignal): Promise<readonly ResolvedAddress[]> => {
  let onAbort = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([resolveHost(host), ended]);
  } catch (error) {
    if (isSvcError(error)) throw error;
    throw fetchErrors.network(shown, 'its name is not known').with({ cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};
