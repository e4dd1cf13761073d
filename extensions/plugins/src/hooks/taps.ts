/**
 * What the other areas ask the hooks of plugins.
 *
 * A1  Only what fits is used: else the messages, the result or the summary are as they would be without plugins, and the trace says why.
 * A2  Text of a hook counts as text from outside.
 */
import type { Actor, Plain, ToolOutput, ToolRequest } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { ModelMessage } from '@svc/ext-llm/contract';
import { messagesFault, type RunChild, type RunMessages } from '@svc/ext-runs/contract';
import type { CompactionAnswer, SessionCompacting } from '@svc/ext-sessions/contract';
import type { HookName } from '../manifest/manifest.js';
import type { Asked } from './attempt.js';
import { forScript, fromScript } from './script-messages.js';

type Table = Readonly<Record<string, unknown>>;

/** The part of the engine that is asked; here, since the engine itself passes events on. */
export interface Each {
  /** One plugin after the other, the best priority first. `use` gets each response that can be used; once it answers true no other is asked. `agent` is looked up where it is left out. */
  each(
    hook: HookName,
    question: Asked & { readonly actor: Actor; readonly agent?: Agent | undefined },
    ask: () => Pick<Asked, 'more' | 'check'>,
    use: (response: Table, plugin: string) => boolean,
  ): Promise<void>;
}

const MAX_SUMMARY_TOKENS = 1_024;

export const assemble = async (engine: Each, messages: readonly ModelMessage[], context: Plain<(typeof RunMessages)['context'] & object>): Promise<ModelMessage[] | undefined> => {
  const { actor, agent, runId, sessionId, message, peerId, system, contextWindowTokens, kind } = context;
  const read = (response: Table): ModelMessage[] | string => {
    const made = fromScript(response.messages, messages);
    return typeof made === 'string' ? made : (messagesFault(messages, made) ?? made);
  };
  let shaped: ModelMessage[] | undefined;
  await engine.each(
    'assemble',
    { actor, agent, ownerId: agent.ownerId, agentId: agent.id, runId, sessionId, message, peerId: peerId ?? null, isUnkept: kind !== 'normal' },
    () => ({
      more: { system_prompt: system, messages: forScript(messages), context_window_tokens: contextWindowTokens },
      check: (response) => {
        // None at all: the next one is asked, and without it all stays as it is.
        if (Array.isArray(response.messages) && response.messages.length === 0) return null;
        const made = read(response);
        return typeof made === 'string' ? made : null;
      },
    }),
    (response) => {
      const made = read(response);
      if (typeof made !== 'string') shaped = made;
      return shaped !== undefined;
    },
  );
  return shaped;
};

const LEVELS: ReadonlyArray<readonly [from: number, level: string]> = [
  [0.95, 'critical'],
  [0.85, 'aggressive'],
  [0.7, 'moderate'],
];

export const compact = async (engine: Each, question: Plain<(typeof SessionCompacting)['subject']>): Promise<CompactionAnswer | undefined> => {
  const { actor, agentId, sessionId, messages, model, contextWindowTokens, usedTokens } = question;
  const pressure = contextWindowTokens > 0 ? Math.min(1, usedTokens / contextWindowTokens) : 0;
  const recommendation = LEVELS.find(([from]) => pressure >= from)?.[1] ?? 'light';
  let answer: CompactionAnswer | undefined;
  await engine.each(
    'compact',
    { actor, ownerId: actor.ownerId, agentId, runId: null, sessionId, message: '', peerId: null },
    () => ({
      more: {
        messages: forScript(messages),
        model,
        context_window_tokens: contextWindowTokens,
        token_pressure: { used_tokens: usedTokens, max_tokens: contextWindowTokens, pressure: Math.round(pressure * 1_000) / 1_000, recommendation },
      },
      check: (response) => (summaryIn(response) === undefined && !isEmpty(response) ? 'the response has neither a text "summary" nor a list "messages" with texts' : null),
    }),
    (response) => {
      answer = summaryIn(response);
      return answer !== undefined;
    },
  );
  return answer;
};

