/** `tcp`: which hosts and ports, and whose connections they are. */
import { isHostGranted, type Tcp } from '@svc/api';
import { runAs } from '@svc/core';
import { readHost } from '@svc/platform/adapters/address-policy';
import type { ServerOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { contextErrors } from '../../errors.js';
import type { Member } from '../../parts.js';

export const tcpMember = ({ parts, owner, grants, alive, reportUnhandled }: Member, servers: ServerOrigins): Tcp => {
  const { lifetime } = owner;
  const caller = { id: owner.id, hosts: grants.of('net:dial'), isServer: servers.coversTcp };
  return {
    dial: async (options) => {
      alive();
      // The grant is compared with what will be looked up, in its one spelling; what is no host is refused by the adapter.
      const named = readHost(options.host) ?? options.host;
      const host = named.includes(':') ? `[${named}]` : named;
      if (!isHostGranted(caller.hosts, named, String(options.port)) && !servers.coversTcp(named, options.port)) throw contextErrors.not_granted(owner.id, `net:dial:${host}:${options.port}`);
      const signal = options.signal ? AbortSignal.any([options.signal, lifetime.signal]) : lifetime.signal;
      const connection = await parts.tcpAdapter.dial(caller, { ...options, signal });
      const owned = lifetime.add(`connection to ${host}:${options.port}`, () => connection.close());
      void connection.closed.then(() => owned.dispose());
      return connection;
    },
    listen: async (options, serve) => {
      alive();
      grants.need('net:listen', String(options.port));
      const label = `port ${options.port}`;
      const listener = await parts.tcpAdapter.listen(
        caller,
        options,
        (connection) => runAs(owner, () => serve(connection)),
        (error) => reportUnhandled(label, error),
      );
      const owned = lifetime.add(label, () => listener.close());
      return { ...listener, close: async () => void (await owned.dispose()) };
    },
  };
};
