/**
 * Messages that come, from their acceptance to their answer.
 *
 * I1  A message is a row before the platform may forget it. The same message again, at this daemon or another, is the same row.
 * I2  The place where the platform is read from next is stored with the message, in one commit.
 * I3  In one chat, messages are answered in the order in which they came. A command does not wait for the answer before it.
 * I4  Who is not linked to a person is nobody of svc: the text is from outside, belongs to the owner of the agent, and begins no command of svc. Who is
 *     linked acts as that person, in a conversation that no guest of the chat writes to.
 * I5  A run that fails is said to the sender, without its inner reasons.
 * I6  A message that its sender deletes gets no answer any more, and its run is stopped. An edit counts until the agent is asked.
 * I7  What comes after the answer, such as a video, goes to the chat that asked, once, unless the sender took the message back.
 */
import { type Actor, type Actors, type Clock, type Db, type Events, isSvcError, type Journal, type LeasedRun, type Logger, type ToolFile, type Write } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { RunEnds, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { type Account, textField } from './account.js';
import type { Accounts } from './accounts.js';
import type { Adapter, Changed, Incoming } from './adapters/adapter.js';
import type { Bindings } from './bindings.js';
import { ChannelChanged, ChannelMessage, type ChatRow, type DeliveryRow, type DeliveryState, type LastChatRow } from './contract.js';
import { uuidV5 } from './ids.js';
import { type Links, nameOfPerson } from './links.js';
import type { Outbox } from './outbox.js';
import type { Senders } from './senders.js';
import type { Typing } from './typing.js';

export interface InboxDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly events: Events;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find' | 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'get' | 'stop'>;
  readonly sessions: Pick<SessionsService, 'create' | 'get' | 'entries'>;
  readonly ends: RunEnds;
  readonly accounts: Accounts;
  readonly bindings: Bindings;
  readonly senders: Senders;
  readonly links: Links;
  /** Why this person may not write to agents; undefined where they may. */
  mayWrite(actor: Actor): Promise<string | undefined>;
  readonly outbox: Outbox;
  readonly typing: Typing;
  readonly closing: AbortSignal;
}

export interface Inbox {
  /** True for a message that is new. Durable when this resolves. */
  receive(account: Account, message: Incoming, also?: readonly Write[]): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** To the chat whose message is at the root of a run; undefined where none is. Durable when this resolves. */
  deliverLate(late: { readonly rootId: string; readonly about: string; readonly message: string; readonly file?: ToolFile | undefined }): Promise<string | undefined>;
  /** Durable when this resolves. */
  change(account: Account, message: Changed, also?: readonly Write[]): Promise<void>;
}

const AT_ONCE = 200;
const CHECK_MS = 30_000;
/** Of a session, looked at for the files of one run. */
const MOST_ENTRIES = 200;
const MAX_MESSAGE = 50_000;
const MAX_ID = 200;

const wakeKey = (runId: string): string => `channel-run:${runId}`;

/** What a message needs later, beside its columns. */
interface Facts {
  readonly isGroup: boolean;
  readonly isMentioned: boolean;
  readonly guild?: string;
  readonly roles?: readonly string[];
  readonly reply: Readonly<Record<string, string>>;
}

