/**
 * Forty providers speak `the same` protocol and refuse different parts of it. A 400 that names a
 * parameter is answered by leaving that parameter out, once, and remembering it for that model.
 * What shapes the answer is never left out: then the call ends, and the parameter is named. What else the
 * caller asked for is left out and said (P1 and P2 in call/parameters.ts).
 */
import type { DriverTarget, LeftOut, ModelRequest, Parameters } from '../contract.js';
import { ModelFailure } from '../call/model-failure.js';
import { namedIn, without } from '../call/parameters.js';
import type { Emit } from './driver.js';

export interface Adaptation {
  /** The agent's own temperature gives way. */
  readonly noTemperature?: boolean;
  /** OpenAI's reasoning models take one temperature alone. */
  readonly onlyTemperature?: number;
  /** Newer models take a temperature or a top_p, not both. */
  readonly onlyOne?: boolean;
  /** What the model refused of the parameters that a caller may do without. */
  readonly refuses?: ReadonlyArray<keyof Parameters>;
  /** OpenAI's reasoning models call the limit `max_completion_tokens`. */
  readonly completionTokens?: boolean;
  /** Small servers do not know `stream_options`. */
  readonly noStreamOptions?: boolean;
  /** Models that cannot call tools refuse to be told of them. */
  readonly noTools?: boolean;
  /** Mistral takes ids of calls of nine letters and digits alone. */
  readonly shortIds?: boolean;
  /** Models that cannot be told to think refuse to be. */
  readonly noThinking?: boolean;
  /** The amount of thought that they name when they refuse another. */
  readonly effort?: string;
  /** Claude's newer models choose how much they think; older ones must be told. Left out: by the name of the model. */
  readonly isAdaptive?: boolean;
  /** Members that the provider sent with an answer and does not take back. */
  readonly withoutState?: readonly string[];
  /** Models that miss the thought of an answer which another model wrote. */
  readonly wantsThoughts?: boolean;
  /** Templates that take roles in strict turns. */
  readonly bridges?: boolean;
  /** Templates that know no system prompt. */
  readonly noSystem?: boolean;
  /** Servers that speak Anthropic's protocol and do not know `cache_control`. */
  readonly noCaching?: boolean;
}

type Model = Pick<DriverTarget, 'provider' | 'model'>;

const MAX_REMEMBERED = 200;
const MAX_RESENDS = 8;

export interface Adaptations {
  /** Asks and, where the provider refuses a parameter before anything was said, asks again without. */
  run(target: DriverTarget, request: ModelRequest, emit: Emit, ask: (adaptation: Adaptation, request: ModelRequest, emit: Emit) => Promise<void>): Promise<void>;
  /** What of these this model would be asked without, as far as is known. */
  leavesOut(model: Model, request: Pick<ModelRequest, 'parameters' | 'thinking'>): readonly LeftOut[];
}

export const createAdaptations = (initial: (model: Model) => Adaptation): Adaptations => {
  const remembered = new Map<string, Adaptation>();
  const known = (model: Model, key: string): Adaptation => remembered.get(key) ?? initial(model);
  return {
    run: async (target, request, emit, ask) => {
      const key = keyOf(target, request);
      for (let resends = 0; ; resends++) {
        const adaptation = known(target, key);
        const { fitted, leftOut } = fittedTo(adaptation, request);
        if (leftOut.length > 0) emit({ type: 'left_out', leftOut });
        let hasSpoken = false;
        try {
          await ask(adaptation, fitted, (event) => {
            hasSpoken ||= event.type !== 'left_out' && event.type !== 'usage';
            emit(event);
          });
          return;
        } catch (error) {
          if (!(error instanceof ModelFailure) || resends >= MAX_RESENDS || hasSpoken) throw error;
          const next = nextOf(adaptation, error, fitted);
          if (!next) throw error;
          if (remembered.size >= MAX_REMEMBERED) remembered.clear();
          remembered.set(key, next);
        }
      }
    },
    leavesOut: (model, request) => fittedTo(known(model, keyOf(model, request)), request).leftOut,
  };
};

