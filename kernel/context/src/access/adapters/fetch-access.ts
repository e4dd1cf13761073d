/** `fetch` and `egress`: the purpose is the grant, or the hosts that are granted one by one; secrets in headers are those granted, and only a grant says where models are. */
import { type ExtensionContext, type FetchInit, isHostGranted, parsedUrl, targetOf } from '@svc/api';
import type { ServerOrigins } from '@svc/platform/adapters/fetch/model-origins';
import type { SecretsAdapter } from '@svc/platform/adapters/secrets-adapter';
import type { Member } from '../../parts.js';

/** Undefined where the grant has no bounds of its own. Throws `daemon_not_granted`. */
const hostsOf = (grants: Member['grants'], purpose: FetchInit['purpose']): readonly string[] | undefined => {
  if (grants.has(`egress:${purpose}`)) return undefined;
  const hosts = grants.of('net:fetch');
  if (purpose === 'model' || purpose === 'server' || hosts.length === 0) grants.need(`egress:${purpose}`);
  return hosts;
};

type Secrets = ReturnType<SecretsAdapter['limited']>;

export const fetchMembers = ({ parts, owner, grants, alive }: Member, secrets: Secrets, servers: ServerOrigins): Pick<ExtensionContext, 'fetch' | 'egress'> => ({
  fetch: async (url, init) => {
    alive();
    return parts.fetchAdapter.fetch(url, init, secrets.resolve, { hosts: hostsOf(grants, init.purpose), isServer: servers.covers });
  },
  egress: {
    allow: (baseUrl, purpose = 'model', { proxy } = {}) => {
      alive();
      grants.need(purpose === 'server' ? 'egress:server' : 'egress:origins');
      const entry = (purpose === 'server' ? servers : parts.modelOrigins).allow(baseUrl, purpose === 'model' ? proxy : undefined);
      return owner.lifetime.add(`base URL ${baseUrl}`, () => entry.dispose());
    },
    refusal: async (text) => {
      alive();
      const hosts = hostsOf(grants, 'webhook');
      const url = parsedUrl(text);
      if (!url || !['http:', 'https:'].includes(url.protocol)) return `"${text.slice(0, 200)}" is no http or https address`;
      if (url.username !== '' || url.password !== '') return 'the address holds a name or a password';
      const { host, port } = targetOf(url);
      if (hosts && !isHostGranted(hosts, host, port)) return `${url.host} is not a host that this extension may reach`;
      return parts.fetchAdapter.refusal(text);
    },
  },
});
