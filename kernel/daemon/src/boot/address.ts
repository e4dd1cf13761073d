/** Where the daemon listens. */
import { errnoOf } from '@svc/platform/config/errno';
import { daemonErrors } from '../errors.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Rejects with `daemon_port_in_use` and `daemon_port_refused`. */
export async function openPort(
  http: { listen(where: { host: string; port: number }): Promise<{ address: string; port: number }> },
  where: { host: string; port: number },
): Promise<{ host: string; port: number }> {
  try {
    const bound = await http.listen(where);
    return { host: bound.address, port: bound.port };
  } catch (cause) {
    const code = errnoOf(cause) ?? 'unknown';
    throw (code === 'EADDRINUSE' ? daemonErrors.port_in_use(where.host, where.port) : daemonErrors.port_refused(where.host, where.port, code)).with({ cause });
  }
}

export const urlOf = ({ host, port }: { host: string; port: number }): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
