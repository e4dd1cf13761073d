import { defineExtension, DoctorCheck, HttpAuthorize, isUuid, openResource } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { ApprovalRequested, Approvals } from '@svc/ext-approvals/contract';
import { Auth } from '@svc/ext-auth/contract';
import { NoticesServed } from '@svc/ext-notices/contract';
import { createRunEnds, RunEnded, Runs, Uploads } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { channelTables } from '../migrations/0001_tables.js';
import { lastChats } from '../migrations/0003_last-chats.js';
import { createAccounts } from './accounts.js';
import { ADAPTERS } from './adapters/adapters.js';
import { createAnswers } from './answers.js';
import { createBindings } from './bindings.js';
import { commands, commandWords } from './commands.js';
import { ChannelsSection, SidecarSetting } from './config.js';
import * as contract from './contract.js';
import type { DeliveryRow, DeliveryState } from './contract.js';
import { createDeafness } from './deafness.js';
import { findingsOf } from './doctor.js';
import { channelErrors } from './errors.js';
import { createInbox, type Inbox } from './inbox.js';
import { createLinks } from './links.js';
import { Deliveries, Senders } from './lists.js';
import { assertConfigured, createOutbox } from './outbox.js';
import { askInChat } from './questions.js';
import { bindingRoutes } from './routes/bindings.js';
import { channelRoutes } from './routes/channels.js';
import { createReach } from './reach.js';
import { createChannelRows } from './rows.js';
import { createSenders } from './senders.js';
import { slashCommands } from './slash-commands.js';
import { createSupervisor } from './supervisor.js';
import { channelSend, recipientOf } from './tool.js';
import { createTyping } from './typing.js';

const SYNC_MS = 30_000;
const PRUNE_MS = 3_600_000;
const KEEP_MS = 30 * 86_400_000;
const SHOWN_CHARS = 500;
const ENDED: readonly DeliveryState[] = ['answered', 'ignored', 'sent', 'failed', 'unknown'];

const shownDelivery = ({ owner_id: _owner, sender_name: name, facts: _facts, platform_id: _id, sender, message, ...row }: DeliveryRow) => ({
  ...row,
  sender: name ?? sender,
  message: message.slice(0, SHOWN_CHARS),
  direction: row.direction as (typeof contract.DIRECTIONS)[number],
  status: row.status as DeliveryState,
});

const shownSender = ({ id, channel, sender, name, state, created_at, allowed_at, person_id: person }: contract.SenderRow) => ({
  ...{ id, channel, sender, name, created_at, allowed_at, person },
  state: state === 'allowed' ? ('allowed' as const) : ('waiting' as const),
});

