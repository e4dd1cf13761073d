/**
 * Which hosts a fetch may reach. The registry, the index and the address that a person named may lie on this machine or
 * its network; what those name, and where they redirect to, has to be public, or the same host and port.
 *
 * Names are checked when the connection is made, by the very addresses that are connected to.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { lookup as lookedUp } from 'node:dns/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { canonicalHost, loadAddressPolicy, refusedName } from '@svc/platform/adapters/address-policy';
import { installErrors } from '../errors.js';

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'PROXY', 'proxy'];

type AgentOf = (url: URL) => HttpAgent | HttpsAgent;

/** `own` is the address that a person or a setting named. Undefined where a proxy connects: it has rules of its own. Throws an error whose cause is `install_source`: the client takes one with a status for an answer. */
export const agentFor = async (own: string, env: Readonly<Record<string, string | undefined>>): Promise<AgentOf | undefined> => {
  if (PROXIES.some((name) => env[name])) return undefined;
  const policy = await loadAddressPolicy();
  const home = new URL(own);
  return (url) => {
    if (url.host === home.host && url.protocol === home.protocol) return url.protocol === 'http:' ? new HttpAgent() : new HttpsAgent();
    if (url.protocol !== 'https:' && home.protocol === 'https:') throw wrapped(`${home.host} leads to ${url.host} without encryption`);
    const host = canonicalHost(url.hostname);
    const refuse = (why: string): Error => wrapped(`${home.host} leads to ${url.host}, and ${why}`);
    const why = refusedName(host, []) ?? (isAddress(host) ? policy(host, host, []) : undefined);
    if (why !== undefined) throw refuse(why);
    const checked: LookupFunction = (name, options, done) =>
      lookup(name, { ...options, all: true }, (error, addresses: LookupAddress[] = []) => {
        const bad = addresses.map(({ address }) => policy(host, address, [])).find((one) => one !== undefined);
        const failure = error ?? (bad === undefined ? null : Object.assign(refuse(bad), { code: 'EREFUSEDADDRESS' }));
        const [first] = addresses;
        if (failure || !first) return done(failure ?? new Error('the name has no address'), '', 0);
        return options.all ? done(null, addresses) : done(null, first.address, first.family);
      });
    return url.protocol === 'http:' ? new HttpAgent({ lookup: checked }) : new HttpsAgent({ lookup: checked });
  };
};

/** For a client that connects by itself: the addresses of what `by` named, all of them public. Undefined where a proxy connects. Rejects with `install_source`, or `install_download` for an unknown name. */
export const publicAddressesOf = async ({ hostname, host: shown }: URL, by: URL, env: Readonly<Record<string, string | undefined>>): Promise<readonly string[] | undefined> => {
  if (PROXIES.some((name) => env[name])) return undefined;
  const host = canonicalHost(hostname);
  const policy = await loadAddressPolicy();
  const refuse = (why: string): Error => installErrors.source(`${by.host} leads to ${shown}, and ${why}`);
  const whyNamed = refusedName(host, []);
  if (whyNamed !== undefined) throw refuse(whyNamed);
  const addresses = await lookedUp(host, { all: true }).catch((cause: unknown) => {
    throw installErrors.download(shown, 'its name is not known').with({ cause });
  });
  const why = addresses.map(({ address }) => policy(host, address, [])).find((one) => one !== undefined);
  if (why !== undefined) throw refuse(why);
  return addresses.map(({ address }) => address);
};

const wrapped = (why: string): Error => new Error(why, { cause: installErrors.source(why) });

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');
