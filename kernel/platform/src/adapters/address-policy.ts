/**
 * Where an agent or a third party's text may make this machine connect to (SSRF).
 *
 * A1  Every address of a name has to pass; one that does not refuses the name.
 * A2  Only addresses that are public on the internet pass; what is not known to be public is refused. An IPv4 address inside an IPv6 one counts too.
 * A3  Cloud metadata and carrier ranges cannot be allowed by configuration or grant.
 * A5  The port of this daemon is reached by nobody through it, whatever is granted or allowed: what asks there is taken for a caller.
 * A6  What an operator configured as a server may be anywhere else: private networks, carrier ranges that private networks use, this machine beside that port.
 * A4  A grant that names a private address or block literally opens just that; a grant of names or of `*` opens nothing private.
 */
import { parsedUrl } from '@svc/api';
import { networkInterfaces } from 'node:os';
import type { IPv4, IPv6 } from 'ipaddr.js';

const REFUSED_NAMES = new Set(['localhost', 'ip6-localhost', 'metadata.google.internal', 'metadata.aws.internal', 'instance-data']);
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.aws.internal', 'instance-data']);
/** Shared among the customers of a carrier (RFC 6598); private networks over the internet use it too. */
const CARRIER = '100.64.0.0/10';
/** Azure (168.63.129.16) serves its machines at an address of the public internet. */
const NEVER = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  // Credentials over IPv6: all services of AWS for its machines, Google Cloud, Oracle Cloud, Scaleway, OpenStack.
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fe80::a9fe:a9fe/128',
];
/** Of IPv6, all that was ever given to the internet (RFC 4291 2.4). What lies beside it is nobody's, or a private net's. */
const PUBLIC_IPV6 = '2000::/3';

type Address = IPv4 | IPv6;
type IpPackage = typeof import('ipaddr.js');
/** `granted`: a grant of the agent names the address itself (A4). `configured`: an operator named the server (A6). */
export type Standing = 'granted' | 'configured' | undefined;
type AddressRules = (host: string, address: string, allowed: readonly string[], standing?: Standing) => string | undefined;

/** Lower case, without brackets and the dot of the root zone. */
export const canonicalHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/(?<!\.)\.+$/, '');

/** By RFC 1035 2.3.4, written as text. */
const MAX_HOST_LENGTH = 253;

/** The canonical form of a host that comes as text of its own, not in a URL. Undefined for what is no host name or address: what a resolver would cut off or read in another way (a zero byte, a zone, a path) never reaches it. */
export const readHost = (text: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
  if (/[\u0000-\u0020\u007f/\\?#@%]/.test(text) || (text.startsWith('[') && !text.endsWith(']'))) return undefined;
  const url = `http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}`;
  const host = canonicalHost(parsedUrl(url)?.hostname ?? '');
  return host === '' || host.length > MAX_HOST_LENGTH ? undefined : host;
};

/** Why the name may not be asked for, or undefined. `allowed`: `[web.fetch] ssrf_allowed_hosts`. */
export const refusedName = (host: string, allowed: readonly string[], isGranted = false): string | undefined => {
  if (METADATA_NAMES.has(host)) return 'it serves cloud credentials';
  const isLocal = REFUSED_NAMES.has(host) || host.endsWith('.localhost');
  return isLocal && !isGranted && !isNameAllowed(host, allowed) ? 'it names this machine' : undefined;
};

/** Says why an address may not be connected to, or undefined. The package is loaded with the first decision. */
export const loadAddressPolicy = async (): Promise<AddressRules> => {
  const { default: ipaddr } = await import('ipaddr.js');
  return (host, address, allowed, standing) => refusedAddress(ipaddr, host, address, allowed, standing);
};

/** Says whether an address leads to this machine: by loopback, by no address at all, or by one of its own. */
export const loadMachineCheck = async (): Promise<(address: string) => boolean> => {
  const { default: ipaddr } = await import('ipaddr.js');
  // By its bytes: the text of a link-local address names the interface as well.
  const bytesOf = (address: string): string => unwrapped(ipaddr, ipaddr.parse(address)).toByteArray().join();
  return (address) => {
    if (!ipaddr.isValid(address)) return true;
    const range = unwrapped(ipaddr, ipaddr.parse(address)).range();
    if (range === 'loopback' || range === 'unspecified') return true;
    const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address.replace(/%.*$/, '')));
    return own.some((one) => ipaddr.isValid(one) && bytesOf(one) === bytesOf(address));
  };
};

