/**
 * Where an agent or a third party's text may make this machine connect to (SSRF).
 *
 * A1  Every address of a name has to pass; one that does not refuses the name.
 * A2  Only addresses that are public on the internet pass; what is not known to be public is refused.
 * A3  Cloud metadata and carrier ranges cannot be allowed by configuration or grant.
 * A5  The port of this daemon is reached by nobody through it, whatever is granted or allowed: what asks there is taken for a caller.
 * A4  A grant that names a private address or block literally opens just that; a grant of names or of `*` opens nothing private.
 */
import { networkInterfaces } from 'node:os';
import type { IPv4, IPv6 } from 'ipaddr.js';

const REFUSED_NAMES = new Set(['localhost', 'ip6-localhost', 'metadata.google.internal', 'metadata.aws.internal', 'instance-data']);
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.aws.internal', 'instance-data']);
/** Azure (168.63.129.16) serves its machines at an address of the public internet. */
const NEVER = ['169.254.0.0/16', '100.64.0.0/10', '192.0.0.192/32', '168.63.129.16/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'];
/** Of IPv6, all that was ever given to the internet (RFC 4291 2.4). What lies beside it is nobody's, or a private net's. */
const PUBLIC_IPV6 = '2000::/3';

type Address = IPv4 | IPv6;
type IpPackage = typeof import('ipaddr.js');
/** `isGranted`: a grant of the agent names the address itself (A4). */
type AddressRules = (host: string, address: string, allowed: readonly string[], isGranted?: boolean) => string | undefined;

/** Lower case, without brackets and the dot of the root zone. */
export const canonicalHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/(?<!\.)\.+$/, '');

/** Why the name may not be asked for, or undefined. `allowed`: `[web.fetch] ssrf_allowed_hosts`. */
export const refusedName = (host: string, allowed: readonly string[], isGranted = false): string | undefined => {
  if (METADATA_NAMES.has(host)) return 'it serves cloud credentials';
  const isLocal = REFUSED_NAMES.has(host) || host.endsWith('.localhost');
  return isLocal && !isGranted && !isNameAllowed(host, allowed) ? 'it names this machine' : undefined;
};

/** Says why an address may not be connected to, or undefined. The package is loaded with the first decision. */
export const loadAddressPolicy = async (): Promise<AddressRules> => {
  const { default: ipaddr } = await import('ipaddr.js');
  return (host, address, allowed, isGranted = false) => refusedAddress(ipaddr, host, address, allowed, isGranted);
};

/** Says whether an address leads to this machine: by loopback, by no address at all, or by one of its own. */
export const loadMachineCheck = async (): Promise<(address: string) => boolean> => {
  const { default: ipaddr } = await import('ipaddr.js');
  const textOf = (address: string): string => unwrapped(ipaddr, ipaddr.parse(address)).toString();
  return (address) => {
    if (!ipaddr.isValid(address)) return true;
    const range = unwrapped(ipaddr, ipaddr.parse(address)).range();
    if (range === 'loopback' || range === 'unspecified') return true;
    const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address.replace(/%.*$/, '')));
    return own.some((one) => ipaddr.isValid(one) && textOf(one) === textOf(address));
  };
};

const refusedAddress = (ipaddr: IpPackage, host: string, address: string, allowed: readonly string[], isGranted: boolean): string | undefined => {
  if (!ipaddr.isValid(address)) return 'its address cannot be read';
  const real = unwrapped(ipaddr, ipaddr.parse(address));
  if (NEVER.some((range) => isInRange(ipaddr, real, range))) return 'its address belongs to cloud metadata or a carrier network';
  const range = real.kind() === 'ipv6' && real.range() === 'unicast' && !isInRange(ipaddr, real, PUBLIC_IPV6) ? 'unassigned' : real.range();
  if (range === 'unicast' || isGranted) return undefined;
  if (isNameAllowed(host, allowed) || allowed.some((entry) => isInRange(ipaddr, real, entry))) return undefined;
  return `its address is ${range === 'loopback' ? 'this machine' : 'not public'} (${range})`;
};

const matchesName = (host: string, wanted: string): boolean => (wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : canonicalHost(wanted) === host);

const isNameAllowed = (host: string, allowed: readonly string[]): boolean => allowed.some((entry) => matchesName(host, entry.toLowerCase()));

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
