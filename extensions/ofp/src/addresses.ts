/** Addresses as settings have them: `host:port`, or a multiaddr such as /ip4/10.0.0.5/tcp/9090. */

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const USUAL_PORT = 9090;
const MAX_PORT = 65_535;
const MULTIADDR = /^\/(?:ip4|ip6|dns|dns4|dns6)\/([^/\s]{1,253})\/tcp\/(\d{1,5})$/;
const HOST_PORT = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([^/:\s[\]]{1,253}))(?::(\d{1,5}))?$/;
/** What the schema of the settings takes; ports beyond 65535 are found when the address is read. */
export const ADDRESS_PATTERN = `^(?:${MULTIADDR.source.slice(1, -1)}|${HOST_PORT.source.slice(1, -1)})$`;

/** Undefined for what is none. */
export const readAddress = (text: string): Address | undefined => {
  const multi = MULTIADDR.exec(text);
  const plain = multi ? undefined : HOST_PORT.exec(text);
  const host = multi?.[1] ?? plain?.[1] ?? plain?.[2];
  const port = Number(multi?.[2] ?? plain?.[3] ?? USUAL_PORT);
  return host === undefined || port > MAX_PORT ? undefined : { host, port };
};

export const showAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
