/** `fetch` and `egress`: the purpose is the grant, secrets in headers are those granted, and only a grant says where models are. */
import type { ExtensionContext } from '@svc/api';
import type { SecretsDoor } from '@svc/platform/doors/secrets-door';
import type { Member } from '../member.js';

type Secrets = ReturnType<SecretsDoor['limited']>;

export const fetchMembers = ({ parts, owner, grants, alive }: Member, secrets: Secrets): Pick<ExtensionContext, 'fetch' | 'egress'> => ({
  fetch: async (url, init) => {
    alive();
    grants.need(`egress:${init.purpose}`);
    return parts.fetchDoor.fetch(url, init, secrets.resolve);
  },
  egress: {
    allow: (baseUrl) => {
      alive();
      grants.need('egress:origins');
      const entry = parts.modelOrigins.allow(baseUrl);
      return owner.lifetime.add(`base URL ${baseUrl}`, () => entry.dispose());
    },
  },
});
