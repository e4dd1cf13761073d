/** Whether the proxies that are set answer: each is connected to, and nothing is sent. */
import { connect } from 'node:net';
import { isSvcError } from '@svc/api';
import type { Proxies, ProxyAddress } from './proxies.js';

const CONNECT_TIMEOUT_MS = 2_000;
/** Providers with a proxy of their own that are looked at. */
const MAX_LOOKED_AT = 20;

export interface ProxyLook {
  /** As people know them, with where each was set; without logins. */
  readonly shown: readonly string[];
  /** A sentence for each that does not answer or is no address of a proxy. */
  readonly problems: readonly string[];
  /** What is reached without them, as written. */
  readonly direct: string;
}

export const lookAtProxies = async (proxies: Proxies, own: readonly string[]): Promise<ProxyLook> => {
  const wanted = [
    ...proxies.set().map(
      ({ text, from }) =>
        () =>
          proxies.parse(text, from),
    ),
    ...own.slice(0, MAX_LOOKED_AT).map((text) => () => proxies.own(text)),
  ];
  const looked = await Promise.all(wanted.map(look));
  return { shown: looked.flatMap(({ shown }) => shown ?? []), problems: looked.flatMap(({ problem }) => problem ?? []), direct: proxies.direct() };
};

const look = async (read: () => ProxyAddress): Promise<{ readonly shown?: string; readonly problem?: string }> => {
  try {
    const proxy = read();
    const why = await refusalOf(new URL(proxy.origin.replace(/^socks5/, 'http')));
    return why === undefined ? { shown: proxy.shown } : { shown: proxy.shown, problem: `The proxy ${proxy.shown} does not answer: ${why}.` };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { problem: error.message };
  }
};

const refusalOf = ({ hostname, port, protocol }: URL): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) });
    const over = (why: string | undefined): void => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => over(`no connection within ${CONNECT_TIMEOUT_MS / 1_000} s`));
    socket.once('connect', () => over(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => over(error.code ?? 'no connection'));
  });
