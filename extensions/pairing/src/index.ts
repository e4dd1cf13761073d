import { Auth, AuthDeviceNames } from '@svc/ext-auth/contract';
import { Pages } from '@svc/ext-webchat/contract';
import { defineExtension, openResource, type Req, type RouteDecl } from '@svc/api';
import { pairingTables } from '../migrations/0001_init.js';
import { createAttempts } from './codes.js';
import { PairingSection } from './config.js';
import * as contract from './contract.js';
import { createDevices, credentialOf } from './devices.js';
import { pairingErrors } from './errors.js';
import { createPush } from './push.js';
import { completeRoute } from './routes.js';

const HOST = /^[\w.:[\]-]{1,255}$/;
const SWEEP_MS = 600_000;

export default defineExtension({
  contract,
  tables: [contract.DeviceRows, contract.CodeRows],
  migrations: [pairingTables],
  config: [PairingSection],
  resources: [contract.Devices],
  commandWords: [
    {
      word: 'devices',
      summary: 'phones and browsers with keys of their own',
      usage: 'devices list|pair|role|notify|remove',
      order: 45,
      module: 'devices',
      synonyms: [
        { word: 'qr', means: 'devices pair', runs: true, takesArguments: true },
        { word: 'nodes', means: 'devices list' },
        { word: 'pairing', means: 'devices list' },
      ],
    },
  ],
  activate(ctx) {
    const { clock, db, events, ids } = ctx;
    const settings = () => ctx.config.get(PairingSection);
    const pages = ctx.services.optional(Pages);
    const devices = createDevices({ db, clock, ids, events, auth: ctx.services.require(Auth), settings });
    ctx.hooks.tap(AuthDeviceNames, ({ ids: credentials }) => devices.names(credentials));
    const push = createPush(ctx, settings);
    const open = openResource(contract.Devices, {
      list: ({ actor }) => devices.list(actor),
      update: ({ actor, body, item }) => devices.change(actor, item, body),
      delete: async ({ item }) => {
        await devices.remove(item);
        return { status: 'removed' as const };
      },
      actions: {
        request: async ({ actor, body, req }) => {
          const { code, expiresAt } = await devices.request(actor, body?.role ?? 'user');
          return linksOf(settings().public_base_url || originOf(req), code, expiresAt);
        },
        notify: async ({ actor, body: { message, title = 'svc' } }) => {
          const own = await devices.own(actor);
          const names = own.map(({ id }) => credentialOf(id));
          const opened = (await pages.value?.openOf(names)) ?? [];
          const isPushed = own.length > 0 && (await push(title, message));
          await devices.noted(own, title, message);
          const notified = isPushed ? own.length : names.filter((name) => opened.includes(name)).length;
          return { ok: true, notified, failed: own.length - notified };
        },
      },
    });
    const guarded = (route: RouteDecl): RouteDecl => ({
      ...route,
      handler: async (req) => {
        if (!settings().enabled) throw pairingErrors.off();
        return route.handler(req);
      },
    });
    ctx.routes.add(...[...open.routes, completeRoute(devices, createAttempts(clock))].map(guarded));
    ctx.timers.every('sweep-codes', SWEEP_MS, async () => void (await db.commit([db.remove('codes', { expires_at: { lt: clock.iso() } }, { expect: 'any' })])));
  },
});

const originOf = ({ headers, isSecure }: Req): string => `${isSecure ? 'https' : 'http'}://${HOST.test(headers.host ?? '') ? headers.host : 'localhost'}`;

const linksOf = (base: string, code: string, expires_at: string) => {
  const base_url = base.replace(/\/$/, '');
  const payload = Buffer.from(JSON.stringify({ v: 1, base_url, token: code, expires_at })).toString('base64url');
  return { pairing_code: code, token: code, expires_at, url: `${base_url}/#/?pair=${code}`, qr_uri: `svc://pair?payload=${payload}` };
};
