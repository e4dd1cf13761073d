/** `webSocket`: the hosts that `tcp` may dial, and servers that were allowed as `ws:` or `wss:`. */
import { type ExtensionContext, isHostGranted } from '@svc/api';
import { readHost } from '@svc/platform/adapters/address-policy';
import type { ServerOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { webSocketTarget } from '@svc/platform/adapters/web-socket/web-socket-adapter';
import { contextErrors } from '../../errors.js';
import type { Member } from '../../parts.js';

export const webSocketMember =
  ({ parts, owner, grants, alive }: Member, servers: ServerOrigins): ExtensionContext['webSocket'] =>
  async (text, options = {}) => {
    alive();
    const target = webSocketTarget(text);
    const isServer = servers.covers(target.url);
    const hosts = grants.of('net:dial');
    const host = readHost(target.host) ?? target.host;
    if (!isServer && !isHostGranted(hosts, host, String(target.port))) throw contextErrors.not_granted(owner.id, `net:dial:${host.includes(':') ? `[${host}]` : host}:${target.port}`);
    const signal = options.signal ? AbortSignal.any([options.signal, owner.lifetime.signal]) : owner.lifetime.signal;
    const connection = await parts.webSocketAdapter.open({ id: owner.id, hosts, isServer: () => isServer }, target, { ...options, signal });
    const owned = owner.lifetime.add(`WebSocket to ${host}:${target.port}`, () => connection.close(options.closeCode ?? 1_001));
    void connection.closed.then(() => owned.dispose());
    return connection;
  };