export const createInbox = (deps: InboxDeps): Inbox => {
  const { db, journal, clock, actors } = deps;
  const worker = journal.worker(ChannelMessage, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  return {
    receive: async (account, message, also = []) => {
      const id = uuidV5('in', account.name, message.id);
      const facts: Facts = {
        isGroup: message.isGroup ?? false,
        isMentioned: message.isMentioned ?? false,
        ...(message.guild === undefined ? {} : { guild: message.guild }),
        ...(message.roles === undefined ? {} : { roles: message.roles }),
        reply: message.facts ?? {},
      };
      const row: DeliveryRow = {
        ...{ id, owner_id: account.ownerId, direction: 'inbound', channel: account.name, chat: idOf(message.chat), thread: message.thread === undefined ? null : idOf(message.thread) },
        ...{ sender: idOf(message.sender), sender_name: message.senderName?.slice(0, MAX_ID) ?? null, agent_id: null, session_id: null, run_id: null },
        ...{ message: message.text.slice(0, MAX_MESSAGE), facts: JSON.stringify(facts), status: 'received', attempts: 0, reason: null },
        ...{ platform_id: idOf(message.id), created_at: clock.iso(), ended_at: null },
      };
      const isCommand = message.text.startsWith('/');
      const { leased, replayed } = await journal.open(
        {
          kind: ChannelMessage.name,
          actor: actors.of(account.ownerId),
          key: `in:${id}`,
          lane: isCommand ? `channel-command:${id}` : `channel-in:${account.name}:${row.chat}:${row.thread ?? ''}`,
          cause: { kind: 'channel', id: account.name },
          input: { deliveryId: id },
        },
        [db.insert('deliveries', [row], { ifAbsent: true }), deps.events.event(ChannelChanged, { name: account.name, change: 'message' }), ...also],
      );
      if (replayed && also.length > 0) await db.commit(also);
      if (leased) void worker.take(leased);
      else if (!replayed) worker.poke();
      return { id, isNew: !replayed };
    },
    deliverLate: async ({ rootId, about, message, file }) => {
      const root = await journal.get(actors.system('late files'), rootId);
      if (root?.kind !== ChannelMessage.name) return undefined;
      const { deliveryId } = root.input as { readonly deliveryId: string }; // what `receive` stored
      const row = await db.system('a message of a channel').first<DeliveryRow>({ from: 'deliveries', where: { id: deliveryId } });
      if (!row || row.status === 'ignored') return undefined;
      return answer(deps, row, file ? fileKey(row, file) : `late:${row.id}:${about}`, message, file);
    },
    change: (account, message, also = []) => change(deps, account, message, also),
  };
};

/** An id of a platform. PostgreSQL takes no text with U+0000, and a row with one would be refused again and again. */
const idOf = (text: string): string => text.slice(0, MAX_ID).replaceAll('\0', '\u{fffd}');

const change = async (deps: InboxDeps, account: Account, { id: platformId, text }: Changed, also: readonly Write[]): Promise<void> => {
  const { db } = deps;
  const id = uuidV5('in', account.name, platformId);
  const row = await db.system('a message of a channel').first<DeliveryRow>({ from: 'deliveries', where: { id } });
  const isOpen = row?.status === 'received';
  if (isOpen && text === undefined) {
    const gone = { id, status: 'ignored', reason: 'its sender deleted it', ended_at: deps.clock.iso() };
    await db.commit([db.update('deliveries', ['id'], [gone]), deps.events.event(ChannelChanged, { name: account.name, change: 'message' }), ...also]);
    const { run_id: runId } = (await db.system('a message of a channel').first<DeliveryRow>({ from: 'deliveries', where: { id } })) ?? row;
    if (runId !== null) await stop(deps, runId);
  } else if (isOpen && text !== undefined && row.run_id === null) await db.commit([db.update('deliveries', ['id'], [{ id, message: text.slice(0, MAX_MESSAGE) }]), ...also]);
  else if (also.length > 0) await db.commit(also);
};

const stop = ({ runs, actors }: InboxDeps, runId: string): Promise<number> => runs.stop(actors.system('channel messages'), { runId }, 'the sender deleted the message');

async function drive(deps: InboxDeps, run: LeasedRun): Promise<void> {
  const { deliveryId } = run.input as { readonly deliveryId: string }; // what `receive` stored
  const row = await deps.db.system('a message of a channel').first<DeliveryRow>({ from: 'deliveries', where: { id: deliveryId } });
  // Deleted meanwhile, with its owner.
  if (!row) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  if (row.status !== 'received') return deps.journal.advance(run, { finish: { status: 'done' } });
  try {
    await step(deps, run, row);
  } catch (cause) {
    if (deps.closing.aborted || run.signal.aborted) throw cause;
    deps.log.warn('A message of a channel could not be answered.', { channel: row.channel, message: row.id, cause });
    await answer(deps, row, `error:${row.id}`, NO_ANSWER);
    await end(deps, run, row, 'failed', isSvcError(cause) ? cause.message : 'an internal error; the log has the cause');
  }
}

const NO_ANSWER = 'Sorry, I could not answer this message. Please try again later.';

async function step(deps: InboxDeps, run: LeasedRun, row: DeliveryRow): Promise<void> {
  if (row.run_id !== null) return follow(deps, run, row, row.run_id);
  const account = await deps.accounts.find(row.channel);
  if (!account) return end(deps, run, row, 'failed', `the channel ${row.channel} is not configured`);
  const facts = JSON.parse(row.facts) as Facts; // written by `receive`
  const message = { chat: row.chat, sender: row.sender ?? row.chat, ...(row.sender_name === null ? {} : { senderName: row.sender_name }), ...facts };
  const adapter = deps.accounts.adapterOf(row.channel);
  const person = await deps.links.personOf(account, adapter, message.sender);
  const ignored = await refusal(deps, account, adapter, row, message, person);
  if (ignored !== undefined) return end(deps, run, row, 'ignored', ignored);
  if (row.message.trim() === '') return end(deps, run, row, 'ignored', 'it has no text');
  const chat = await chatOf(deps, account, row, person);
  const command = await commanded(deps, { account, adapter, row, chat, person, isGroup: facts.isGroup });
  if (command !== undefined) {
    await answer(deps, row, `command:${row.id}`, command);
    return end(deps, run, row, 'answered', null);
  }
  const denied = person && (await deps.mayWrite(person));
  if (denied !== undefined) {
    await answer(deps, row, `error:${row.id}`, denied);
    return end(deps, run, row, 'failed', denied);
  }
  const { agent, asker } = await answering(deps, account, message, chat, person);
  if (!agent) {
    await answer(deps, row, `error:${row.id}`, 'There is no agent here yet.');
    return end(deps, run, row, 'failed', 'the owner of the channel has no agent; name one as default_agent');
  }
  if (!takesFrom(agent, account)) return end(deps, run, row, 'ignored', `the manifest of ${agent.name} takes no messages from ${account.name}`);
  const asked = await ask(deps, { run, row, agent, chat, person: asker });
  if (asked === undefined) return end(deps, run, row, 'answered', null);
  if (asked.run_id !== null && (await isDeleted(deps, row))) await stop(deps, asked.run_id);
  return follow(deps, run, asked, asked.run_id ?? '');
}

/** A person without an agent of their own is a guest of the channel's. */
const answering = async (
  { bindings }: InboxDeps,
  account: Account,
  message: Facts & Pick<Incoming, 'chat' | 'sender'>,
  { agent_id: chosen }: ChatRow,
  person: Actor | undefined,
): Promise<{ readonly agent: Agent | undefined; readonly asker?: Actor }> => {
  const own = person && (await bindings.agentFor(account, message, chosen ?? undefined, person));
  return own ? { agent: own, asker: person } : { agent: await bindings.agentFor(account, message, chosen ?? undefined) };
};

/** `channels` of the manifest; none are named: from all. */
const takesFrom = ({ manifest: { channels = [] } }: Agent, { name, type }: Account): boolean => channels.length === 0 || channels.includes(name) || channels.includes(type);

/** Why a message gets no answer of an agent; undefined where it does. */
const refusal = async (
  deps: InboxDeps,
  account: Account,
  adapter: Adapter,
  row: DeliveryRow,
  message: Facts & Pick<Incoming, 'chat' | 'sender'>,
  person: Actor | undefined,
): Promise<string | undefined> => {
  if (message.isGroup) {
    const policy = textField(account, 'group_policy') || 'mention_only';
    if (policy === 'ignore') return 'group_policy is ignore';
    if (policy === 'mention_only' && !message.isMentioned) return 'the bot was not mentioned';
    if (policy === 'commands_only' && !row.message.startsWith('/')) return 'group_policy is commands_only';
  }
  const policy = textField(account, 'dm_policy') || adapter.dmPolicy;
  if (policy === 'respond' || (policy === 'allowed_only' && person)) return undefined;
  if (policy === 'ignore') return message.isGroup ? undefined : 'dm_policy is ignore';
  const { isAllowed, code } = await deps.senders.admission(account, message);
  if (isAllowed) return undefined;
  if (code !== undefined && !message.isGroup)
    await answer(
      deps,
      row,
      `code:${row.id}`,
      `Hello. I only answer people whom my owner allows. Give them this code: ${code}\nThey run: svc channels allow ${code}${
        adapter.namesSenders ? `\nIf you have a login at my svc, write there: /link ${code}` : ''
      }`,
    );
  return 'the sender is not allowed yet';
};

/** Of a person apart from that of guests. */
const apart = (person: Actor | undefined): string[] => (person ? ['person', person.id] : []);

const idOfChat = (row: Pick<DeliveryRow, 'channel' | 'chat' | 'thread'>, person: Actor | undefined): string => uuidV5('chat', row.channel, row.chat, row.thread ?? '', ...apart(person));

const chatOf = async ({ db, clock }: InboxDeps, account: Account, row: DeliveryRow, person: Actor | undefined): Promise<ChatRow> => {
  const id = idOfChat(row, person);
  const found = await db.system('a chat').first<ChatRow>({ from: 'chats', where: { id } });
  return found ?? { id, owner_id: account.ownerId, agent_id: null, epoch: 0, updated_at: clock.iso() };
};

interface InChat {
  readonly account: Account;
  readonly adapter: Adapter;
  readonly row: DeliveryRow;
  readonly chat: ChatRow;
  readonly person: Actor | undefined;
  readonly isGroup: boolean;
}

/** In groups, platforms write the bot behind a command. */
const OF_BOT = /^(\/\p{L}[\w-]*)@\S+/u;
const DECISION = /^\/(approve|deny)(@\S+)?(\s|$)/i;
const ONLY_PEOPLE = 'Only a person who is linked decides that. If you have a login at my svc, write /link to me in a private chat.';

/** The few commands of a chat: they change nothing but the chat, and who its sender is. Undefined for any other text. */
const commanded = async (deps: InboxDeps, on: InChat): Promise<string | undefined> => {
  if (!on.person && DECISION.test(on.row.message)) return ONLY_PEOPLE;
  const [, word = '', rest = ''] = /^\/(start|help|new|link|unlink)(?:@\S+)?(?:\s+(\S+))?\s*$/i.exec(on.row.message) ?? [];
  const name = word.toLowerCase();
  if (name === 'link') return linking(deps, on);
  if (name === 'unlink') return unlinking(deps, on);
  // The rest are commands of svc for a person.
  if (name === '' || rest !== '' || (name === 'help' && on.person)) return undefined;
  if (name !== 'new') return 'Write a message, and an agent answers. /new begins a new conversation.';
  const { account, chat } = on;
  await deps.db.commit([deps.db.upsert('chats', ['id'], [{ ...chat, owner_id: on.person?.ownerId ?? account.ownerId, epoch: chat.epoch + 1, updated_at: deps.clock.iso() }])]);
  return 'A new conversation begins.';
};

const linking = async ({ links }: InboxDeps, { account, adapter, row, person, isGroup }: InChat): Promise<string> => {
  if (person) return `You act as ${nameOfPerson(person.id)} here. /unlink ends it.`;
  if (isGroup) return 'Write /link to me in a private chat: nobody else must see the code.';
  const code = await links.codeFor(account, adapter, { chat: row.chat, sender: row.sender ?? row.chat, ...(row.sender_name === null ? {} : { senderName: row.sender_name }) });
  if (code === undefined) return 'Nobody can be linked on this channel: its senders name themselves.';
  return `Write this in a conversation of svc, where you are logged in: /link ${code}\nThen you act as yourself here. Give the code to nobody: you would act as them.`;
};

const unlinking = async ({ links }: InboxDeps, { account, row, person }: InChat): Promise<string> => {
  if (await links.end(account, row.sender ?? row.chat)) return 'You are a guest here again.';
  return person ? `The settings of svc say that you are ${nameOfPerson(person.id)}; only its owner can end that.` : 'You are a guest here.';
};

const sessionOf = (row: DeliveryRow, agent: Agent, { epoch }: ChatRow, person: Actor | undefined): string =>
  uuidV5('session', agent.id, row.channel, row.channel, row.chat, row.thread ?? '', ...(epoch === 0 ? [] : [String(epoch)]), ...apart(person));

interface Asking {
  readonly run: LeasedRun;
  readonly row: DeliveryRow;
  readonly agent: Agent;
  readonly chat: ChatRow;
  readonly person: Actor | undefined;
}

/** Undefined where it was a command that was refused, which the sender was answered. */
const ask = async (deps: InboxDeps, { run, row, agent, chat, person }: Asking): Promise<DeliveryRow | undefined> => {
  // Work for the owner of the agent, and no more than that: a guest is nobody of svc.
  const actor = person ?? deps.actors.only('guest', agent.ownerId);
  const sessionId = sessionOf(row, agent, chat, person);
  await begin(deps, actor, agent, sessionId, row);
  const draft = {
    agentId: agent.id,
    sessionId,
    parts: [{ type: 'text' as const, text: person ? row.message.replace(OF_BOT, '$1') : row.message }],
    door: 'internal' as const,
    cause: { kind: 'channel' as const, id: row.channel },
    via: { channel: row.channel, chat: row.chat, ...(row.sender === null ? {} : { sender: row.sender }) },
    ...(person ? {} : { origin: { labels: ['ExternalNetwork' as const], source: `${row.sender_name ?? row.sender ?? row.chat} on ${row.channel}`, sessionId } }),
    key: `channel:${row.id}`,
    parentRunId: run.id,
    isPatient: true,
  };
  const owned = person ? { ...row, owner_id: person.ownerId } : row;
  try {
    const { runId } = await deps.runs.submit(actor, draft);
    const asked = { ...owned, run_id: runId, agent_id: agent.id, session_id: sessionId };
    await deps.db.commit([
      deps.db.update('deliveries', ['id'], [{ id: row.id, owner_id: owned.owner_id, run_id: runId, agent_id: agent.id, session_id: sessionId }]),
      deps.db.upsert('last_chats', ['id'], [lastChatOf(owned, agent, person !== undefined, deps.clock.iso())]),
    ]);
    return asked;
  } catch (error) {
    if (!person || !isSvcError(error) || !error.code.startsWith('command_')) throw error;
    await answer(deps, owned, `command:${row.id}`, error.message);
    return undefined;
  }
};

/** For what is sent later to "the last chat". */
const lastChatOf = ({ owner_id, channel, chat, thread }: DeliveryRow, { id: agentId }: Agent, isPerson: boolean, at: string): LastChatRow => ({
  ...{ id: uuidV5('last', agentId, owner_id, String(isPerson)), owner_id, agent_id: agentId, is_person: Number(isPerson), channel, chat, thread, at },
});

const begin = async ({ db, sessions }: InboxDeps, actor: Parameters<SessionsService['create']>[0], agent: Agent, id: string, row: DeliveryRow): Promise<void> => {
  const { writes } = await sessions.create(actor, agent.id, { id, label: `${row.channel}: ${row.sender_name ?? row.sender ?? row.chat}`.slice(0, 100) });
  await db.commit(writes).catch((error: unknown) => {
    // It is there since an earlier message.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
};

/** Until the run ends; looked after in between, because a daemon may die before it says so. */
const follow = async (deps: InboxDeps, run: LeasedRun, row: DeliveryRow, runId: string): Promise<void> => {
  const owner = deps.actors.of(run.ownerId);
  if (await settled(deps, run, row, runId)) return;
  deps.typing.show(row, runId);
  deps.ends.watch(runId, () => deps.journal.wake(owner, wakeKey(runId), {}));
  await deps.journal.wait(run, { reason: 'run', wakeKey: wakeKey(runId), until: new Date(deps.clock.now() + CHECK_MS).toISOString() });
  // It may have ended before anybody could be woken.
  const { status } = await deps.runs.get(deps.actors.system('channel answers'), runId);
  if (status !== 'queued' && status !== 'running' && status !== 'waiting') await deps.journal.wake(owner, wakeKey(runId), {});
};

const settled = async (deps: InboxDeps, run: LeasedRun, row: DeliveryRow, runId: string): Promise<boolean> => {
  const { status, result, error } = await deps.runs.get(deps.actors.system('channel answers'), runId);
  if (status === 'queued' || status === 'running' || status === 'waiting') return false;
  deps.typing.end(runId);
  if (await isDeleted(deps, row)) {
    await deps.journal.advance(run, { finish: { status: 'done' } });
    return true;
  }
  const text = status === 'done' ? (result?.response ?? '') : status === 'failed' ? NO_ANSWER : '';
  if (text.trim() !== '') await answer(deps, row, `answer:${row.id}`, text);
  // Without a tool there is one turn, and no file.
  for (const file of (result?.iterations ?? 0) > 1 ? await filesOf(deps, row, runId) : []) await answer(deps, row, fileKey(row, file), file.name, file);
  await end(deps, run, row, status === 'done' ? 'answered' : 'failed', status === 'done' ? null : (error?.message ?? `the run was ${status}`));
  return true;
};

/** Its sender may delete it while the agent works. */
const isDeleted = async ({ db }: InboxDeps, { id }: DeliveryRow): Promise<boolean> =>
  (await db.system('a message of a channel').first<Pick<DeliveryRow, 'status'>>({ from: 'deliveries', columns: ['status'], where: { id } }))?.status !== 'received';

/** What tools made for the answer, such as a picture. */
const filesOf = async ({ sessions, actors, log }: InboxDeps, row: DeliveryRow, runId: string): Promise<ToolFile[]> => {
  const actor = actors.system('files of answers');
  try {
    const { seq } = await sessions.get(actor, row.session_id ?? '');
    const entries = await sessions.entries(actor, row.session_id ?? '', { after: Math.max(0, seq - MOST_ENTRIES), limit: MOST_ENTRIES });
    const found = entries.flatMap(({ runId: of, files = [] }) => (of === runId ? files : []));
    return found.filter(({ id }, index) => found.findIndex((one) => one.id === id) === index);
  } catch (cause) {
    if (!isSvcError(cause)) throw cause;
    log.warn('The files of an answer could not be found.', { channel: row.channel, run: runId, cause });
    return [];
  }
};

const fileKey = (row: DeliveryRow, file: ToolFile): string => `file:${row.id}:${file.id}`;

export const answer = async ({ outbox }: Pick<InboxDeps, 'outbox'>, row: DeliveryRow, key: string, text: string, file?: ToolFile): Promise<string> => {
  const { reply } = JSON.parse(row.facts) as Facts; // written by `receive`
  return outbox.send(row.owner_id, {
    channel: row.channel,
    chat: row.chat,
    ...(row.thread === null ? {} : { thread: row.thread }),
    message: text,
    ...(file ? { file } : {}),
    key,
    facts: reply,
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
  });
};

const end = (deps: InboxDeps, run: LeasedRun, row: DeliveryRow, status: DeliveryState, reason: string | null): Promise<void> =>
  deps.journal.advance(run, {
    finish: status === 'failed' ? { status: 'failed', error: { code: 'channels_unanswered', message: reason ?? '' } } : { status: 'done' },
    also: [deps.db.update('deliveries', ['id'], [{ id: row.id, status, reason, attempts: row.attempts + 1, ended_at: deps.clock.iso() }])],
  });
