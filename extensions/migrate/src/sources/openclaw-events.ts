/**
 * The log of an OpenClaw session, in files and in its database: one event a line, each of which names the one before it.
 *
 * O1  A log whose events have two followers is a tree: its newest leaf is the conversation, each other leaf a branch of it.
 * O2  A branch has its messages from the beginning on; those that it shares are not counted again.
 */
import type { Via } from '@svc/ext-sessions/contract';
import { flatText, messageEntries, noteEntry, resultEntry } from './entries.js';
import { isTable, type SourceMessage, type SourceSession, type Table, tableOf, textOf, timeOf } from './model.js';

export interface OpenClawSession {
  readonly key: string;
  readonly agent: string;
  readonly label: string | null;
  readonly isArchived: boolean;
  readonly createdAt: string;
  readonly channel?: string;
}

const CHANNEL = /^[a-z][a-z0-9_-]{0,63}$/;

/** Sessions of one log: the conversation, then its branches. Without messages, none. */
export const sessionsOf = (session: OpenClawSession, events: readonly Table[]): SourceSession[] => {
  const header = events.find(({ type }) => type === 'session');
  const createdAt = timeOf(header?.timestamp) ?? session.createdAt;
  const said = events.filter(({ type }) => type !== 'session');
  const [main = [], ...others] = pathsOf(said);
  const via: Via = { channel: session.channel !== undefined && CHANNEL.test(session.channel) ? session.channel : 'openclaw', account: session.agent.slice(0, 200), chat: session.key.slice(0, 200) };
  const { agent, isArchived } = session;
  const of = (path: readonly Table[]) =>
    async function* (): AsyncGenerator<SourceMessage> {
      yield* messagesOf(path, createdAt, via);
    };
  const label = session.label;
  const whole: SourceSession = { key: session.key, agent, label, createdAt, isArchived, messages: of(main) };
  const branches = others.map((path): SourceSession => {
    const shared = path.findIndex((event, index) => event !== main[index]);
    const messages = path.slice(0, shared < 0 ? path.length : shared).filter(isMessage).length;
    return { key: `${session.key}/${String(path.at(-1)?.id ?? '')}`, agent, label, createdAt, isArchived, isUnchosen: true, branch: { from: session.key, messages }, messages: of(path) };
  });
  return [whole, ...branches.filter(({ branch }) => branch !== undefined)];
};

/** From the root to each leaf, the newest leaf first. A log without parents is one path. */
export const pathsOf = (events: readonly Table[]): Table[][] => {
  const byId = new Map(events.flatMap((event) => (typeof event.id === 'string' ? [[event.id, event] as const] : [])));
  if (byId.size === 0 || !events.some(({ parentId }) => typeof parentId === 'string')) return [[...events]];
  const parents = new Set(events.map(({ parentId }) => parentId));
  const leaves = events.filter((event) => typeof event.id === 'string' && !parents.has(event.id) && (isMessage(event) || event === events.at(-1)));
  const paths = leaves.map((leaf) => {
    const path: Table[] = [];
    const seen = new Set<Table>();
    for (let at: Table | undefined = leaf; at && !seen.has(at); at = typeof at.parentId === 'string' ? byId.get(at.parentId) : undefined) {
      seen.add(at);
      path.push(at);
    }
    return path.reverse();
  });
  return paths.reverse();
};

export const isMessage = (event: Table): boolean => (event.type === 'message' && isTable(event.message)) || event.type === 'compaction';

function* messagesOf(path: readonly Table[], begun: string, via: Via): Generator<SourceMessage> {
  let at = begun;
  for (const event of path) {
    if (!isMessage(event)) continue;
    const message = tableOf(event.message);
    at = timeOf(message.timestamp) ?? timeOf(event.timestamp) ?? at;
    yield event.type === 'compaction' ? { entries: [noteEntry({ at, via }, `Summary in OpenClaw: ${flatText(event.summary)}`)] } : messageOf(message, at, via);
  }
}

const messageOf = (message: Table, at: string, via: Via): SourceMessage => {
  const role = textOf(message.role) ?? '';
  if (role === 'toolResult' || role === 'tool') {
    return { entries: [resultEntry({ at, via }, textOf(message.toolCallId) ?? '', textOf(message.toolName) ?? 'unknown', flatText(message.content), message.isError === true)] };
  }
  const known = role === 'user' || role === 'assistant' || role === 'system' ? role : 'system';
  return messageEntries({ at, via }, known, message.content ?? (known === 'system' ? (message.output ?? message.summary) : undefined), usedOf(message.usage));
};

const usedOf = (usage: unknown): { inputTokens: number; outputTokens: number; costMicros: number } | undefined => {
  const { input, output, cost } = tableOf(usage);
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const total = tableOf(cost).total;
  return { inputTokens: input, outputTokens: output, costMicros: typeof total === 'number' ? Math.round(total * 1_000_000) : 0 };
};
