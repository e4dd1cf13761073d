/**
 * The rehearsal mock provider: deterministic, without network, no model at all. It drives a few tools from plain
 * requests, so that every part of the daemon can be seen and tested before anybody has a key, and it says what it is.
 */
import { createHash } from 'node:crypto';
import type { ContentPart, ModelRequest } from '../contract.js';
import type { Driver, Emit } from './driver.js';
import { hashingVectors } from './embedding/hashing.js';
import { ModelFailure } from '../call/model-failure.js';
import { type Step, stepsOf } from './plain-request.js';

const DELTA_CHARS = 24;
const MAX_ECHO_CHARS = 160;
const MAX_SHOWN_CHARS = 4_000;

const INTRODUCTION = 'This is the built-in mock provider, not a language model: no model provider is set up yet.';
const ABILITIES = 'It can drive tools from plain requests, for example: "write hello to notes.txt then read it", "list files", "what time is it", "calculate 2+3*4".';
const WAY_OUT = "For real answers, set a provider's key: `svc providers set-key anthropic` (or openai, openrouter, groq, …).";

export const createBuiltinDriver = (): Driver => ({
  ask: async (_target, request, signal, emit) => rehearse(request, signal, emit),
  embed: async (_target, batch) => hashingVectors(batch),
});

function rehearse(request: ModelRequest, signal: AbortSignal, emit: Emit): void {
  const turn = currentTurn(request);
  const steps = stepsOf(turn.text);
  const calls = steps.filter((step) => step.do === 'call');
  const next = turn.results.some((result) => result.isError) ? undefined : calls[turn.results.length];
  if (next && request.tools.some((tool) => tool.name === next.tool)) {
    emit({ type: 'call', id: callId(request, turn), name: next.tool, argsText: JSON.stringify(next.args) });
    emit({ type: 'stop', reason: 'tool_calls' });
    return;
  }
  for (const text of deltas(answer(turn, steps, next))) {
    if (signal.aborted) throw new ModelFailure('cancelled', 'the call was cancelled');
    emit({ type: 'text', text });
  }
  emit({ type: 'stop', reason: 'end' });
}

interface Turn {
  /** What the person asked last. */
  readonly text: string;
  /** What the tools called since then gave, oldest first. */
  readonly results: ReadonlyArray<Extract<ContentPart, { type: 'tool_result' }>>;
}

const currentTurn = (request: ModelRequest): Turn => {
  const results: Array<Extract<ContentPart, { type: 'tool_result' }>> = [];
  for (let at = request.messages.length - 1; at >= 0; at--) {
    const message = request.messages[at];
    if (message?.role !== 'user') continue;
    const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    results.unshift(...message.parts.filter((part) => part.type === 'tool_result'));
    if (text.trim() !== '') return { text, results };
  }
  return { text: '', results };
};

/** The same request gives the same id; another call of the same session never does. */
const callId = (request: ModelRequest, turn: Turn): string => `call_${createHash('sha256').update(`${request.messages.length}\n${turn.results.length}\n${turn.text}`).digest('hex').slice(0, 20)}`;

const answer = (turn: Turn, steps: readonly Step[], blocked: Extract<Step, { do: 'call' }> | undefined): string => {
  if (steps.length === 0) {
    const echo = turn.text.trim() === '' ? 'There was no text to understand.' : `What it read: "${shortened(turn.text)}" (it cannot answer that).`;
    return [INTRODUCTION, echo, ABILITIES, WAY_OUT].join('\n\n');
  }
  const lines = done(turn, steps);
  if (blocked) lines.push(`The next step would call ${blocked.tool}, but this agent may not use that tool.`);
  return [...lines, `(${INTRODUCTION} ${WAY_OUT})`].join('\n\n');
};

/** One line per step that was done, in the order in which they were asked. */
const done = (turn: Turn, steps: readonly Step[]): string[] => {
  const lines: string[] = [];
  let index = 0;
  for (const step of steps) {
    if (step.do === 'say') {
      lines.push(step.text);
      continue;
    }
    const result = turn.results[index++];
    if (!result) break;
    lines.push(`${result.isError ? 'Failed' : 'Done'}: ${described(step)}\n${result.content.slice(0, MAX_SHOWN_CHARS)}`);
    if (result.isError) break;
  }
  return lines;
};

const described = ({ tool, args }: Extract<Step, { do: 'call' }>): string => (args.path === undefined ? tool : `${tool} ${args.path}`);

const shortened = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_ECHO_CHARS ? `${line.slice(0, MAX_ECHO_CHARS)}…` : line;
};

/** Pieces that end between words, as a real model's do. */
const deltas = (text: string): string[] => text.match(new RegExp(String.raw`[\s\S]{1,${DELTA_CHARS}}(?:\s|$)|[\s\S]{1,${DELTA_CHARS}}`, 'g')) ?? [];
