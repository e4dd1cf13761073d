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

const Name = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\w.:/-]+$', description: 'Letters, digits, dots, dashes, underscores, slashes and colons', examples: ['search.brave'] }),
});
const Rotated = Type.Object(
  {
    status: OneOf(['rotated']),
    secrets: Type.Integer({ description: 'How many are encrypted with the new key' }),
    earlier_key: Type.Union([Type.String(), Type.Null()], { description: 'The file with the key of before, which older backups need; null if the keys come from the environment' }),
  },
  { 'x-name': 'VaultKeyRotated' },
);

/** Keys that the daemon makes, second factors, and keys of providers, which have rules and commands of their own. */
const MANAGED = /^(?:audit|totp|provider)\./;
const refuseManaged = (name: string): void => {
  if (MANAGED.test(name)) throw vaultErrors.not_yours(name);
};

export const vaultRoutes = (vault: Vault): RouteDecl[] => [...contentRoutes(vault), ...secretRoutes(vault)];

const contentRoutes = (vault: Vault): RouteDecl[] => [
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

const secretRoutes = (vault: Vault): RouteDecl[] => [
  defineRoute({
    id: 'setVaultSecret',
    method: 'PUT',
    path: '/api/vault/secrets/{name}',
    summary: 'Store a secret',
    description:
      'Encrypts the value and stores it under this name, in place of an earlier value. No operation returns it. Secrets that svc manages itself are refused: keys of providers, second factors and signing keys.',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 5,
    audit: 'vault_secret_set',
    auditCategory: 'secrets',
    params: Name,
    examples: { 'a key of a search service': { value: 'BSA-example' }, 'a token': { value: 'ghp_example' }, 'several lines': { value: '-----BEGIN EXAMPLE-----\nAAAA\n-----END EXAMPLE-----\n' } },
    body: Type.Object({ value: Type.String({ minLength: 1, maxLength: 65_536, description: 'At most 64 KiB' }) }, { additionalProperties: false }),
    responses: { 200: Type.Object({ status: OneOf(['stored']), name: Type.String() }), 400: ErrorBody, 409: ErrorBody, 413: ErrorBody, 503: ErrorBody, 507: ErrorBody },
    handler: async ({ params: { name }, body }) => {
      refuseManaged(name);
      await vault.put(name, body.value);
      return reply(200, { status: 'stored', name });
    },
  }),
  defineRoute({
    id: 'removeVaultSecret',
    method: 'DELETE',
    path: '/api/vault/secrets/{name}',
    summary: 'Delete a secret',
    description: 'Deletes the secret from the vault. Whoever uses it fails from then on. Secrets that svc manages itself are refused.',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 5,
    audit: 'vault_secret_removed',
    auditCategory: 'secrets',
    params: Name,
    responses: { 200: Type.Object({ status: OneOf(['removed']), name: Type.String() }), 404: ErrorBody, 409: ErrorBody },
    handler: async ({ params: { name } }) => {
      refuseManaged(name);
      if (!(await vault.delete(name))) throw vaultErrors.not_found(name);
      return reply(200, { status: 'removed', name });
    },
  }),
  defineRoute({
    id: 'rotateVaultKey',
    method: 'POST',
    path: '/api/vault/rotate-key',
    summary: "Replace the vault's key",
    description:
      'Creates a new master key and encrypts all secrets with it. The earlier key stays in a file beside it: backups made before need it. If the key comes from `SVC_VAULT_KEY`, start the daemon with the new key there and the present one in `SVC_VAULT_KEY_PREVIOUS` first.',
    auth: 'bearer',
    permission: 'vault.admin',
    cost: 50,
    audit: 'vault_key_rotated',
    auditCategory: 'secrets',
    responses: { 200: Rotated, 409: ErrorBody },
    handler: async ({ log, actor }) => {
      const { earlierKey, secrets } = await vault.rotateKey();
      log.warn("the vault's key was rotated", { actor: actor.id, secrets, earlier_key: earlierKey });
      return reply(200, { status: 'rotated', secrets, earlier_key: earlierKey });
    },
  }),
];
