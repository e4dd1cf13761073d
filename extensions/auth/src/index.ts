import { Auth, AuthBearer, AuthDeviceNames, AuthLogout } from './contract.js';
import * as contract from './contract.js';
import { type Admission, AuthChanged, DoctorCheck, HttpAuthenticate, HttpAuthorize, KernelGreet, KernelReady, defineExtension, openResource, textThatIsSet } from '@svc/api';
import { ApiKeyHashSetting, ApiKeySetting, OwnerKeyHashSetting, UsersSetting } from './config.js';
import { CredentialRows } from './credential-rows.js';
import { bearerCaller } from './bearer.js';
import { createCallers } from './callers.js';
import { ExternalAuthSection } from './external-auth.js';
import { createPeople } from './people/arrivals.js';
import { createDesk, type Desk } from './people/desk.js';
import { PeopleRows } from './people/people-rows.js';
import { People } from './people/resource.js';
import { createSeen } from './people/seen.js';
import { findingsOf, greetingOf, HASH_COMMAND, PLAIN_KEY } from './doctor.js';
import { createCredentials } from './credentials.js';
import { type Keyring, createKeyring } from './keyring.js';
import { createAttempts } from './logins/attempts.js';
import { createLoginLinks } from './logins/login-links.js';
import { loginRoutes } from './logins/login-routes.js';
import { createLoginStore, Logins } from './logins/login-store.js';
import { createLogins } from './logins/logins.js';
import { authTables } from '../migrations/0001_tables.js';
import { createRevocations, RevokedKeys } from './revocations.js';
import { serviceOf } from './service.js';
import { mayDo } from './roles.js';

const SWEEP_MS = 5 * 60_000;
const LOOK_MS = 5_000;
const SEEN_MS = 60_000;

export default defineExtension({
  contract,
  tables: [Logins, RevokedKeys, CredentialRows, PeopleRows],
  migrations: [authTables],
  config: [ApiKeySetting, ApiKeyHashSetting, OwnerKeyHashSetting, UsersSetting, ExternalAuthSection],
  resources: [People],
  commandWords: [
    {
      word: 'people',
      summary: 'who may come in, and what each holds',
      usage: 'people list|show|disable|enable|role|sign-out',
      order: 44,
      module: 'people',
      synonyms: [{ word: 'users', means: 'people list', runs: true }],
    },
  ],
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
    const seen = createSeen({ db: ctx.db, clock: ctx.clock, log: ctx.log, rows: () => credentials.all().people });
    const bearer = bearerCaller({ ask: ctx.hooks.define(AuthBearer), keyring: () => keyring, reading: () => credentials.reading() });
    ctx.hooks.tap(HttpAuthenticate, createCallers({ keyring: () => keyring, credentials, revocations, logins, attempts, bearer, presentedKey, saw: seen.saw }));
    const desk = createDesk({
      ...{ db: ctx.db, clock: ctx.clock, events: ctx.events, credentials, logOut, keyring: () => keyring },
      ...{ users: () => ctx.config.get(UsersSetting), deviceNames: ctx.hooks.define(AuthDeviceNames) },
    });
    ctx.events.on(AuthChanged, async () => {
      logins.forget();
      credentials.forget();
      await look();
    });
    // The event may be lost on its way from another daemon.
    ctx.timers.every('look-at-revoked-keys', LOOK_MS, look);
    ctx.timers.every('sweep-logins', SWEEP_MS, () => logins.sweep());
    ctx.timers.every('note-who-was-seen', SEEN_MS, () => seen.write());
    ctx.routes.add(
      ...peopleRoutes(desk),
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
    ctx.hooks.tap(DoctorCheck, () => findingsOf(keyring, sawPlainLogin));
  },
  /** This generation may know other keys than the one before it. */
  start: (ctx) => ctx.events.publish(AuthChanged, {}),
});

const peopleRoutes = (desk: Desk) =>
  openResource(People, {
    list: () => desk.list(),
    get: ({ key }) => desk.get(key),
    update: ({ actor, body, item }) => desk.change(actor, item.id, body),
    actions: { signOut: async ({ actor, item }) => ({ ended: await desk.signOut(actor, item.id) }) },
  }).routes;

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
