import { Auth } from '@svc/ext-auth/contract';
import { Agents } from '@svc/ext-agents/contract';
import { Channels } from '@svc/ext-channels/contract';
import { Runs } from '@svc/ext-runs/contract';
import { CALLS_KEPT_MS, createRotations } from '@svc/ext-triggers/contract';
import { type Actor, type ChangeOf, defineExtension, KernelReady, openCollection, type OpenCollection } from '@svc/api';
import { webhookTables } from '../migrations/0001_tables.js';
import { createHookCallers } from './callers.js';
import { WebhookTriggersSection } from './config.js';
import * as contract from './contract.js';
import { type DeliveryRow, EventSubscriptions, kindOf, MAX_WEBHOOKS, Webhooks } from './contract.js';
import { type Address, createDeliveries } from './delivery.js';
import { webhookErrors } from './errors.js';
import { hookRoutes } from './hooks.js';
import { deliveredOf, replayRoute, subscriptionRoutes } from './routes.js';
import { createSources } from './sources.js';
import { whyOf } from './why.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KEEP_MS = 30 * 24 * HOUR_MS;
const TOKEN = 'webhook_triggers.token';
const MAX_SHOWN = 200;

export default defineExtension({
  contract,
  collections: [Webhooks, EventSubscriptions],
  tables: [contract.DeliveryRows, contract.HookCalls, contract.SecretRotations],
  migrations: [webhookTables],
  config: [WebhookTriggersSection],
  commandWords: [
    {
      word: 'webhooks',
      summary: 'send events to web addresses: list, create, deliveries',
      order: 36,
      synonyms: [{ word: 'why webhook', means: 'webhooks why', runs: true, takesArguments: true }],
    },
  ],
  commands: [
    { command: 'webhooks why', summary: 'say why a webhook did or did not send', operation: 'listWebhookDeliveries', args: ['id'], output: { kind: 'line', text: '{why}' } },
    { command: 'webhooks replay', summary: 'send a delivery again', operation: 'replayWebhookDelivery', args: ['id'], output: { kind: 'line', text: 'The delivery {id} is on its way again.' } },
    {
      command: 'webhooks subscriptions',
      summary: 'list event subscriptions',
      operation: 'listEventSubscriptions',
      output: {
        kind: 'table',
        empty: 'There are no event subscriptions.',
        columns: [{ field: 'id' }, { field: 'event_type', title: 'EVENT' }, { field: 'url', shrinks: true }, { field: 'enabled' }],
      },
    },
  ],
  activate(ctx) {
    const { db, clock, ids, actors, journal, events, log } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const refuseUrl = async (url: string, before: string | undefined): Promise<void> => {
      const refused = url === before ? undefined : await ctx.egress.refusal(url);
      if (refused !== undefined) throw webhookErrors.unsafe_url(refused);
    };
    const refuseMany = async (table: string, ownerId: string): Promise<void> => {
      if ((await db.system('limit of webhooks').count(table, { owner_id: ownerId })) >= MAX_WEBHOOKS) throw webhookErrors.too_many(MAX_WEBHOOKS);
    };
    const rotations = createRotations({ db, secrets: ctx.secrets, clock }, contract.SecretRotations.name);
    const gone = (id: string) => [db.remove('deliveries', { webhook_id: id }, { expect: 'any' }), db.remove(contract.SecretRotations.name, { id }, { expect: 'any' })];
    const hooks: OpenCollection<typeof Webhooks.spec.fields> = openCollection(ctx, Webhooks, {
      check: async ({ item, before }: ChangeOf<typeof Webhooks.spec.fields>) => {
        if (!before) await refuseMany(Webhooks.table.name, item.owner_id);
        await refuseUrl(item.url, before?.url);
        if (before && item.secret !== undefined) await rotations.changing(item, hooks.secretOf(item, 'secret'), item.secret);
        return { ...item, events: [...new Set(item.events.map(kindOf))] };
      },
      alsoDeleted: ({ item }) => gone(item.id),
      actions: {
        test: async ({ actor, item }) => {
          const address = await addressOf(actor, item.id);
          if (!address) throw webhookErrors.not_found(item.id);
          const { status, why } = await deliveries.test(address);
          return status === 0 ? { status: 'error' as const, error: why, webhook_id: item.id } : { status: 'sent' as const, response_status: status, webhook_id: item.id };
        },
        deliveries: async ({ actor, item }) => {
          const reader = db.as(actor);
          const rows = await reader.select<DeliveryRow>({ from: 'deliveries', where: { webhook_id: item.id }, order: [{ column: 'created_at', descending: true }], limit: MAX_SHOWN });
          return { deliveries: rows.map(deliveredOf), total: await reader.count('deliveries', { webhook_id: item.id }), why: whyOf(item, rows) };
        },
      },
    });
    const subscriptions: OpenCollection<typeof EventSubscriptions.spec.fields> = openCollection(ctx, EventSubscriptions, {
      check: async ({ item, before }: ChangeOf<typeof EventSubscriptions.spec.fields>) => {
        if (!before) await refuseMany(EventSubscriptions.table.name, item.owner_id);
        await refuseUrl(item.url, before?.url);
        if (before && item.secret !== undefined) await rotations.changing(item, subscriptions.secretOf(item, 'secret'), item.secret);
        return { ...item, event_type: kindOf(item.event_type) };
      },
      alsoDeleted: ({ item }) => gone(item.id),
    });
    const addressOf = async (owner: Actor, id: string): Promise<Address | undefined> => {
      const hook = await hooks.find(owner, id);
      if (hook) return { id, url: hook.url, enabled: hook.enabled, secrets: await rotations.standing(id, hooks.secretOf(hook, 'secret')) };
      const subscription = await subscriptions.find(owner, id);
      return subscription && { id, url: subscription.url, enabled: subscription.enabled, secrets: await rotations.standing(id, subscriptions.secretOf(subscription, 'secret')) };
    };
    const deliveries = createDeliveries({
      db,
      journal,
      clock,
      ids,
      actors,
      secrets: ctx.secrets,
      fetch: ctx.fetch,
      closing: ctx.signal,
      address: addressOf,
      disable: async (owner, id) => ((await hooks.find(owner, id)) ? hooks.update(owner, id, { enabled: false }) : subscriptions.update(owner, id, { enabled: false })),
    });
    const sources = createSources({ db, events, log, send: deliveries.send });
    ctx.hooks.tap(KernelReady, () => sources.reload());
    // A daemon whose events were lost, or an extension that was switched on later.
    ctx.timers.every('read-webhooks', MINUTE_MS, () => sources.reload());
    ctx.timers.every('prune-deliveries', HOUR_MS, async () => {
      const before = new Date(clock.now() - KEEP_MS).toISOString();
      await db.commit([db.remove('deliveries', { created_at: { lt: before }, status: ['sent', 'dead'] }, { expect: 'any' })]);
      await db.commit([db.remove('hook_calls', { created_at: { lt: new Date(clock.now() - CALLS_KEPT_MS).toISOString() } }, { expect: 'any' })]);
      await rotations.prune();
      await Promise.all([hooks.sweepSecrets(), subscriptions.sweepSecrets()]);
    });
    const callers = createHookCallers({
      actors,
      auth: ctx.services.optional(Auth),
      clock,
      log,
      settings: () => ctx.config.get(WebhookTriggersSection),
      token: (env) => ctx.secrets.login({ secret: TOKEN, env }),
    });
    ctx.routes.add(
      ...hooks.routes,
      ...subscriptions.routes,
      ...subscriptionRoutes(subscriptions),
      replayRoute({ db, deliveries }),
      ...hookRoutes({ ...callers, db, events, clock, streams: ctx.streams, agents, runs, channels: ctx.services.optional(Channels) }),
    );
  },
});
