import { Auth, AuthBearer, AuthLogout } from './contract.js';
import * as contract from './contract.js';
import { type Admission, AuthChanged, DoctorCheck, type DoctorFinding, type GreetingLine, HttpAuthenticate, HttpAuthorize, KernelGreet, KernelReady, defineExtension, textThatIsSet } from '@svc/api';
import { ApiKeyHashSetting, ApiKeySetting, OwnerKeyHashSetting, UsersSetting } from './config.js';
import { CredentialRows } from './credential-rows.js';
import { bearerCaller } from './bearer.js';
import { createCallers } from './callers.js';
import { ExternalAuthSection } from './external-auth.js';
import { createPeople } from './people.js';
import { PeopleRows } from './people-rows.js';
import { createCredentials } from './credentials.js';
import { type Keyring, createKeyring } from './keyring.js';
import { createAttempts } from './logins/attempts.js';
import { createLoginLinks } from './logins/login-links.js';
import { loginRoutes } from './logins/login-routes.js';
import { createLoginStore, Logins } from './logins/login-store.js';
import { createLogins } from './logins/logins.js';
import { loginTables } from '../migrations/0001_logins.js';
import { revokedKeysTable } from '../migrations/0002_revoked.js';
import { credentialsTable } from '../migrations/0003_credentials.js';
import { peopleTable } from '../migrations/0004_people.js';
import { createRevocations, RevokedKeys } from './revocations.js';
import { serviceOf } from './service.js';
import { mayDo } from './roles.js';

const PLAIN_KEY = 'config.toml contains the API key in plain text; its hash is enough.';
const HASH_COMMAND = 'svc key hash --write';
const SWEEP_MS = 5 * 60_000;
const LOOK_MS = 5_000;

export default defineExtension({
  contract,
  tables: [Logins, RevokedKeys, CredentialRows, PeopleRows],
  migrations: [loginTables, revokedKeysTable, credentialsTable, peopleTable],
  config: [ApiKeySetting, ApiKeyHashSetting, OwnerKeyHashSetting, UsersSetting, ExternalAuthSection],
  activate(ctx) {
    const build = (): Keyring =>
      createKeyring(
        {
          environment: ctx.env('SVC_API_KEY'),
          apiKey: ctx.config.get(ApiKeySetting),
          apiKeyHash: ctx.config.get(ApiKeyHashSetting),
          ownerKeyHash: ctx.config.get(OwnerKeyHashSetting),
          users: ctx.config.get(UsersSetting),
          externalAuth: ctx.config.get(ExternalAuthSection),
        },
        revocations.all(),
        credentials.all(),
        () => ctx.clock.now(),
      );
    const credentials = createCredentials({ db: ctx.db, clock: ctx.clock, ids: ctx.ids, events: ctx.events, log: ctx.log, changed: () => rebuild() });
    const revocations = createRevocations({ db: ctx.db, clock: ctx.clock, events: ctx.events, log: ctx.log, changed: () => rebuild() });
    let keyring = build();
    revocations.name(keyring.named);
    let sawPlainLogin = false;
    const logins = createLogins({ store: createLoginStore(ctx.db), keyring: () => keyring, clock: ctx.clock, ids: ctx.ids, events: ctx.events, log: ctx.log });
    const attempts = createAttempts(ctx.clock, (network) => ctx.log.warn('many wrong API keys come from one address', { network }));
    const rebuild = () => {
      keyring = build();
      logins.forget();
      ctx.events.publish(AuthChanged, {});
    };
    const settingChanged = (): void => {
      rebuild();
      revocations.name(keyring.named);
    };
    for (const setting of [ApiKeySetting, ApiKeyHashSetting, OwnerKeyHashSetting, UsersSetting, ExternalAuthSection]) ctx.config.onChange(setting, settingChanged);
    const look = async (): Promise<void> => {
      try {
        await Promise.all([revocations.look(), credentials.look()]);
      } catch (cause) {
        ctx.log.warn('Keys that other daemons revoked or issued could not be read; svc tries again.', { cause });
      }
    };

    const logOut = ctx.hooks.define(AuthLogout);
    const people = createPeople({
      db: ctx.db,
      clock: ctx.clock,
      events: ctx.events,
      users: () => ctx.config.get(UsersSetting),
      linksByEmail: () => ctx.config.get(ExternalAuthSection).link_by_verified_email,
    });
    ctx.services.provide(Auth, serviceOf({ keyring: () => keyring, credentials, logins, people, externalAuth: () => ctx.config.get(ExternalAuthSection) }));
    const bearer = bearerCaller({ ask: ctx.hooks.define(AuthBearer), keyring: () => keyring, reading: () => credentials.reading() });
    ctx.hooks.tap(HttpAuthenticate, createCallers({ keyring: () => keyring, credentials, revocations, logins, attempts, bearer, presentedKey }));
    ctx.events.on(AuthChanged, async () => {
      logins.forget();
      credentials.forget();
      await look();
    });
    // The event may be lost on its way from another daemon.
    ctx.timers.every('look-at-revoked-keys', LOOK_MS, look);
    ctx.timers.every('sweep-logins', SWEEP_MS, () => logins.sweep());
    ctx.routes.add(
      ...loginRoutes({
        keyring: () => keyring,
        known: async (key) => {
          await revocations.reading();
          await credentials.reading();
          if (key !== undefined && !keyring.find(key)) await credentials.learn(key);
        },
        logins,
        links: createLoginLinks(ctx),
        attempts,
        clock: ctx.clock,
        log: ctx.log,
        presentedKey,
        logOut,
        endCredential: async (id) => void (await ctx.db.commit(credentials.revoke([id]))),
        personName: (ownerId) => credentials.all().people.find(({ id }) => id === ownerId)?.name,
        sawPlainLogin: () => {
          sawPlainLogin = true;
        },
      }),
    );
    ctx.hooks.tap(HttpAuthorize, ({ actor, permission }) => {
      if (mayDo(actor.role, permission)) return undefined;
      return { deny: `The role ${actor.role} may not do this (${permission}). Ask ${permission.endsWith('.own') ? 'the owner' : 'an owner or admin'} of this daemon.`, code: 'auth_role_refused' };
    });
    ctx.hooks.tap(KernelReady, () => {
      if (keyring.isPlainInFile) ctx.log.warn(PLAIN_KEY, { fix: HASH_COMMAND });
    });
    ctx.hooks.tap(KernelGreet, () => greetingOf(keyring));
    ctx.hooks.tap(DoctorCheck, () => [...findingsOf(keyring), ...revokedFindings(keyring), plainLoginFinding(sawPlainLogin)]);
  },
  /** This generation may know other keys than the one before it. */
  start: (ctx) => ctx.events.publish(AuthChanged, {}),
});

