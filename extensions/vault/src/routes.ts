/** What the vault holds, by name, and how to begin anew where its key is lost. */
import { defineRoute, ErrorBody, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import { vaultErrors } from './errors.js';
import type { Vault } from './service.js';

const Names = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Names of secrets, never values; null if unknown' });

const Contents = Type.Object(
  {
    state: OneOf(['open', 'locked', 'missing', 'corrupt'], { description: '`missing`: nothing was stored yet. `locked`: its key is missing or wrong' }),
    why: Type.Union([Type.String(), Type.Null()], { description: 'Why it does not open' }),
    names: Names,
  },
  { 'x-name': 'VaultContents' },
);
const Reset = Type.Object({ status: OneOf(['reset']), set_aside: Type.Array(Type.String({ description: 'The old file, in case its key is restored' })), lost: Names }, { 'x-name': 'VaultReset' });

export const vaultRoutes = (vault: Vault): RouteDecl[] => [
  defineRoute({
    id: 'getVault',
    method: 'GET',
    path: '/api/vault',
    summary: 'Get vault status and secret names',
    description: 'Shows whether the stored secrets (provider keys, tokens) can be read, and their names. No operation returns their values. Opens the vault if it is not open yet.',
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
      "For a vault whose key is lost. Without `confirm=true`, nothing happens, and `details` of the 409 response lists what would be lost. With it, the vault's files are renamed, never deleted, and an empty vault with a new key replaces them. You must set every secret again.",
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 50,
    audit: 'vault_reset',
    auditCategory: 'secrets',
    query: Type.Object({ confirm: Type.Optional(Type.Boolean({ description: 'Required; without it, the response lists what would be lost' })) }),
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
