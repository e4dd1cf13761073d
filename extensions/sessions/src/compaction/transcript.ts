/** A conversation as the text that a model summarises. */
import type { Agent } from '@svc/ext-agents/contract';
import type { ModelRequest } from '@svc/ext-llm/contract';
import type { Entry } from '../contract.js';
import { projectEntries } from '../projection.js';

const MAX_SUMMARY_TOKENS = 1_024;
/** Of each document that was put with a message: it must not crowd out what was said. */
const MAX_ATTACHED_CHARS = 4_000;
/** Of arguments and results of tools. */
const MAX_DETAIL_CHARS = 500;
const INSTRUCTION =
  'Summarise the conversation below for the assistant that will continue it. Keep facts, decisions, names, numbers, files and open tasks; leave out small talk. Write in the language of the user, in at most 600 words.';

export interface Piece {
  readonly text: string;
  /** Messages that it is of. */
  readonly messages: number;
}

/** In order, each of at most `maxChars`, parted between entries where that is possible. */
export function piecesOf(entries: readonly Entry[], maxChars: number): Piece[] {
  const pieces: Piece[] = [];
  let held: Entry[] = [];
  let text = '';
  const end = (): void => {
    if (text !== '') pieces.push({ text, messages: projectEntries(held, Number.MAX_SAFE_INTEGER).messages.length });
    held = [];
    text = '';
  };
  for (const entry of entries) {
    const line = lineOf(entry);
    for (let at = 0; at < Math.max(1, line.length); at += maxChars) {
      const part = line.slice(at, at + maxChars);
      if (text !== '' && text.length + part.length + 1 > maxChars) end();
      text = text === '' ? part : `${text}\n${part}`;
      if (at === 0) held.push(entry);
    }
  }
  end();
  return pieces;
}

const lineOf = (entry: Entry): string => {
  const text = (entry.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.file ? part.text.slice(0, MAX_ATTACHED_CHARS) : part.text] : ['[image]'])).join(' ');
  if (entry.kind === 'user') return `User: ${text}`;
  if (entry.kind === 'assistant') return `Assistant: ${text}`;
  if (entry.kind === 'summary') return `Earlier: ${entry.content ?? ''}`;
  if (entry.kind === 'recall') return `Recalled: ${(entry.content ?? '').slice(0, MAX_DETAIL_CHARS)}`;
  if (entry.kind === 'note') return `Note: ${entry.content ?? ''}`;
  if (entry.kind === 'tool_call') return `Assistant called ${entry.tool ?? ''} ${JSON.stringify(entry.args ?? {}).slice(0, MAX_DETAIL_CHARS)}`;
  return `Result of ${entry.tool ?? ''}: ${(entry.content ?? '').slice(0, MAX_DETAIL_CHARS)}`;
};

export const requestOf = (agent: Agent, transcript: string, other?: { readonly instruction: string; readonly maxTokens: number }): ModelRequest => ({
  provider: agent.manifest.model.provider,
  model: agent.manifest.model.model,
  fallbacks: agent.manifest.fallback_models,
  system: other?.instruction ?? INSTRUCTION,
  messages: [{ role: 'user', parts: [{ type: 'text', text: transcript }] }],
  tools: [],
  maxTokens: other?.maxTokens ?? MAX_SUMMARY_TOKENS,
  temperature: 0.3,
});
