/** What a model says in one attempt, and what that is billed as. */
import { tokensOfChars } from '@svc/api';
import type { DriverEvent, LeftOut, ModelAnswer, ModelRequest, Usage } from '../contract.js';
import { higher } from '../drivers/token-count.js';
import { type CachedTokens, estimateInput, estimateTokens, usageOf } from '../money/pricing.js';
import type { Resolved } from '../resolution.js';
import { ModelFailure } from './model-failure.js';

const MAX_ANSWER_CHARS = 8_000_000;
/** More of what it thought is neither shown nor stored. */
const MAX_THOUGHT_CHARS = 200_000;

/** What a model has said so far, or in the end. */
export interface Said {
  text: string;
  thoughts: string;
  /** Letters of all that it thought, kept or not. */
  thoughtChars: number;
  readonly calls: Array<{ id: string; name: string; argsText: string; signature?: string; state?: Readonly<Record<string, unknown>> }>;
  /** What the provider wants back with the answer. */
  state?: Readonly<Record<string, unknown>>;
  stop: ModelAnswer['stop'] | undefined;
  /** What it was asked without, until that was told. */
  leftOut: readonly LeftOut[];
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  /** Of the input. */
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}

export interface Listener {
  /** Receives each piece of text as it comes; undefined when nobody listens. */
  readonly onText: ((text: string) => void) | undefined;
  readonly onThought: ((text: string) => void) | undefined;
  /** Told that the text so far was thought. */
  readonly onWasThought?: (() => void) | undefined;
  /** Receives what the model is asked without, before the first thing that it says. */
  readonly onLeftOut?: ((parameters: readonly LeftOut[]) => void) | undefined;
  /** What the wire cannot hold of the caller's parameters: the request goes without. */
  readonly leftOut: readonly LeftOut[];
}

export const nothingSaid = (leftOut: readonly LeftOut[]): Said => ({ text: '', thoughts: '', thoughtChars: 0, calls: [], stop: undefined, leftOut, inputTokens: undefined, outputTokens: undefined });

export const take = (said: Said, event: DriverEvent, { onText, onThought, onWasThought, onLeftOut, leftOut }: Listener): void => {
  if (event.type !== 'left_out' && said.leftOut.length > 0) {
    onLeftOut?.(said.leftOut);
    said.leftOut = [];
  }
  switch (event.type) {
    case 'left_out':
      said.leftOut = [...leftOut, ...event.leftOut];
      return;
    case 'text':
      if (said.text.length + event.text.length > MAX_ANSWER_CHARS) throw new ModelFailure('garbage', 'the answer is longer than 8 million letters');
      said.text += event.text;
      onText?.(event.text);
      return;
    case 'thought':
      takeThought(said, event.text, onThought);
      return;
    case 'call':
      said.calls.push({
        id: event.id,
        name: event.name,
        argsText: event.argsText,
        ...(event.signature === undefined ? {} : { signature: event.signature }),
        ...(event.state === undefined ? {} : { state: event.state }),
      });
      return;
    case 'was_thought':
      takeThought(said, said.text, undefined);
      said.text = '';
      onWasThought?.();
      return;
    case 'state':
      said.state = event.state;
      return;
    case 'usage':
      // A driver of another extension may pass on anything. A later count that is lower, or none, takes nothing back.
      said.inputTokens = higher(said.inputTokens, event.inputTokens);
      said.outputTokens = higher(said.outputTokens, event.outputTokens);
      said.cacheReadTokens = higher(said.cacheReadTokens, event.cacheReadTokens);
      said.cacheWriteTokens = higher(said.cacheWriteTokens, event.cacheWriteTokens);
      return;
    case 'stop':
      said.stop = event.reason;
  }
};

const takeThought = (said: Said, text: string, onThought: ((text: string) => void) | undefined): void => {
  const kept = text.slice(0, MAX_THOUGHT_CHARS - said.thoughts.length);
  said.thoughtChars += text.length;
  said.thoughts += kept;
  if (kept !== '') onThought?.(kept);
};

/** What is billed: the provider's numbers, else an estimate. A failure without a word or a number costs nothing. */
export const usageSoFar = ({ resolved, request }: { readonly resolved: Resolved; readonly request: ModelRequest }, said: Said, isWhole: boolean): Usage | undefined => {
  const isSilent = said.text === '' && said.thoughtChars === 0 && said.inputTokens === undefined && said.outputTokens === undefined;
  if (isSilent && !isWhole) return undefined;
  const estimated = said.inputTokens === undefined || said.outputTokens === undefined || (!isWhole && (said.text !== '' || said.thoughtChars > 0));
  const inputTokens = said.inputTokens ?? estimateInput(request);
  // In the middle of a stream the provider's count is the one it began with.
  const counted = isWhole ? (said.outputTokens ?? estimateOutput(said)) : Math.max(said.outputTokens ?? 0, estimateOutput(said));
  return usageOf(resolved.price, { inputTokens, outputTokens: counted, estimated, ...(said.inputTokens === undefined ? {} : cachedIn(said)) });
};

const cachedIn = ({ cacheReadTokens, cacheWriteTokens }: Said): CachedTokens => ({ cacheReadTokens, cacheWriteTokens });

/** What was thought is paid for like what was said. */
const estimateOutput = (said: Said): number => estimateTokens(said.text) + tokensOfChars(said.thoughtChars) + said.calls.reduce((sum, call) => sum + estimateTokens(call.name + call.argsText), 0);
