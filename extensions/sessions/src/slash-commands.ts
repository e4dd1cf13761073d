/** Slash commands about the conversation. */
import { type Clock, type Db, defineSlashCommand, type Logger, type SlashAnswer, type SlashCall, type SlashCommand } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { SessionInfo, SessionsService } from './contract.js';
import { sessionsErrors } from './errors.js';

const WRITE = 'sessions.write';
const READ = 'sessions.read';
/** The answer must come before whoever asks gives the command up; the compaction goes on by itself. */
const COMPACT_WAIT_MS = 8_000;
const LISTED_SESSIONS = 10;

interface SlashDeps {
  readonly agents: Pick<AgentsService, 'get' | 'setSession'>;
  readonly sessions: Pick<SessionsService, 'create' | 'remove' | 'wipe' | 'conversations' | 'recent' | 'compact' | 'context'>;
  commit: Db['commit'];
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

export const slashCommands = (deps: SlashDeps): SlashCommand[] => [
  defineSlashCommand({ name: 'new', usage: '/new', summary: 'Start a new session and keep the old one', permission: WRITE, order: 11, run: (call) => newSession(deps, call) }),
  defineSlashCommand({
    name: 'reset',
    usage: '/reset [all [NUMBER]]',
    summary: "Delete this conversation, or all of this agent's, and start over",
    permission: WRITE,
    takes: 'text',
    order: 12,
    run: (call) => reset(deps, call),
  }),
  defineSlashCommand({
    name: 'reboot',
    usage: '/reboot [all [NUMBER]]',
    summary: 'The same as /reset',
    permission: WRITE,
    takes: 'text',
    order: 12,
    run: (call) => reset(deps, call),
  }),
  defineSlashCommand({ name: 'sessions', usage: '/sessions', summary: 'List the newest sessions of this agent', permission: READ, order: 13, run: (call) => listSessions(deps, call) }),
  defineSlashCommand({ name: 'compact', usage: '/compact', summary: 'Compact this conversation', permission: WRITE, order: 14, run: (call) => compact(deps, call) }),
  defineSlashCommand({ name: 'context', usage: '/context', summary: 'Show context window usage', permission: READ, order: 15, run: (call) => showContext(deps, call) }),
];

const placeOf = (agent: Agent): { id: string; sessionId: string } => ({ id: agent.id, sessionId: agent.sessionId });

async function newSession({ agents, sessions, commit }: SlashDeps, { actor, agentId, sessionId }: SlashCall): Promise<SlashAnswer> {
  const agent = await agents.get(actor, agentId);
  const { ref, writes } = await sessions.create({ ...actor, ownerId: agent.ownerId }, agentId);
  await commit([...writes, ...(await agents.setSession(actor, agentId, ref.id))]);
  return { message: `A new session has started. The previous one is ${sessionId}.`, data: { session_id: ref.id, previous_session_id: sessionId } };
}

/** All of them go only where the caller says how many these are: a number of a moment ago is asked for again. */
async function reset({ agents, sessions }: SlashDeps, { actor, agentId, sessionId, args }: SlashCall): Promise<SlashAnswer> {
  const agent = await agents.get(actor, agentId);
  if (args === '') {
    const { sessionId: current, keptUntil } = await sessions.remove(actor, placeOf(agent), sessionId);
    const message = `This conversation is deleted. ${restorable(keptUntil, 1)}Your next message starts a new one.`;
    return { message, data: { session_id: current, deleted: 1, restorable_until: keptUntil } };
  }
  const wanted = ALL.exec(args);
  if (!wanted) throw sessionsErrors.reset_what(args);
  const agreed = wanted[1];
  const count = await sessions.conversations(actor, agentId);
  if (count === 0) return { message: `${agent.name} has no conversations to delete.`, data: { deleted: 0 } };
  if (Number(agreed ?? Number.NaN) !== count) return askBeforeReset(agent.name, count, agreed);
  const { sessionId: fresh, keptUntil } = await sessions.wipe(actor, placeOf(agent));
  const message = `${counted(count)} of ${agent.name} ${count === 1 ? 'is' : 'are'} deleted. ${restorable(keptUntil, count)}Your next message starts a new one.`;
  return { message, data: { session_id: fresh, deleted: count, restorable_until: keptUntil } };
}

/** Days alone: nobody counts hours of a month. */
const restorable = (until: string | null, count: number): string => (until === null ? '' : `${count === 1 ? 'It' : 'They'} can be restored until ${until.slice(0, 10)}. `);

const ALL = /^all(?:\s+(\d{1,9}))?$/i;

const counted = (count: number): string => (count === 1 ? '1 conversation' : `${count} conversations`);

const askBeforeReset = (name: string, count: number, agreed: string | undefined): SlashAnswer => {
  const confirm = `/reset all ${count}`;
  const begin = agreed === undefined ? '' : `${agreed} is not how many there are. `;
  return { message: `${begin}Nothing is deleted yet. This deletes ${counted(count)} of ${name}, with all messages. To agree, send: ${confirm}`, data: { confirm, conversations: count } };
};

async function listSessions({ agents, sessions }: SlashDeps, { actor, agentId }: SlashCall): Promise<SlashAnswer> {
  const recent = await sessions.recent(actor, placeOf(await agents.get(actor, agentId)), LISTED_SESSIONS);
  const line = ({ id, label, messages, isCurrent, isActive }: SessionInfo): string =>
    `${isCurrent ? '*' : ' '} ${id}  ${label ?? '(no messages yet)'}, ${messages} messages${isActive ? ', at work' : ''}`;
  return {
    message: recent.map(line).join('\n') || 'No messages yet.',
    data: { sessions: recent.map(({ id, label, messages, isCurrent, isActive }) => ({ session_id: id, label, message_count: messages, is_canonical: isCurrent, active: isActive })) },
  };
}

async function compact({ agents, sessions, clock, log }: SlashDeps, { actor, agentId, sessionId }: SlashCall): Promise<SlashAnswer> {
  const agent = await agents.get(actor, agentId);
  const late = new AbortController();
  const soon = clock.sleep(COMPACT_WAIT_MS, late.signal).then(
    () => undefined,
    () => undefined,
  );
  const compacting = sessions.compact(actor, agent, sessionId);
  const done = await Promise.race([compacting, soon]).finally(() => late.abort());
  if (done) return { message: done.message, data: { summarised: done.summarised, kept: done.kept, summary_chars: done.summaryChars } };
  compacting.catch((cause: unknown) => log.warn('a compaction that somebody asked for failed after they were answered', { session: sessionId, cause }));
  return { message: 'The older part of this conversation is being summarised. You can continue in the meantime.', data: { summarised: null } };
}

async function showContext({ agents, sessions }: SlashDeps, { actor, agentId, sessionId }: SlashCall): Promise<SlashAnswer> {
  const { usedTokens, maxTokens, percent, model, pressure, parts } = await sessions.context(actor, placeOf(await agents.get(actor, agentId)), sessionId);
  const lines = parts.filter(({ tokens }) => tokens > 0).map(({ part, tokens }) => `${barOf(tokens / usedTokens)} ${tokens} ${PART_NAMES[part]}`);
  return {
    message: [
      `About ${usedTokens} of ${maxTokens} tokens of ${model} are used, ${percent} %: ${pressure}.`,
      barOf(usedTokens / maxTokens),
      ...(lines.length === 0 ? [] : ['', 'What is sent:', ...lines]),
    ].join('\n'),
    data: { used_tokens: usedTokens, max_context_tokens: maxTokens, pct: percent, model, pressure, parts: [...parts] },
  };
}

const PART_NAMES = { instructions: 'instructions', tools: 'tools', people: 'your messages', answers: 'answers', tool_calls: 'tool calls', tool_results: 'tool results' } as const;

const BAR_CELLS = 20;
/** Full as soon as there is something, so that a small part is seen. */
const barOf = (share: number): string => {
  const full = Math.min(BAR_CELLS, share > 0 ? Math.max(1, Math.round(share * BAR_CELLS)) : 0);
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
};
