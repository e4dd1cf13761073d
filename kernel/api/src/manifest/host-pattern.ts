/**
 * The patterns of `[capabilities] network`: `*`, `host`, `*.host` (the hosts below it, not itself), an IPv4 or
 * IPv6 address, a block such as 10.0.0.0/8, and any of them with `:port` or `:*`. IPv6 with a port stands in brackets.
 *
 * H1  A private address is reachable only where an address, a block or a name of this machine says so literally; `*` means the public web.
 * H2  What cannot be read matches nothing.
 */
import { matchesPattern } from '../text/pattern.js';

interface Block {
  /** 4 bytes, or 16. An IPv4 address inside an IPv6 one is the IPv4 address. */
  readonly bytes: readonly number[];
  readonly bits: number;
}

interface HostPattern {
  readonly name: string;
  readonly block: Block | undefined;
  /** Undefined for every port. */
  readonly port: string | undefined;
}

/** Blocks of IPv4 that are not public on the internet (IANA's special-purpose registry). */
const NOT_PUBLIC =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3'.split(
    ' ',
  );
/** Of IPv6 only this block is public, less what is documentation or wraps IPv4. */
const PUBLIC_V6 = '2000::/3';
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Whether one of the patterns lets this host and port be asked for. */
export const isHostGranted = (patterns: readonly string[], host: string, port: string): boolean => {
  const wanted = plainHost(host);
  const address = readAddress(wanted);
  return patterns.some((pattern) => {
    const read = readHostPattern(pattern);
    return read !== undefined && (read.port === undefined || read.port === port) && matchesWanted(read, wanted, address);
  });
};

const matchesWanted = (pattern: HostPattern, host: string, address: readonly number[] | undefined): boolean =>
  pattern.block ? address !== undefined && contains(pattern.block, { bytes: address, bits: address.length * 8 }) : matchesPattern(pattern.name, host);

/** The host and port that a URL asks for. */
export const targetOf = (url: URL): { readonly host: string; readonly port: string } => ({ host: plainHost(url.hostname), port: url.port || (url.protocol === 'https:' ? '443' : '80') });

/** Whether a pattern names this address or its block, or (for an address of this machine) a name that always means it. */
export const isAddressGranted = (patterns: readonly string[], host: string, port: string, address: string): boolean => {
  const bytes = readAddress(plainHost(address));
  if (bytes === undefined) return false;
  return patterns.some((pattern) => {
    const read = readHostPattern(pattern);
    if (read === undefined || (read.port !== undefined && read.port !== port)) return false;
    if (read.block) return contains(read.block, { bytes, bits: bytes.length * 8 });
    return isLocalName(read.name) && read.name === plainHost(host) && isLoopback(bytes);
  });
};

/** Whether the pattern reaches anything that is not public: an address or block, or a name of this machine. What cannot be read counts as such. */
export const isPrivatePattern = (pattern: string): boolean => {
  const read = readHostPattern(pattern);
  if (read === undefined) return true;
  return read.block ? !isPublic(read.block) : isLocalName(read.name);
};

/** Whether the text is a pattern at all. */
export const isHostPattern = (text: string): boolean => {
  const read = readHostPattern(text);
  return read !== undefined && (read.port === undefined || Number(read.port) <= MAX_PORT);
};

/** Whether everything that `pattern` reaches is reached by one of `grants` too. */
export const coversHost = (grants: readonly string[], pattern: string): boolean => {
  const wanted = readHostPattern(pattern);
  return wanted !== undefined && grants.some((grant) => isCovered(readHostPattern(grant), wanted));
};

const isCovered = (grant: HostPattern | undefined, wanted: HostPattern): boolean => {
  if (grant === undefined || (grant.port !== undefined && grant.port !== wanted.port)) return false;
  if (grant.block) return wanted.block !== undefined && contains(grant.block, wanted.block);
  if (wanted.block ? !isPublic(wanted.block) : isLocalName(wanted.name)) return grant.name === wanted.name;
  // A pattern is text too: where the grant matches it as text, whatever it could match is matched as well.
  return grant.name === '*' || grant.name === wanted.name || (wanted.name !== '*' && matchesPattern(grant.name, wanted.name));
};