export default defineExtension({
  contract,
  tables: [contract.AccountRows, contract.ConnectionRows, contract.ChatRows, contract.SenderRows, contract.BindingRows, contract.DeliveryRows, contract.LastChatRows],
  migrations: [channelTables, lastChats],
  capabilities: [contract.ChannelsSend],
  config: [ChannelsSection, SidecarSetting],
  resources: [Senders, Deliveries],
  commands,
  commandWords,
  completions: [{ name: 'channels', fields: ['channel', 'name'], operation: 'listChannels', rows: 'channels', value: 'name' }],
  activate(ctx) {
    const { db, clock, ids, events, log, actors, journal } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const accounts = createAccounts(ctx, ADAPTERS);
    const supervisor = createSupervisor({
      ...{ db, events, clock, ids, log, accounts, egress: ctx.egress, tcp: ctx.tcp, secrets: ctx.secrets, files: ctx.files, closing: ctx.signal },
      fetch: (url, init) => ctx.fetch(url, init),
      spawn: (command, args, options) => ctx.spawn(command, args, options),
      webSocket: (url, options) => ctx.webSocket(url, options),
      inbox: () => inbox,
    });
    const outbox = createOutbox({ db, journal, clock, ids, events, log, actors, accounts, uploads: ctx.services.optional(Uploads), closing: ctx.signal, connectionTo: supervisor.connectionTo });
    const bindings = createBindings({ db, clock, ids, events, actors, agents });
    const senders = createSenders({ db, clock, ids, events });
    const links = createLinks({ db, clock, ids, events, auth: ctx.services.optional(Auth) });
    const authorize = ctx.hooks.use(HttpAuthorize);
    const typing = createTyping({ clock, accounts, closing: ctx.signal, connectionTo: supervisor.connectionTo });
    const inbox: Inbox = createInbox({
      ...{ db, journal, clock, events, log, actors, agents, runs, accounts, bindings, senders, links, outbox, typing, closing: ctx.signal },
      mayWrite: async (actor) => {
        const refused = await authorize.call({ actor, method: 'POST', routeId: 'channel:message', permission: 'runs.send' });
        return refused && ('deny' in refused ? refused.deny : refused.suspend.reason);
      },
      sessions: ctx.services.require(Sessions),
      ends: createRunEnds((ended) => events.on(RunEnded, ended), log, 'An answer was not sent at the end of its run; svc looks again within half a minute.'),
    });
    const approvals = ctx.services.optional(Approvals);
    events.on(ApprovalRequested, (asked) => askInChat({ db, journal, actors, accounts, links, outbox, approvals }, asked));
    const rows = createChannelRows({ db, clock, secrets: ctx.secrets, accounts, supervisor, adapters: ADAPTERS });
    const senderList = openResource(Senders, {
      list: async ({ actor }) => (await senders.list(actor)).map(shownSender),
      delete: async ({ actor, key }) => void (await senders.remove(actor, key)),
      actions: { allow: async ({ body }) => shownSender(await senders.allow(body.code)) },
    });
    const deliveryOf = async (actor: Parameters<typeof db.as>[0], id: string): Promise<DeliveryRow> => {
      const row = isUuid(id) ? await db.as(actor).first<DeliveryRow>({ from: 'deliveries', where: { id: id.toLowerCase() } }) : undefined;
      if (!row) throw channelErrors.delivery_not_found(id);
      return row;
    };
    const deliveryList = openResource(Deliveries, {
      list: async ({ actor, query }) => {
        const { limit = 50, channel, direction, status } = query;
        const where = { ...(channel === undefined ? {} : { channel }), ...(direction === undefined ? {} : { direction }), ...(status === undefined ? {} : { status }) };
        const reader = db.as(actor);
        const [found, total] = await Promise.all([
          reader.select<DeliveryRow>({ from: 'deliveries', where, order: [{ column: 'created_at', descending: true }], limit }),
          reader.count('deliveries', where),
        ]);
        return { deliveries: found.map(shownDelivery), total };
      },
      delete: async ({ actor, key }) => outbox.remove(await deliveryOf(actor, key)),
      actions: {
        retry: async ({ actor, key }) => ({ status: 'queued' as const, delivery_id: await outbox.retry(await deliveryOf(actor, key)) }),
      },
    });
    const reach = createReach({ db, accounts });
    const answerEnds = createRunEnds((ended) => events.on(RunEnded, ended), log, 'An answer was not sent to its chat at the end of its run; svc looks again within a minute.');
    ctx.services.provide(contract.Channels, {
      ...reach,
      ...createAnswers({ journal, clock, actors, agents, runs, ends: answerEnds, outbox, reach }),
      deliverLate: (late) => inbox.deliverLate(late),
      names: async () => [...new Set([...ADAPTERS.keys(), ...(await accounts.all()).map(({ name }) => name)])].filter((name) => name !== 'sidecar'),
      send: async (actor, message) => {
        const account = await assertConfigured(accounts, message.channel);
        return outbox.send(actor.ownerId, { ...message, chat: recipientOf(account, message.chat) });
      },
    });
    ctx.routes.add(
      ...channelRoutes({ rows, accounts, supervisor, secrets: ctx.secrets, clock, ids, events, adapterNames: new Set(ADAPTERS.keys()), closing: ctx.signal }),
      ...senderList.routes,
      ...deliveryList.routes,
      ...bindingRoutes({ bindings, agents }),
    );
    const say = async ({ owner_id: ownerId, channel, code_chat: chat, id, linked_at: at }: contract.SenderRow, message: string): Promise<void> =>
      chat === null ? undefined : void (await outbox.send(ownerId, { channel, chat, message, key: `linked:${id}:${at}` }));
    ctx.slashCommands.add(...slashCommands({ links, say }));
    ctx.tools.add(channelSend({ accounts, outbox }));
    ctx.hooks.tap(DoctorCheck, () => findingsOf(accounts, supervisor));
    const sync = (): void => void supervisor.sync().catch((cause: unknown) => log.warn('The channels could not be read; svc tries again within half a minute.', { cause }));
    ctx.config.onChange(ChannelsSection, sync);
    ctx.config.onChange(SidecarSetting, sync);
    events.on(contract.ChannelChanged, ({ change }) => {
      if (change === 'configured' || change === 'removed') sync();
    });
    ctx.timers.after('connect-channels', 100, sync);
    const reportDeafness = createDeafness({ accounts, supervisor, bindings, actors, clock, log, notices: ctx.services.optional(NoticesServed) });
    ctx.timers.every('look-after-channels', SYNC_MS, async () => {
      sync();
      await reportDeafness();
    });
    ctx.timers.every('prune-deliveries', PRUNE_MS, async () => {
      const before = new Date(clock.now() - KEEP_MS).toISOString();
      await db.commit([db.remove('deliveries', { created_at: { lt: before }, status: ENDED }, { expect: 'any' }), ...senders.forgotten()]);
    });
    ctx.onDispose('connections of channels', () => supervisor.stop());
  },
});