/** What a model takes while it thinks is another matter. */
const keyOf = ({ provider, model }: Model, { thinking }: Pick<ModelRequest, 'thinking'>): string => `${provider}\n${model}${thinking === undefined ? '' : '\nthinks'}`;

const fittedTo = <T extends Pick<ModelRequest, 'parameters' | 'thinking'>>(adaptation: Adaptation, request: T): { fitted: T; leftOut: readonly LeftOut[] } => {
  if (!adaptation.noThinking || request.thinking === undefined) return fittedParameters(adaptation, request);
  const { thinking: _refused, ...unthinking } = request;
  const { fitted, leftOut } = fittedParameters(adaptation, unthinking as T);
  return { fitted, leftOut: [...leftOut, { parameter: 'thinking', why: 'the model refuses it' }] };
};

const fittedParameters = <T extends Pick<ModelRequest, 'parameters'>>(adaptation: Adaptation, request: T): { fitted: T; leftOut: readonly LeftOut[] } => {
  const { parameters: asked, ...rest } = request;
  if (asked === undefined) return { fitted: request, leftOut: [] };
  const { onlyTemperature: only, onlyOne, refuses = [] } = adaptation;
  const found: Array<readonly [keyof Parameters, string]> = refuses.filter((name) => asked[name] !== undefined).map((name) => [name, 'the model refuses it']);
  const takesTemperature = asked.temperature !== undefined && !refuses.includes('temperature') && (only === undefined || asked.temperature === only);
  if (asked.temperature !== undefined && !takesTemperature && !refuses.includes('temperature')) found.push(['temperature', `the model takes only ${only}`]);
  if (onlyOne && takesTemperature && asked.topP !== undefined && !refuses.includes('topP')) found.push(['topP', 'the model takes temperature or top_p, not both']);
  const { kept, leftOut } = without(asked, found);
  if (leftOut.length === 0) return { fitted: request, leftOut };
  return { fitted: { ...rest, ...(kept ? { parameters: kept } : {}) } as T, leftOut };
};

/** The caller's stands above the agent's, which gives way to what the model takes and to a top_p of the caller. */
export const temperatureOf = ({ temperature, parameters }: ModelRequest, { noTemperature, onlyTemperature: only, onlyOne, refuses }: Adaptation): number | undefined => {
  if (parameters?.temperature !== undefined) return parameters.temperature;
  if (noTemperature || refuses?.includes('temperature') || (onlyOne && parameters?.topP !== undefined)) return undefined;
  return only === undefined || temperature === only ? temperature : undefined;
};