const readHostPattern = (text: string): HostPattern | undefined => {
  const pattern = text.trim().toLowerCase();
  const parts = /^\[([^\]]+)\](\/\d{1,3})?(?::(\*|\d{1,5}))?$/.exec(pattern) ?? (pattern.split(':').length > 2 ? [pattern, pattern] : /^([^:]+)(?::(\*|\d{1,5}))?$/.exec(pattern));
  if (!parts || pattern.length > MAX_LENGTH) return undefined;
  const isBracketed = pattern.startsWith('[');
  const name = plainHost(`${parts[1] ?? ''}${isBracketed ? (parts[2] ?? '') : ''}`);
  const port = isBracketed ? parts[3] : parts[2];
  const block = readBlock(name);
  // What looks like an address and is none would be compared as a name, and mean nothing.
  if (!block && (/[/\s@]/.test(name) || name.includes(':') || name === '')) return undefined;
  return { name, block, port: port === '*' ? undefined : port };
};

const MAX_LENGTH = 1_000;
const MAX_PORT = 65_535;

const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

const isLocalName = (name: string): boolean => name === 'localhost' || name === 'ip6-localhost' || name.endsWith('.localhost');

const isLoopback = (bytes: readonly number[]): boolean => (bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, index) => byte === (index === 15 ? 1 : 0)));

const isPublic = (block: Block): boolean => {
  const within = (range: string): boolean => contains(known(range), block);
  const touches = (range: string): boolean => within(range) || contains(block, known(range));
  return block.bytes.length === 4 ? !NOT_PUBLIC.some(touches) : within(PUBLIC_V6) && !NOT_PUBLIC_V6.some(touches);
};

const known = (range: string): Block => readBlock(range) ?? { bytes: [], bits: 0 };

const contains = (outer: Block, inner: Block): boolean => {
  if (outer.bytes.length !== inner.bytes.length || outer.bits > inner.bits) return false;
  const whole = outer.bits >> 3;
  if (outer.bytes.slice(0, whole).some((byte, index) => byte !== inner.bytes[index])) return false;
  const shift = 8 - (outer.bits & 7);
  return shift === 8 || (outer.bytes[whole] ?? 0) >> shift === (inner.bytes[whole] ?? 0) >> shift;
};

const readBlock = (text: string): Block | undefined => {
  const [base = '', length, ...rest] = text.split('/');
  const bytes = readAddress(base);
  if (bytes === undefined || rest.length > 0) return undefined;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  // A block of IPv6 that wraps IPv4 addresses counts from its beginning.
  const bits = Number(length) - (bytes.length === 4 && base.includes(':') ? 96 : 0);
  return /^\d{1,3}$/.test(length) && bits >= 0 && bits <= bytes.length * 8 ? { bytes, bits } : undefined;
};

const readAddress = (text: string): readonly number[] | undefined => {
  if (!text.includes(':')) return readIpv4(text);
  const bytes = readIpv6(text);
  const wrapsIpv4 = bytes?.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return wrapsIpv4 ? bytes?.slice(12) : bytes;
};

const readIpv4 = (text: string): readonly number[] | undefined => {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256) ? parts.map(Number) : undefined;
};

const readIpv6 = (text: string): readonly number[] | undefined => {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const last = tail ? readIpv4(tail[2] ?? '') : undefined;
  if (tail && !last) return undefined;
  const hex = last ? `${tail?.[1]}${pair(last, 0)}:${pair(last, 2)}` : text;
  const halves = hex.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...rest];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/.test(group))) return undefined;
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
};

const pair = (bytes: readonly number[], at: number): string => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16);