const refusedAddress = (ipaddr: IpPackage, host: string, address: string, allowed: readonly string[], standing: Standing): string | undefined => {
  if (!ipaddr.isValid(address)) return 'its address cannot be read';
  const real = unwrapped(ipaddr, ipaddr.parse(address));
  const inside = embeddedIpv4(ipaddr, real);
  const never = standing === 'configured' ? NEVER : [...NEVER, CARRIER];
  if ([real, ...inside].some((one) => never.some((range) => isInRange(ipaddr, one, range)))) return 'its address belongs to cloud metadata or a carrier network';
  const range = rangeOf(ipaddr, real, inside);
  if (range === 'unicast' || standing !== undefined) return undefined;
  if (isNameAllowed(host, allowed) || allowed.some((entry) => isInRange(ipaddr, real, entry))) return undefined;
  return `its address is ${range === 'loopback' ? 'this machine' : 'not public'} (${range})`;
};

/** `unicast` for what is public. */
const rangeOf = (ipaddr: IpPackage, real: Address, inside: readonly IPv4[]): string => {
  const range = real.range();
  if (real.kind() === 'ipv4' || range !== 'unicast') return range;
  if (!isInRange(ipaddr, real, PUBLIC_IPV6)) return 'unassigned';
  return inside.map((one) => one.range()).find((one) => one !== 'unicast') ?? range;
};

const matchesName = (host: string, entry: string): boolean => {
  const wanted = canonicalHost(entry);
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : wanted === host && wanted !== '';
};

const isNameAllowed = (host: string, allowed: readonly string[]): boolean => allowed.some((entry) => matchesName(host, entry));

/** An IPv4 address that travels inside an IPv6 one is validated as what it is. */
const unwrapped = (ipaddr: IpPackage, address: Address): Address => {
  if (address.kind() === 'ipv4') return address;
  const bytes = address.toByteArray();
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  // ::1 and :: are IPv6 addresses of their own, not IPv4-compatible ones.
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12).some((byte, index) => byte > (index === 3 ? 1 : 0));
  const isNat64 = isInRange(ipaddr, address, '64:ff9b::/96');
  return isMapped || isCompatible || isNat64 ? ipaddr.fromByteArray(bytes.slice(12)) : address;
};

/** The IPv4 addresses to which a translator or tunnel would deliver what is sent to an IPv6 one. */
const embeddedIpv4 = (ipaddr: IpPackage, address: Address): readonly IPv4[] => {
  if (address.kind() === 'ipv4') return [];
  const bytes = address.toByteArray();
  const ipv4 = (...at: readonly number[]): IPv4 => new ipaddr.IPv4(at.map((index) => bytes[index] ?? 0));
  const last = ipv4(12, 13, 14, 15);
  switch (address.range()) {
    case '6to4': // RFC 3056
      return [ipv4(2, 3, 4, 5)];
    case 'teredo': // RFC 4380 4: the server, and the client with each bit turned
      return [ipv4(4, 5, 6, 7), new ipaddr.IPv4(last.octets.map((octet) => octet ^ 0xff))];
    case 'rfc6052': // RFC 6052 2.2, prefixes of 48 and 96 bits inside 64:ff9b:1::/48
      return [last, ipv4(6, 7, 9, 10)];
    case 'rfc6145': // ::ffff:0:a.b.c.d
      return [last];
    default: // RFC 5214 6.1 (ISATAP): 0:5efe or 200:5efe before the address
      return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe ? [last] : [];
  }
};

const isInRange = (ipaddr: IpPackage, address: Address, range: string): boolean => {
  const [base = '', bits] = range.split('/');
  if (!ipaddr.isValid(base)) return false;
  const parsed = ipaddr.parse(base);
  if (parsed.kind() !== address.kind()) return false;
  const width = parsed.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? width : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > width) return false;
  return address.match(parsed, length);
};