const ONLY_ONE = /temperature.*top_?p.*\b(?:both|one of|either)\b|\b(?:both|one of|either)\b.*temperature.*top_?p|temperature.*\b(?:both|one of|either)\b.*top_?p/is;
const ONLY_DEFAULT = /only the default \(?1\b|(?:must be|may only be set to|only supports?) 1\b/i;

/** Servers of one's own say with 500, or in a stream, what their template refuses. */
const OF_TEMPLATES: readonly unknown[] = [200, 422, 500];

const nextOf = (now: Adaptation, error: ModelFailure, request: ModelRequest): Adaptation | undefined => {
  if (error.httpStatus === 400) return ofHistory(now, error) ?? adapted(now, error, request);
  return OF_TEMPLATES.includes(error.httpStatus) && !error.isOfAnswer ? ofHistory(now, error) : undefined;
};

const STATE_MEMBERS = [
  'reasoning_content',
  'reasoning_details',
  'reasoning_text',
  'reasoning_opaque',
  'reasoning',
  'thinking_blocks',
  'extra_content',
  'provider_specific_fields',
  'content_prefix',
  'blocks',
];
const UNWANTED = /unsupported|not supported|unrecognized|unknown|not permitted|not allowed|unexpected|invalid|extra (?:inputs|fields|forbidden)|extra_forbidden|should not|must not|cannot/i;
const MISSED = /missing|must be (?:passed|provided|included|present|preserved)|required|passed back/i;
const TURNS =
  /unexpected role|roles? must alternate|expected last role|after role|must alternate|alternate user|last message must be|end with a user message|assistant message prefill|must have either content or tool_calls/i;
const NO_SYSTEM = /system role (?:is )?not supported|system (?:message|prompt|instruction)s? (?:is|are) not supported|does not support (?:the )?system (?:role|message|prompt)/i;

/** What a refusal wants otherwise in the messages before. Each once: a provider that wants both is not pleased by turns. */
const ofHistory = (now: Adaptation, { message: said }: ModelFailure): Adaptation | undefined => {
  if (/reasoning_content|reasoning content/i.test(said) && MISSED.test(said) && !now.wantsThoughts)
    return { ...now, wantsThoughts: true, withoutState: (now.withoutState ?? []).filter((name) => name !== 'reasoning_content') };
  const member = STATE_MEMBERS.find((name) => new RegExp(`(?:^|[^a-z_])${name}(?![a-z_])`).test(said));
  const isOfMessages = member !== undefined && (/messages?\b|property|body/.test(said) || !/^reasoning$/.test(member));
  if (member !== undefined && isOfMessages && UNWANTED.test(said) && !now.wantsThoughts && !now.withoutState?.includes(member)) return { ...now, withoutState: [...(now.withoutState ?? []), member] };
  if (/thinking.{0,80}(?:signature|cannot be modified)|signature.{0,80}thinking|invalid.{0,20}signature/is.test(said) && !now.withoutState?.includes('blocks'))
    return { ...now, withoutState: [...(now.withoutState ?? []), 'blocks'] };
  if (TURNS.test(said) && !now.bridges) return { ...now, bridges: true };
  if (NO_SYSTEM.test(said) && !now.noSystem) return { ...now, noSystem: true };
  return undefined;
};

const EFFORTS = ['high', 'medium', 'default', 'low', 'max', 'xhigh', 'on'] as const;

/** The amount that a refusal names instead. */
const effortNamed = (now: Adaptation, said: string): string | undefined =>
  now.effort === undefined && /effort/i.test(said)
    ? EFFORTS.find((one) => new RegExp(`["'\`]${one}["'\`]`).test(said.replace(/^.{0,300}?(?:must be|one of|supported values|expected|allowed|valid)/is, '')))
    : undefined;

/** What to leave out next; undefined when the refusal names nothing that can be. Throws where it names what must not be. */
const adapted = (now: Adaptation, error: ModelFailure, request: ModelRequest): Adaptation | undefined => {
  const said = error.message;
  if (ONLY_ONE.test(said) && !now.onlyOne) return { ...now, onlyOne: true };
  const parameter = namedIn(said, request.parameters);
  if (parameter && !parameter.mayBeLeftOut) throw new ModelFailure('bad_request', said, { parameter: parameter.name, httpStatus: error.httpStatus, cause: error });
  if (parameter) {
    if (parameter.key === 'temperature' && ONLY_DEFAULT.test(said) && now.onlyTemperature === undefined) return { ...now, onlyTemperature: 1 };
    return { ...now, refuses: [...(now.refuses ?? []), parameter.key] };
  }
  if (/tool call id/i.test(said) && /length of 9/i.test(said) && !now.shortIds) return { ...now, shortIds: true };
  // Before the others: it may be named as a part of `tools` or `system`.
  if (/cache_control/.test(said) && !now.noCaching) return { ...now, noCaching: true };
  if (/max_completion_tokens/.test(said) && !now.completionTokens) return { ...now, completionTokens: true };
  if (/thinking\.type\.enabled|thinking.{0,40}adaptive|adaptive.{0,40}thinking/is.test(said) && now.isAdaptive === undefined && request.thinking)
    return { ...now, isAdaptive: !/adaptive.{0,60}(?:not supported|unsupported|not available)/is.test(said) };
  const effort = request.thinking ? effortNamed(now, said) : undefined;
  if (effort !== undefined) return { ...now, effort };
  if (/thinking|reasoning_effort|chat_template_kwargs|output_config|\breasoning\b/.test(said) && request.thinking && !now.noThinking) return { ...now, noThinking: true };
  if (/temperature/.test(said) && !now.noTemperature) return { ...now, noTemperature: true };
  if (/stream_options/.test(said) && !now.noStreamOptions) return { ...now, noStreamOptions: true };
  if (/tool/.test(said) && /support/.test(said) && !now.noTools) return { ...now, noTools: true };
  return undefined;
};
