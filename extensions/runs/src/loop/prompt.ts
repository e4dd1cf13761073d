/**
 * What other areas put into a prompt.
 *
 * Q1  The base prompt, what is added to it and what is recalled are each asked for once for a message, however many model calls answer it.
 * Q2  What is recalled is stored before its question, in the same commit, and never changes: prompt caches hold, and whoever reads the log later reads it.
 * Q3  A run that continues later or elsewhere has the prompt that it began with.
 * Q4  Nobody can recall more than was asked for.
 * Q5  What others make of the messages of a model call is sent only if a model can read it, and is never stored.
 */
import { type Actor, type HookHandle, type LeasedRun, type Logger, tokensOfChars } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { LlmService, ModelMessage } from '@svc/ext-llm/contract';
import type { EntryDraft } from '@svc/ext-sessions/contract';
import { conversationOf } from '../beside.js';
import type { Recalled, RunContext, RunMessages, RunPrompt, RunRecall } from '../contract.js';
import { type KeptPrompt, messageOf } from '../run-input.js';
import { type Progress, withModelOf } from './progress.js';
import { inTurns, messagesFault } from './shaped-messages.js';

export interface PromptDeps {
  readonly base: HookHandle<typeof RunPrompt>;
  readonly context: HookHandle<typeof RunContext>;
  readonly recall: HookHandle<typeof RunRecall>;
  readonly messages: HookHandle<typeof RunMessages>;
  readonly llm: Pick<LlmService, 'resolve'>;
  readonly log: Logger;
  /** Which language the answer is in; empty where nothing says so. */
  language(): string;
  maxRecallTokens(): number;
}

export interface Prompts {
  /** True while no other area is asked. */
  areOwn(): boolean;
  /** What others make of the prompt. */
  ask(progress: Progress): Promise<KeptPrompt>;
  text(progress: Progress, kept: KeptPrompt): string;
  /** As far as it can be told before a message: the manifest's instructions, and what others add to them. */
  before(actor: Actor, agent: Agent): Promise<string>;
  /** Whether something may be recalled for the message now. */
  recalls(progress: Progress): boolean;
  /** Never rejects: a message is answered without what could not be recalled. */
  recall(progress: Progress): Promise<readonly EntryDraft[]>;
  /** What others make of the messages of a call. Undefined while nobody is asked. */
  shape(progress: Progress, call: { readonly system: string; readonly messages: readonly ModelMessage[]; readonly contextWindow: number }): Promise<readonly ModelMessage[]> | undefined;
}

/** Of what a model reads. */
const RECALL_SHARE = 8;
const MAX_RECALLED = 50;
const NOTHING_ADDED: KeptPrompt = {};

export const createPrompts = (deps: PromptDeps): Prompts => {
  // The first step of a message may be given up and looked for again: whoever was asked is not asked twice.
  const asked = new WeakMap<LeasedRun, Promise<KeptPrompt>>();
  const recalled = new WeakMap<LeasedRun, Promise<readonly EntryDraft[]>>();
  return {
    areOwn: () => deps.base.isEmpty() && deps.context.isEmpty() && deps.recall.isEmpty() && deps.messages.isEmpty(),
    ask: (progress) => {
      const known = asked.get(progress.run);
      if (known) return known;
      const answer = ask(deps, progress);
      asked.set(progress.run, answer);
      return answer;
    },
    text: (progress, kept) => kept.whole ?? `${baseOf(deps, progress, kept.base)}${kept.added ?? ''}`,
    before: async (actor, agent) => {
      const base = joined([agent.manifest.model.system_prompt, deps.language()]);
      return deps.context.isEmpty() ? base : deps.context.call(base, { actor, agent, runId: '', sessionId: agent.sessionId, message: '', text: base });
    },
    recalls: ({ hasRecalled, iterations, input, pendingEntries, staged }) =>
      !hasRecalled && iterations === 0 && input.parts !== undefined && staged === undefined && pendingEntries.at(-1)?.kind === 'user' && !deps.recall.isEmpty(),
    recall: (progress) => {
      const known = recalled.get(progress.run) ?? recall(deps, progress);
      recalled.set(progress.run, known);
      return known;
    },
    shape: (progress, call) => (deps.messages.isEmpty() ? undefined : shape(deps, progress, call)),
  };
};

