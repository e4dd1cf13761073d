/** What the vault holds, by name, and how to begin anew where its key is lost. */
import { defineRoute, ErrorBody, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import { vaultErrors } from './errors.js';
import type { Vault } from './service.js';

const Names = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Names of secrets, never values; null where nobody can tell' });

export const vaultRoutes = (vault: Vault): RouteDecl[] => [
  defineRoute({
    id: 'getVault',
    method: 'GET',
    path: '/api/vault',
    summary: 'State of the vault and the names of its secrets',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 5,
    responses: { 200: Type.Object({ state: OneOf(['open', 'locked', 'missing', 'corrupt']), why: Type.Union([Type.String(), Type.Null()]), names: Names }) },
    handler: async () => {
      const { state, why, names } = await vault.contents();
      return reply(200, { state, why, names });
    },
  }),
  defineRoute({
    id: 'resetVault',
    method: 'POST',
    path: '/api/vault/reset',
    summary: 'Set the vault aside and begin an empty one; its secrets are lost unless its key comes back',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 50,
    audit: 'vault_reset',
    query: Type.Object({ confirm: Type.Optional(Type.Boolean({ description: 'Needed: without it the answer says what would be lost' })) }),
    responses: { 200: Type.Object({ status: OneOf(['reset']), set_aside: Type.Array(Type.String()), lost: Names }), 409: ErrorBody },
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
