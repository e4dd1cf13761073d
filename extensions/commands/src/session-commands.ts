/** Commands about the conversation. */
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionInfo } from '@svc/ext-sessions/contract';
import { type Answered, type Asked, type Command, type CommandDeps, usd } from './command.js';
import { commandErrors } from './errors.js';

const WRITE = 'sessions.write';
const READ = 'sessions.read';
/** The answer must come before whoever asks gives the command up; the compaction goes on by itself. */
const COMPACT_WAIT_MS = 8_000;
const LISTED_SESSIONS = 10;

export const SESSION_COMMANDS: readonly Command[] = [
  { name: 'new', usage: '/new', summary: 'Start a new session and keep the old one', permission: WRITE, run: newSession },
  { name: 'reset', aliases: ['reboot'], usage: '/reset [all]', summary: "Delete this conversation, or all of this agent's, and start over", permission: WRITE, takes: { words: ['all'] }, run: reset },
  { name: 'sessions', usage: '/sessions', summary: 'List the newest sessions of this agent', permission: READ, run: listSessions },
  { name: 'compact', usage: '/compact', summary: 'Compact this conversation', permission: WRITE, run: compact },
  { name: 'context', usage: '/context', summary: 'Show context window usage', permission: READ, run: showContext },
  { name: 'usage', usage: '/usage', summary: 'Show tokens and cost of this agent and conversation', permission: READ, run: showUsage },
  { name: 'think', usage: '/think [on|off]', summary: 'Switch thinking on or off for this session', permission: WRITE, takes: { words: ['on', 'off'] }, run: toggleThinking },
  {
    name: 'btw',
    usage: '/btw QUESTION',
    summary: 'Ask a side question that the conversation does not store',
    permission: 'runs.send',
    takes: 'text',
    // With a question it is a message, and does not come here.
    run: async () => ({ message: 'Ask a side question: /btw QUESTION' }),
  },
];

const placeOf = (agent: Agent): { id: string; sessionId: string } => ({ id: agent.id, sessionId: agent.sessionId });

async function newSession(deps: CommandDeps, { actor, agent, sessionId }: Asked): Promise<Answered> {
  const { ref, writes } = await deps.sessions.create({ ...actor, ownerId: agent.ownerId }, agent.id);
  await deps.commit([...writes, ...(await deps.agents.setSession(actor, agent.id, ref.id))]);
  return { message: `A new session has started. The previous one is ${sessionId}.`, data: { session_id: ref.id, previous_session_id: sessionId } };
}

async function reset(deps: CommandDeps, { actor, agent, sessionId, args }: Asked): Promise<Answered> {
  if (args === '') {
    const current = await deps.sessions.erase(actor, placeOf(agent), sessionId);
    return { message: 'This conversation is deleted. Your next message starts a new one.', data: { session_id: current, deleted: 1 } };
  }
  const { sessionId: fresh, deleted } = await deps.sessions.wipe(actor, placeOf(agent));
  return { message: `All conversations of ${agent.name} are deleted, ${deleted} of them. Your next message starts a new one.`, data: { session_id: fresh, deleted } };
}

async function listSessions(deps: CommandDeps, { actor, agent }: Asked): Promise<Answered> {
  const sessions = await deps.sessions.recent(actor, placeOf(agent), LISTED_SESSIONS);
  const line = ({ id, label, messages, isCurrent, isActive }: SessionInfo): string =>
    `${isCurrent ? '*' : ' '} ${id}  ${label ?? '(no messages yet)'}, ${messages} messages${isActive ? ', at work' : ''}`;
  return {
    message: sessions.map(line).join('\n') || 'No messages yet.',
    data: { sessions: sessions.map(({ id, label, messages, isCurrent, isActive }) => ({ session_id: id, label, message_count: messages, is_canonical: isCurrent, active: isActive })) },
  };
}

async function compact(deps: CommandDeps, { actor, agent, sessionId }: Asked): Promise<Answered> {
  const late = new AbortController();
  const soon = deps.clock.sleep(COMPACT_WAIT_MS, late.signal).then(
    () => undefined,
    () => undefined,
  );
  const compacting = deps.sessions.compact(actor, agent, sessionId);
  const done = await Promise.race([compacting, soon]).finally(() => late.abort());
  if (done) return { message: done.message, data: { summarised: done.summarised, kept: done.kept, summary_chars: done.summaryChars } };
  compacting.catch((cause: unknown) => deps.log.warn('a compaction that somebody asked for failed after they were answered', { session: sessionId, cause }));
  return { message: 'The older part of this conversation is being summarised. You can continue in the meantime.', data: { summarised: null } };
}

async function showContext(deps: CommandDeps, { actor, agent, sessionId }: Asked): Promise<Answered> {
  const { usedTokens, maxTokens, percent, model, pressure } = await deps.sessions.context(actor, placeOf(agent), sessionId);
  return {
    message: `About ${usedTokens} of ${maxTokens} tokens of ${model} are used, ${percent} %: ${pressure}.`,
    data: { used_tokens: usedTokens, max_context_tokens: maxTokens, pct: percent, model, pressure },
  };
}

async function showUsage(deps: CommandDeps, { actor, agent, sessionId }: Asked): Promise<Answered> {
  const [usage, session] = await Promise.all([deps.llm.usage(actor, { agentId: agent.id }), deps.sessions.describe(actor, placeOf(agent), sessionId)]);
  const ofSession = session ? `\nThis conversation: ${session.inputTokens} tokens in, ${session.outputTokens} out, ${usd(session.costMicros)} USD.` : '';
  return {
    message: `${usage.requests} model calls, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${usd(usage.costMicros)} USD.${ofSession}`,
    data: {
      requests: usage.requests,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cost_usd: usage.costMicros / 1_000_000,
      ...(session ? { session: { input_tokens: session.inputTokens, output_tokens: session.outputTokens, cost_usd: session.costMicros / 1_000_000 } } : {}),
    },
  };
}

async function toggleThinking(deps: CommandDeps, { actor, agent, sessionId, args }: Asked): Promise<Answered> {
  const word = args.toLowerCase();
  const session = await deps.sessions.named(actor, agent, sessionId);
  const isOn = word === '' ? !(session.thinking ?? agent.manifest.thinking !== null) : word === 'on';
  const target = await deps.llm.resolve(agent.manifest.model);
  const name = `${target.provider}/${target.model}`;
  if (isOn && !target.canThink) throw commandErrors.cannot_think(name);
  await deps.commit(await deps.sessions.setThinking(actor, session, isOn));
  return { message: isOn ? `${name} thinks before it answers, in this session.` : `${name} answers at once, in this session.`, data: { thinking: isOn } };
}