const MADE_KEY = 'The daemon made the key itself (owner.key in the home), because programs run here that could reach its port.';

const greetingOf = (keyring: Keyring): readonly GreetingLine[] => {
  if (keyring.isOwnerKeyUsed) return [{ label: 'key', value: 'needed; svc sends it automatically', note: 'svc open opens the page; svc key show prints the key' }];
  return keyring.isPlainInFile ? [{ label: 'key', value: PLAIN_KEY, note: HASH_COMMAND }] : [];
};

const findingsOf = (keyring: Keyring): readonly DoctorFinding[] => {
  if (keyring.isWithoutKey && !keyring.isOpen)
    return [
      {
        check: 'ApiKeyCheck',
        result: 'warn',
        message: 'No API key is set, and devices are paired: nobody but them can call.',
        fix: 'Create a key: svc key new --write. Or remove the devices: svc devices remove.',
      },
    ];
  if (keyring.isOpen)
    return [
      {
        check: 'ApiKeyCheck',
        result: 'warn',
        message: 'No API key is set: anyone who can reach the port is the owner. The daemon creates a key before it starts a program that no sandbox blocks from the port.',
        fix: 'Set api_key in config.toml, or SVC_API_KEY; svc key new makes one.',
      },
    ];
  const isAsked: DoctorFinding = { check: 'ApiKeyCheck', result: 'pass', message: keyring.isOwnerKeyUsed ? `An API key is required. ${MADE_KEY}` : 'An API key is required.' };
  return keyring.isPlainInFile ? [isAsked, { check: 'ApiKeyStorageCheck', result: 'warn', message: PLAIN_KEY, fix: HASH_COMMAND }] : [isAsked];
};

const revokedFindings = ({ revokedHolders }: Keyring): readonly DoctorFinding[] =>
  revokedHolders.length === 0
    ? []
    : [
        {
          check: 'RevokedKeyCheck',
          result: 'warn',
          message: `The settings of this daemon name a key that was revoked at another daemon (${revokedHolders.join(', ')}); it is refused.`,
          fix: 'Take it out of config.toml or SVC_API_KEY, or create another one: svc key new.',
        },
      ];

const plainLoginFinding = (sawOne: boolean): DoctorFinding =>
  sawOne
    ? {
        check: 'LoginTransportCheck',
        result: 'warn',
        message: 'Since this start, someone logged in from another machine without https: the key and the cookie were sent unencrypted.',
        fix: 'Put a proxy with https in front of the daemon, and name its address in trusted_proxies.',
      }
    : { check: 'LoginTransportCheck', result: 'pass', message: 'No login from another machine without https since this start.' };

/** `Authorization: Bearer`, `x-api-key`, or the WebSocket subprotocol `bearer.<key>`. */
export function presentedKey(request: Pick<Admission, 'headers'>): string | undefined {
  const authorization = request.headers.authorization ?? '';
  // A key may have blanks inside; around it they are none of its.
  const bearer = /^bearer\s/i.test(authorization) ? textThatIsSet(authorization.slice('bearer'.length)) : undefined;
  if (bearer !== undefined) return bearer;
  if (request.headers['x-api-key']) return request.headers['x-api-key'];
  const protocol = /(?:^|,\s*)bearer\.([^,\s]+)/.exec(request.headers['sec-websocket-protocol'] ?? '');
  return protocol?.[1];
}