/** Before the question, which is the last that waits to be stored. */
export const putRecalled = (progress: Progress, entries: readonly EntryDraft[]): void => {
  progress.hasRecalled = true;
  if (entries.length === 0) return;
  const question = progress.pendingEntries.length - 1;
  progress.pendingEntries = [...progress.pendingEntries.slice(0, question), ...entries, ...progress.pendingEntries.slice(question)];
};

const baseOf = (deps: PromptDeps, { agent, input }: Progress, instructions: string | undefined): string =>
  joined([instructions ?? agent.manifest.model.system_prompt, input.systemExtra ?? '', deps.language()]);

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');

const questionOf = ({ actor, agent, run, input }: Progress) => ({
  actor,
  agent,
  runId: run.id,
  sessionId: conversationOf(input),
  message: messageOf(input),
  ...(input.via === undefined ? {} : { via: input.via }),
  ...(input.via?.sender === undefined ? {} : { peerId: input.via.sender }),
});

const ask = async (deps: PromptDeps, progress: Progress): Promise<KeptPrompt> => {
  const isOwn = deps.base.isEmpty();
  if (isOwn && deps.context.isEmpty()) return NOTHING_ADDED;
  const question = questionOf(progress);
  const replaced = isOwn ? undefined : await deps.base.call(question);
  const base = baseOf(deps, progress, replaced?.text);
  const whole = deps.context.isEmpty() ? base : await deps.context.call(base, { ...question, text: base });
  return {
    ...(replaced === undefined ? {} : { base: replaced.text, ...(replaced.source === undefined ? {} : { source: replaced.source }) }),
    ...(whole === base ? {} : whole.startsWith(base) ? { added: whole.slice(base.length) } : { whole }),
  };
};

const kindOf = ({ input: { beside } }: Progress): 'normal' | 'side_question' | 'incognito' | 'stateless' =>
  beside === undefined ? 'normal' : beside.kind === 'ephemeral' ? 'side_question' : beside.kind;

const shape = async (deps: PromptDeps, progress: Progress, { system, messages, contextWindow }: Parameters<Prompts['shape']>[1]): Promise<readonly ModelMessage[]> => {
  try {
    const shaped = await deps.messages.call([...messages], { ...questionOf(progress), kind: kindOf(progress), system, contextWindowTokens: contextWindow });
    const fault = messagesFault(messages, shaped);
    if (fault === undefined) return inTurns(shaped);
    deps.log.warn('the messages of a model call are sent as they were', { run: progress.run.id, why: fault });
  } catch (cause) {
    deps.log.warn('the messages of a model call are sent as they were', { run: progress.run.id, cause });
  }
  return messages;
};

const recall = async (deps: PromptDeps, progress: Progress): Promise<readonly EntryDraft[]> => {
  try {
    const target = await deps.llm.resolve(withModelOf(progress.agent, progress.session).manifest.model);
    const budgetTokens = Math.min(deps.maxRecallTokens(), Math.floor(target.contextWindow / RECALL_SHARE));
    if (budgetTokens === 0) return [];
    const { origin } = progress.input;
    const answers = await deps.recall.call({ ...questionOf(progress), ...(origin === undefined ? {} : { origin }), kind: kindOf(progress), budgetTokens });
    for (const { owner, error } of answers) if (error !== undefined) deps.log.warn('nothing was recalled for a message', { run: progress.run.id, extension: owner, error });
    return withinBudget(
      answers.map(({ owner, value = [] }) => value.map((one) => ({ ...one, by: owner }))),
      budgetTokens,
    ).map(({ id, text, origin, by }) => ({ kind: 'recall', runId: progress.run.id, content: text, origin, recalled: { id, by } }));
  } catch (cause) {
    deps.log.warn('nothing was recalled for a message', { run: progress.run.id, cause });
    return [];
  }
};

/** The best of each, then the second best of each, as long as there is room. */
const withinBudget = <T extends Recalled>(answers: ReadonlyArray<readonly T[]>, budgetTokens: number): T[] => {
  const longest = Math.max(0, ...answers.map(({ length }) => length));
  const turns = Array.from({ length: longest }, (_, rank) => answers.flatMap((answer) => answer[rank] ?? [])).flat();
  let left = budgetTokens;
  return turns
    .filter(({ text }) => {
      const tokens = tokensOfChars(text.length);
      if (text.trim() === '' || tokens > left) return false;
      left -= tokens;
      return true;
    })
    .slice(0, MAX_RECALLED);
};
