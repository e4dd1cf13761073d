/** Addresses and ranges of them as people write them: `10.0.0.7`, `10.0.0.0/8`, `2001:db8::/32`. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface IpRange {
  readonly base: Address;
  readonly bits: number;
}

/** One customer of a network usually has a whole /64: its addresses are one caller. */
const IPV6_NETWORK_GROUPS = 4;
const MAPPED_BITS = 96;

/** Undefined for what is no address. An IPv4 address that is written as an IPv6 one (`::ffff:10.0.0.7`) is the IPv4 address. */
export const parseAddress = (text: string): Address | undefined => {
  // Only the four plain numbers: `10`, `0x0a.1` and `010.0.0.1` mean different addresses to different programs.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
};

/** Undefined for what is neither an address nor a range in CIDR form. */
export const parseRange = (text: string): IpRange | undefined => {
  const [address = '', length, ...more] = text.split('/');
  const base = parseAddress(address);
  if (!base || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const width = base.kind() === 'ipv4' ? 32 : 128;
  const isMapped = width === 32 && address.includes(':');
  const bits = length === undefined ? width : Number(length) - (isMapped ? MAPPED_BITS : 0);
  return bits >= 0 && bits <= width ? { base, bits } : undefined;
};

export const isInRange = (address: Address, { base, bits }: IpRange): boolean => address.kind() === base.kind() && address.match(base, bits);

/** By what callers are counted: an IPv4 address, or the /64 around an IPv6 one. */
export const networkOf = (ip: string): string => {
  if (!ip.includes(':')) return ip;
  const address = parseAddress(ip);
  if (!address) return ip;
  if (!('parts' in address)) return address.toString();
  const groups = address.parts.slice(0, IPV6_NETWORK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
};
