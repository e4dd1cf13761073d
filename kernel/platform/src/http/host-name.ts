/** `host[:port]` and `[v6][:port]`, as a Host header and an origin have them: all of it, or nothing (RFC 9110 7.2, RFC 3986 3.2). */
import { isIPv6 } from 'node:net';

const MAX_PORT = 65_535;
/** Names and IPv4 addresses. Percent-escapes and sub-delimiters are legal in a URI and in no name of a machine. */
const NAME = /^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,253}))(?::(\d{1,5}))?$/;
const V6 = /^\[([0-9A-Fa-f:.]{2,45})\](?::(\d{1,5}))?$/;

/** The name in small letters, without brackets, port and the dot of the root; undefined for anything else. */
export const hostNameOf = (text: string): string | undefined => {
  const match = NAME.exec(text) ?? V6.exec(text);
  const [, name = '', port] = match ?? [];
  if (!match || Number(port ?? 0) > MAX_PORT) return undefined;
  if (text.startsWith('[')) return isIPv6(name) ? name.toLowerCase() : undefined;
  return name.toLowerCase().replace(/\.$/, '');
};