const isEmpty = ({ summary, messages }: Table): boolean => summary === undefined && Array.isArray(messages) && messages.length === 0;

const summaryIn = ({ type, summary, messages, summarize, keep, max_tokens: maxTokens, prompt }: Table): CompactionAnswer | undefined => {
  if (type === 'request_llm_summary') {
    const text = linesOf(summarize);
    if (text === '') return undefined;
    return {
      text,
      model: {
        instruction: typeof prompt === 'string' && prompt.trim() !== '' ? prompt.slice(0, 20_000) : 'Summarise the conversation below.',
        maxTokens: typeof maxTokens === 'number' && maxTokens >= 1 ? Math.floor(maxTokens) : MAX_SUMMARY_TOKENS,
        keep: linesOf(keep),
      },
    };
  }
  const text = typeof summary === 'string' && summary.trim() !== '' ? summary : linesOf(messages);
  return text === '' ? undefined : { text: text.replaceAll('\0', '') };
};

/** Messages as lines, each with who said it. */
const linesOf = (messages: unknown): string =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((one: unknown) => {
      if (typeof one === 'string') return one.trim() === '' ? [] : [one];
      if (typeof one !== 'object' || one === null || !('content' in one) || typeof one.content !== 'string' || one.content.trim() === '') return [];
      const role = 'role' in one && typeof one.role === 'string' ? one.role : 'user';
      return [`${role}: ${one.content}`];
    })
    .join('\n')
    .replaceAll('\0', '');

export const transform = async (engine: Each, output: ToolOutput, { tool, args, call }: ToolRequest): Promise<ToolOutput | undefined> => {
  let now = output;
  await engine.each(
    'transform_tool_result',
    { actor: call.actor, ownerId: call.actor.ownerId, agentId: call.agentId, runId: call.runId, sessionId: call.sessionId, message: '', peerId: null },
    () => ({
      more: { tool_name: tool.name, tool_use_id: call.callId, input: args, content: now.content, is_error: now.isError ?? false, status: now.status ?? (now.isError ? 'error' : 'completed') },
      check: ({ content }) => (content === undefined || content === null || typeof content === 'string' ? null : '"content" is no text'),
    }),
    ({ content }, plugin) => {
      if (typeof content === 'string' && content !== now.content)
        now = {
          ...now,
          content: content.replaceAll('\0', ''),
          origin: { ...now.origin, labels: [...new Set([...(now.origin?.labels ?? []), 'ExternalNetwork' as const])], source: `${now.origin?.source ?? tool.name}, changed by the plugin ${plugin}` },
        };
      return false;
    },
  );
  return now === output ? undefined : now;
};

export const child = (engine: Each, { moment, actor, parentId, childId, parentRunId, sessionId, message }: Plain<(typeof RunChild)['subject']>): Promise<void> =>
  engine.each(
    moment === 'start' ? 'prepare_subagent' : 'merge_subagent',
    { actor, ownerId: actor.ownerId, agentId: parentId, runId: parentRunId, sessionId, message, peerId: null },
    () => ({ more: { parent_id: parentId, child_id: childId } }),
    () => false,
  );

export const events = (
  engine: Each,
  asked: { readonly actor: Actor; readonly agentId: string; readonly sessionId: string | null; readonly runId: string | null },
  found: unknown,
  plugin: string,
): Promise<void> =>
  Promise.all(
    eventsIn(found).map((event) =>
      engine.each(
        'on_event',
        { ...asked, ownerId: asked.actor.ownerId, message: '', peerId: null },
        () => ({ more: { event: { ...event, source_plugin: plugin } } }),
        () => false,
      ),
    ),
  ).then(() => undefined);

const MAX_EVENTS = 16;

const eventsIn = (found: unknown): Array<{ name: string; payload: unknown }> =>
  (Array.isArray(found) ? found : [])
    .flatMap((one: unknown) =>
      typeof one === 'object' && one !== null && 'name' in one && typeof one.name === 'string' && one.name !== '' ? [{ name: one.name, payload: 'payload' in one ? one.payload : null }] : [],
    )
    .slice(0, MAX_EVENTS);
