import { type Admission, defineExtension } from '@svc/api';
import { ApiKey, ApiKeyHash, Users } from './config.js';
import { authErrors } from './errors.js';
import { type Keyring, OWNER, createKeyring } from './keyring.js';
import { mayDo } from './roles.js';

const WWW_AUTHENTICATE = { 'www-authenticate': 'Bearer' };

export default defineExtension({
  config: { '/api_key': ApiKey, '/api_key_hash': ApiKeyHash, '/users': Users },
  activate(ctx) {
    const build = (): Keyring => createKeyring({ apiKey: ctx.env('SVC_API_KEY') ?? ctx.config.get('api_key'), apiKeyHash: ctx.config.get('api_key_hash'), users: ctx.config.get('users') });
    let keyring = build();
    const rebuild = () => {
      keyring = build();
      ctx.events.publish('auth.changed', {});
    };
    ctx.config.onChange('api_key', rebuild);
    ctx.config.onChange('api_key_hash', rebuild);
    ctx.config.onChange('users', rebuild);

    ctx.hooks.tap('http.authenticate', (request) => {
      if (keyring.isOpen) return OWNER;
      const key = presentedKey(request);
      if (key === undefined) throw authErrors.key_missing().with({ headers: WWW_AUTHENTICATE });
      const actor = keyring.find(key);
      if (!actor) throw authErrors.key_invalid().with({ headers: WWW_AUTHENTICATE });
      return actor;
    });
    ctx.hooks.tap('http.authorize', ({ actor, permission }) => {
      if (mayDo(actor.role, permission)) return undefined;
      return { deny: `The role ${actor.role} may not do this (${permission}). Ask an owner or admin of this daemon.`, code: 'auth_role_refused' };
    });
    ctx.hooks.tap('doctor.check', () => [
      keyring.isOpen
        ? { check: 'ApiKeyCheck', result: 'warn', message: 'No API key is set: whoever reaches the port is the owner.', fix: 'Set api_key in config.toml, or SVC_API_KEY.' }
        : { check: 'ApiKeyCheck', result: 'pass', message: 'An API key is required.' },
    ]);
  },
  /** This generation may know other keys than the one before it. */
  start: (ctx) => ctx.events.publish('auth.changed', {}),
});

/** `Authorization: Bearer`, `x-api-key`, or the WebSocket subprotocol `bearer.<key>`. */
export function presentedKey(request: Pick<Admission, 'headers'>): string | undefined {
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '');
  if (bearer) return bearer[1];
  if (request.headers['x-api-key']) return request.headers['x-api-key'];
  const protocol = /(?:^|,\s*)bearer\.([^,\s]+)/.exec(request.headers['sec-websocket-protocol'] ?? '');
  return protocol?.[1];
}
