/** What the vault holds, by name, and how to begin anew where its key is lost. */
import { defineRoute, ErrorBody, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import { vaultErrors } from './errors.js';
import type { Vault } from './service.js';

const Names = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Names of secrets, never values; null where nobody can tell' });

const Contents = Type.Object(
  {
    state: OneOf(['open', 'locked', 'missing', 'corrupt'], { description: '`missing`: nothing was kept yet. `locked`: its key is not there or another' }),
    why: Type.Union([Type.String(), Type.Null()], { description: 'Why it does not open' }),
    names: Names,
  },
  { 'x-name': 'VaultContents' },
);
const Reset = Type.Object(
  { status: OneOf(['reset']), set_aside: Type.Array(Type.String({ description: 'A file that was kept, for the day its key comes back' })), lost: Names },
  { 'x-name': 'VaultReset' },
);

export const vaultRoutes = (vault: Vault): RouteDecl[] => [
  defineRoute({
    id: 'getVault',
    method: 'GET',
    path: '/api/vault',
    summary: 'Get vault status and secret names',
    description:
      'Tells whether the secrets that are kept here (keys of providers, tokens) can be read, and what they are called. Their values are never answered by any operation. Opens the vault if nobody has yet.',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 5,
    responses: { 200: Contents },
    handler: async () => {
      const { state, why, names } = await vault.contents();
      return reply(200, { state, why, names });
    },
  }),
  defineRoute({
    id: 'resetVault',
    method: 'POST',
    path: '/api/vault/reset',
    summary: 'Replace the vault with an empty one',
    description:
      'For a vault whose key is lost, so that it will not open again. Without `confirm=true` nothing happens, and the refusal (409) says under `details` what would be lost. With it, the files of the vault are renamed, never deleted, and an empty vault with a new key takes their place: every secret has to be set anew.',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 50,
    audit: 'vault_reset',
    query: Type.Object({ confirm: Type.Optional(Type.Boolean({ description: 'Needed: without it the answer says what would be lost' })) }),
    responses: { 200: Reset, 409: ErrorBody },
    handler: async ({ query, log, actor }) => {
      if (query.confirm !== true) {
        const { state, names } = await vault.contents();
        if (state === 'missing') throw vaultErrors.nothing_to_reset();
        throw vaultErrors.needs_confirmation(names).with({ details: { state, names } });
      }
      const { names, setAside } = await vault.reset();
      log.warn('the vault was set aside', { actor: actor.id, set_aside: setAside, lost: names });
      return reply(200, { status: 'reset', set_aside: setAside, lost: names });
    },
  }),
];
