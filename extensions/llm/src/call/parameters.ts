/**
 * What a caller asks of one call beside the messages, and which wires can hold it.
 *
 * P1  What shapes the answer (`stop`, `response_format`) is sent, or the call is refused and the parameter named: a program relies on it.
 * P2  What only changes how words are drawn (`temperature`, `top_p`, the penalties, `seed`) is sent where the model takes that value.
 *     Else it is left out, and the caller is told which and why: clients send these without being asked to.
 * P3  A wire says here what it cannot hold at all. What only one model refuses is known when it was asked (adaptation.ts).
 */
import type { LeftOut, Parameters } from '../contract.js';

/** The names that callers know, as the chat-completions protocol has them. */
export type ParameterName = 'temperature' | 'top_p' | 'presence_penalty' | 'frequency_penalty' | 'seed' | 'stop' | 'response_format' | 'tool_choice' | 'parallel_tool_calls';

type Key = keyof Parameters;
type Rule = (asked: Parameters) => ReadonlyArray<readonly [Key, why: string]>;

interface Known {
  readonly name: ParameterName;
  /** Whether a call goes on without it. */
  readonly mayBeLeftOut: boolean;
  /** How providers write it. */
  readonly said: RegExp;
}

const KNOWN: Readonly<Record<Key, Known>> = {
  temperature: { name: 'temperature', mayBeLeftOut: true, said: /temperature/i },
  topP: { name: 'top_p', mayBeLeftOut: true, said: /top_?p\b/i },
  presencePenalty: { name: 'presence_penalty', mayBeLeftOut: true, said: /presence_?penalty/i },
  frequencyPenalty: { name: 'frequency_penalty', mayBeLeftOut: true, said: /frequency_?penalty/i },
  seed: { name: 'seed', mayBeLeftOut: true, said: /\bseed\b/i },
  stop: { name: 'stop', mayBeLeftOut: false, said: /\bstop(?:_?sequences)?\b/i },
  toolChoice: { name: 'tool_choice', mayBeLeftOut: false, said: /tool_?choice|function_?calling_?config/i },
  parallelToolCalls: { name: 'parallel_tool_calls', mayBeLeftOut: true, said: /parallel_?tool/i },
  format: { name: 'response_format', mayBeLeftOut: false, said: /response_?format|response_?mime_?type|response_?(?:json_?)?schema|json_?(?:schema|object|mode)/i },
};
const KEYS = Object.keys(KNOWN) as readonly Key[];

const MAX_SEED = 2_147_483_647;
const ANTHROPIC_MAX_TEMPERATURE = 1;

const all =
  (why: string, ...keys: readonly Key[]): Rule =>
  (asked) =>
    keys.filter((key) => asked[key] !== undefined).map((key) => [key, why]);

const anthropic: Rule = (asked) => [
  ...all('the protocol of Anthropic has none', 'seed', 'presencePenalty', 'frequencyPenalty')(asked),
  ...all('the protocol of Anthropic has no form of the whole answer', 'format')(asked),
  ...((asked.temperature ?? 0) > ANTHROPIC_MAX_TEMPERATURE ? [['temperature', `the protocol of Anthropic takes 0 to ${ANTHROPIC_MAX_TEMPERATURE}`] as const] : []),
];

const gemini: Rule = ({ seed }) => (seed !== undefined && Math.abs(seed) > MAX_SEED ? [['seed', 'the protocol of Gemini takes whole numbers of 32 bits']] : []);

const RULES: Readonly<Record<string, Rule>> = {
  openai: () => [],
  copilot: () => [],
  anthropic,
  gemini,
  // The mock provider draws nothing by lot: what changes the draw is kept by it as by a model whose answer never varies.
  builtin: all('the mock provider is not a language model', 'stop', 'format', 'toolChoice'),
};
const foreign = all("its provider's driver does not declare support for it", 'topP', 'presencePenalty', 'frequencyPenalty', 'seed', 'stop', 'format', 'toolChoice', 'parallelToolCalls');

export interface Held {
  /** What the wire can be asked with. */
  readonly kept: Parameters | undefined;
  readonly leftOut: readonly LeftOut[];
  /** The first of those that the wire cannot hold and the call cannot go on without. */
  readonly refused?: LeftOut;
}

const NOTHING: Held = { kept: undefined, leftOut: [] };

export const heldBy = (wire: string, asked: Parameters | undefined): Held => {
  if (asked === undefined) return NOTHING;
  const found = (RULES[wire] ?? foreign)(asked);
  const refused = found.find(([key]) => !KNOWN[key].mayBeLeftOut);
  return { ...without(asked, found), ...(refused ? { refused: named(refused) } : {}) };
};

/** The request's parameters but for these. */
export const without = (asked: Parameters, found: ReturnType<Rule>): { kept: Parameters | undefined; leftOut: readonly LeftOut[] } => {
  if (found.length === 0) return { kept: asked, leftOut: [] };
  const gone = new Set<string>(found.map(([key]) => key));
  const kept: Parameters = Object.fromEntries(Object.entries(asked).filter(([key]) => !gone.has(key)));
  return { kept: Object.keys(kept).length === 0 ? undefined : kept, leftOut: found.map(named) };
};

const named = ([key, why]: readonly [Key, string]): LeftOut => ({ parameter: KNOWN[key].name, why });

const REFUSES = /unsupported|not supported|does not support|unrecognized|unknown|not permitted|not allowed|cannot both|deprecated|invalid|only the default|must|may only/i;

/** The parameter of the caller that a provider's refusal is about. */
export const namedIn = (said: string, asked: Parameters | undefined): { key: Key; name: ParameterName; mayBeLeftOut: boolean } | undefined => {
  if (asked === undefined || !REFUSES.test(said)) return undefined;
  const key = KEYS.find((one) => asked[one] !== undefined && KNOWN[one].said.test(said));
  return key && { key, name: KNOWN[key].name, mayBeLeftOut: KNOWN[key].mayBeLeftOut };
};
