/** Addresses that an agent must not reach, asked of the fetch adapter by the settings of now. Nothing is sent. */
import type { SecurityLook } from '@svc/api';
import type { ResolvedAddress } from '../resolved-address.js';
import type { FetchAdapter } from './fetch-adapter.js';

/** No setting opens these. */
const NEVER = [
  'http://169.254.169.254/latest/meta-data/',
  'http://metadata.google.internal/',
  'http://metadata.google.internal./',
  'http://100.100.100.200/',
  'http://192.0.0.192/',
  'http://[::ffff:169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://metadata.probe.invalid/',
  'file:///etc/passwd',
  'ftp://example.com/',
  'http://name:password@example.com/',
];
const PRIVATE = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://0.0.0.0/',
  'http://[::]/',
  'http://[::1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.0.1/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://inside.probe.invalid/',
];
const PUBLIC = 'http://public.probe.invalid/';

/** Names that resolve here alone; of one with two addresses the second is private. Literals resolve to themselves. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.probe.invalid': ['93.184.215.14'],
  'inside.probe.invalid': ['93.184.215.14', '10.0.0.1'],
  'metadata.probe.invalid': ['169.254.169.254'],
  localhost: ['127.0.0.1'],
};

const resolveHere = async (host: string): Promise<readonly ResolvedAddress[]> => (NAMES[host] ?? [host]).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

export const lookAtAddresses = async ({ refusal, proxyOf }: Pick<FetchAdapter, 'refusal' | 'proxyOf'>, ownUrl: string): Promise<SecurityLook> => {
  const proxy = proxyOf(PUBLIC);
  const passing = async (urls: readonly string[]): Promise<string[]> => {
    const refusals = await Promise.all(urls.map((url) => refusal(url, resolveHere)));
    return urls.filter((_, at) => refusals[at] === undefined);
  };
  const [never, open, outside] = [await passing([...NEVER, ownUrl].filter(isKnownHere(proxy))), await passing(PRIVATE.filter(isKnownHere(proxy))), await refusal(PUBLIC, resolveHere)];
  if (never.length > 0) return { state: 'failed', detail: `A tool could fetch ${listed(never)}, which no setting may open.` };
  if (outside !== undefined) return { state: 'failed', detail: `A public address was refused: ${outside}` };
  if (proxy !== undefined)
    return {
      state: 'degraded',
      detail: `Requests leave through the proxy ${proxy}, which looks up names: addresses are refused here in all their forms, but what a name leads to is checked only by the proxy.`,
    };
  const count = NEVER.length + PRIVATE.length + 1;
  if (open.length === 0) return { state: 'active', detail: `${count} addresses of this machine, private networks and cloud metadata were refused in all their forms; a public one was not.` };
  return { state: 'degraded', detail: `A tool can fetch ${listed(open)}: [web.fetch] ssrf_allowed_hosts opens ${open.length} of ${PRIVATE.length} private addresses. Cloud metadata stays refused.` };
};

/** What a name leads to is not known where a proxy looks it up. */
const isKnownHere =
  (proxy: string | undefined) =>
  (url: string): boolean =>
    proxy === undefined || !url.includes('.probe.invalid');

const SHOWN = 3;
const listed = (urls: readonly string[]): string => `${urls.slice(0, SHOWN).join(', ')}${urls.length > SHOWN ? ` and ${urls.length - SHOWN} more` : ''}`;
