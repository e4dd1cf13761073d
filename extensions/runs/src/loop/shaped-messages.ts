/**
 * Whether what others made of a conversation can be sent to a model.
 *
 * S1  The newest message stays, and every tool call keeps its result.
 */
import type { ModelMessage } from '@svc/ext-llm/contract';

/** Why `after` cannot be sent in place of `before`; undefined where it can. */
export const messagesFault = (before: readonly ModelMessage[], after: readonly ModelMessage[]): string | undefined => {
  if (after.length === 0) return 'there are no messages';
  if (JSON.stringify(after.at(-1)) !== JSON.stringify(before.at(-1))) return 'the newest message is not the last one as it was';
  if (before[0]?.role === 'user' && after[0]?.role !== 'user') return 'the first message is not of the user';
  const seen = new Set<string>();
  for (const [at, { role, parts }] of after.entries()) {
    if (parts.length === 0) return `the message ${at + 1} is empty`;
    const calls = idsOf(parts, 'tool_call');
    if (calls.some((id) => seen.has(id))) return `the tool call ${calls.find((id) => seen.has(id)) ?? ''} is there twice`;
    for (const id of calls) seen.add(id);
    if (role === 'user' && calls.length > 0) return `the message ${at + 1} is of the user and calls a tool`;
    const next = after[at + 1];
    const results = next?.role === 'user' ? idsOf(next.parts, 'tool_result') : [];
    // The newest call may wait for its results, as it did before.
    const lost = next === undefined ? undefined : calls.find((id) => !results.includes(id));
    if (lost !== undefined) return `the tool call ${lost} lost its result`;
    const asked = at === 0 ? [] : idsOf(after[at - 1]?.parts ?? [], 'tool_call');
    const orphan = idsOf(parts, 'tool_result').find((id) => !asked.includes(id));
    if (orphan !== undefined) return `the result ${orphan} lost its tool call`;
  }
  return undefined;
};

/** Providers want the roles to take turns. */
export const inTurns = (messages: readonly ModelMessage[]): ModelMessage[] => {
  const joined: Array<{ role: ModelMessage['role']; parts: ModelMessage['parts'] }> = [];
  for (const { role, parts } of messages) {
    const last = joined.at(-1);
    if (last?.role === role) last.parts = [...last.parts, ...parts];
    else joined.push({ role, parts });
  }
  return joined;
};

const idsOf = (parts: ModelMessage['parts'], type: 'tool_call' | 'tool_result'): string[] => parts.flatMap((part) => (part.type === type ? [part.id] : []));
