/** Slash commands, where no conversation has begun: most of them need none, and none is made for those. */
import { daemon, streamMessage } from '@svc/kit';
import { type Beside, besideOf } from './besides.js';
import { newId } from './conversation.js';
import { after, newLiveRun, type Question } from './live-run.js';
import { t } from './words.js';

/** They are about what was said, so that there is nothing to do before anything was. */
const ABOUT_WHAT_WAS_SAID: ReadonlySet<string> = new Set(['new', 'reset', 'reboot', 'compact']);
/** They are about the conversation that begins here, or are said in it. */
const OF_A_CONVERSATION: ReadonlySet<string> = new Set(['think', 'context', 'usage', 'btw']);

/** Undefined for a message; a path such as `/usr/bin` is one. */
const nameOf = (text: string): string | undefined => /^\s*\/(\p{L}[^\s/]*)(?:\s|$)/iu.exec(text)?.[1]?.toLowerCase();

/** The answer of a command that needs no conversation of its own; undefined for what begins one. Rejects with the refusal. */
export const answeredAlone = async (agentId: string, question: Question): Promise<Beside | undefined> => {
  const name = nameOf(question.text);
  if (name === undefined || OF_A_CONVERSATION.has(name)) return undefined;
  const { commands } = await daemon.call('listCommands', { agent_id: agentId });
  // It is a message to the agent, with a skill.
  if (commands.some((command) => command.name === name && command.source === 'skill')) return undefined;
  const id = newId();
  if (ABOUT_WHAT_WAS_SAID.has(name)) return { id, question, command: name, parts: [{ kind: 'text', text: t('nothing_said') }], afterSeq: 0 };
  let live = newLiveRun(id, question);
  for await (const event of streamMessage(daemon, agentId, { message: question.text }, { idempotencyKey: id })) live = after(live, event, performance.now());
  if (live.failure) throw new Error(live.failure.error);
  return besideOf(live, 0);
};
