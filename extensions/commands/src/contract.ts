/** What commands declares to other areas: words after a slash that come and go while the daemon runs, such as the names of skills. */
import { Actor, defineAsk, defineGather, type Plain, Type } from '@svc/api';
import { Agent } from '@svc/ext-agents/contract';

export const SlashWord = Type.Object({
  name: Type.String({ maxLength: 64, description: 'In lower case, without the slash' }),
  usage: Type.String({ maxLength: 300 }),
  summary: Type.String({ maxLength: 2_000 }),
  source: Type.String({ description: 'What it is: `skill`' }),
});
export type SlashWord = Plain<typeof SlashWord>;

/** Which words there are. Commands that the daemon runs come first: a word of the same name is not listed. */
export const SlashWords = defineGather('slash.words', '1.0.0', {
  policy: 'open',
  budgetMs: 2_000,
  remote: true,
  subject: Type.Object({ actor: Actor, agent: Type.Optional(Agent) }),
  answer: Type.Array(SlashWord),
});

/** A message begins with a word that is no command. Who knows it answers what the agent is given with the message; the message itself goes to the agent. */
export const SlashSaid = defineAsk('slash.said', '1.0.0', {
  policy: 'closed',
  budgetMs: 5_000,
  remote: true,
  subject: Type.Object({ actor: Actor, agent: Agent, name: Type.String({ description: 'As it was typed, in lower case' }) }),
  answer: Type.Object({ prompt: Type.String({ maxLength: 200_000 }) }),
});
