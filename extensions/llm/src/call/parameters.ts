/**
 * What a caller asks of one call beside the messages, and which wires can hold it.
 *
 * P1  What was asked for is sent, or the call is refused and the parameter named. Nothing is left out in silence.
 * P2  A wire says here what it cannot hold at all. What only one model refuses is known when it was asked: parameters of the caller
 *     are never left out then (adaptation.ts).
 */
import type { Parameters } from '../contract.js';

/** The names that callers know, as the chat-completions protocol has them. */
export type ParameterName = 'temperature' | 'top_p' | 'stop' | 'seed' | 'response_format';

export interface Refusal {
  readonly parameter: ParameterName;
  /** Goes on a sentence that names the model. */
  readonly why: string;
}

type Judge = (asked: Parameters) => Refusal | undefined;

const MAX_SEED = 2_147_483_647;
const ANTHROPIC_MAX_TEMPERATURE = 1;
const UNKNOWN_WIRE = 'the driver of its provider does not say that it takes it';

const refuse = (parameter: ParameterName, why: string): Refusal => ({ parameter, why });

const anthropic: Judge = ({ seed, format, temperature }) => {
  if (seed !== undefined) return refuse('seed', 'the protocol of Anthropic has none');
  if (format !== undefined) return refuse('response_format', 'the protocol of Anthropic has no form of the whole answer');
  if (temperature !== undefined && temperature > ANTHROPIC_MAX_TEMPERATURE) return refuse('temperature', `the protocol of Anthropic takes 0 to ${ANTHROPIC_MAX_TEMPERATURE}`);
  return undefined;
};

const gemini: Judge = ({ seed }) => (seed !== undefined && Math.abs(seed) > MAX_SEED ? refuse('seed', 'the protocol of Gemini takes whole numbers of 32 bits') : undefined);

/** The stand-in draws nothing by lot, so a temperature and a seed are kept by it as by a model whose answer never varies. */
const builtin: Judge = ({ stop, format }) => {
  if (stop !== undefined) return refuse('stop', 'the stand-in is no language model');
  if (format !== undefined) return refuse('response_format', 'the stand-in is no language model');
  return undefined;
};

const foreign: Judge = ({ topP, stop, seed, format }) => {
  const named: ReadonlyArray<readonly [ParameterName, unknown]> = [
    ['top_p', topP],
    ['stop', stop],
    ['seed', seed],
    ['response_format', format],
  ];
  const [first] = named.filter(([, value]) => value !== undefined);
  return first && refuse(first[0], UNKNOWN_WIRE);
};

const JUDGES: Readonly<Record<string, Judge>> = { openai: () => undefined, anthropic, gemini, builtin };

/** The first of these that a wire cannot hold. */
export const refusedBy = (wire: string, asked: Parameters | undefined): Refusal | undefined => (asked === undefined ? undefined : (JUDGES[wire] ?? foreign)(asked));

const SAID: ReadonlyArray<readonly [keyof Parameters, ParameterName, RegExp]> = [
  ['temperature', 'temperature', /temperature/i],
  ['topP', 'top_p', /top_?p\b/i],
  ['stop', 'stop', /\bstop(?:_?sequences)?\b/i],
  ['seed', 'seed', /\bseed\b/i],
  ['format', 'response_format', /response_?format|response_?mime_?type|response_?(?:json_?)?schema|json_?(?:schema|object|mode)/i],
];
const REFUSES = /unsupported|not supported|does not support|unrecognized|unknown|not permitted|not allowed|cannot both|deprecated|invalid|only the default|must|may only/i;

/** The parameter of the caller that a provider's refusal is about. */
export const namedIn = (said: string, asked: Parameters | undefined): ParameterName | undefined =>
  asked === undefined || !REFUSES.test(said) ? undefined : SAID.find(([key, , pattern]) => asked[key] !== undefined && pattern.test(said))?.[1];
