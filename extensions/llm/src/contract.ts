/** What llm declares to other areas: one gateway to every model. It owns retries, fallback, usage and cost. */
import { Actor, Nullable, OneOf, type Plain, SealedWrites, type Service, Type, defineEvent, defineService, method, named, streamMethod } from '@svc/api';

/**
 * What a provider wants back with an answer of its model: thoughts, signatures, sealed data. People never see it, and it is sent to that
 * provider and model alone. The names of the members are the provider's own.
 */
export const ProviderState = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  message: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Of the whole answer. Stands with its first part' })),
  call: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Of this call' })),
});
export type ProviderState = Plain<typeof ProviderState>;

export const ContentPart = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String(), state: Type.Optional(ProviderState) }),
  Type.Object({
    type: Type.Literal('image'),
    mediaType: Type.String(),
    data: Type.String({ description: 'Base64' }),
    upload: Type.Optional(Type.String({ description: 'A reference to a picture. The code that builds the request inserts the data; a driver never sees a reference' })),
    ofCall: Type.Optional(Type.String({ description: 'The call that gave it: it stands behind the results' })),
  }),
  Type.Object({
    type: Type.Literal('tool_call'),
    id: Type.String(),
    name: Type.String(),
    args: Type.Unknown(),
    signature: Type.Optional(Type.String({ description: 'Data of the provider that made the call, returned to it unchanged. Entries of today have `state`' })),
    state: Type.Optional(ProviderState),
  }),
  Type.Object({ type: Type.Literal('tool_result'), id: Type.String(), name: Type.String(), content: Type.String(), isError: Type.Boolean() }),
]);
export type ContentPart = Plain<typeof ContentPart>;

/** Provider-neutral. `tool_call` parts stand only in assistant messages, `tool_result` parts only in the user message straight after. */
export const ModelMessage = Type.Object({ role: OneOf(['user', 'assistant']), parts: Type.Array(ContentPart) });
export type ModelMessage = Plain<typeof ModelMessage>;

export const ToolSchema = Type.Object({
  name: Type.String(),
  description: Type.String(),
  parameters: Type.Unknown({ description: 'JSON Schema of the arguments, an object schema' }),
  strict: Type.Optional(Type.Boolean({ description: 'The provider holds the arguments to the schema, where its protocol can' })),
});
export type ToolSchema = Plain<typeof ToolSchema>;

const Choice = Type.Object({ provider: Type.String(), model: Type.String() });

/** A model as settings name it: `PROVIDER/MODEL`, or a name or alias that the default provider is asked for. */
export const choiceNamed = (name: string): Plain<typeof Choice> => {
  const at = name.indexOf('/');
  return { provider: at < 0 ? 'default' : name.slice(0, at), model: name.slice(at + 1) };
};

/** In which form the whole answer comes. */
export const AnswerFormat = Type.Union([
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    schema: Type.Unknown({ description: 'JSON Schema of the answer, an object schema' }),
    strict: Type.Optional(Type.Boolean()),
  }),
]);
export type AnswerFormat = Plain<typeof AnswerFormat>;

/** Whether the model must call a tool: none of them, any of them, or the one of this name. Left out, the model decides. */
export const ToolChoice = Type.Union([Type.Literal('none'), Type.Literal('required'), Type.Object({ name: Type.String() })]);
export type ToolChoice = Plain<typeof ToolChoice>;

/**
 * What a caller asked of this one call. A model that cannot hold `stop`, `format` or `toolChoice` is not asked: `llm_parameter_unsupported` names it.
 * The others are left out for a model that does not take them, and named in `leftOut`.
 */
export const Parameters = Type.Object({
  temperature: Type.Optional(Type.Number({ description: "Instead of the request's own" })),
  topP: Type.Optional(Type.Number()),
  presencePenalty: Type.Optional(Type.Number()),
  frequencyPenalty: Type.Optional(Type.Number()),
  stop: Type.Optional(Type.Array(Type.String())),
  seed: Type.Optional(Type.Integer()),
  format: Type.Optional(AnswerFormat),
  toolChoice: Type.Optional(ToolChoice),
  parallelToolCalls: Type.Optional(Type.Boolean({ description: 'false: at most one call in an answer' })),
});
export type Parameters = Plain<typeof Parameters>;

/** A parameter of the caller that the model was asked without. */
export const LeftOut = Type.Object({
  parameter: Type.String({ description: 'By its name in the chat-completions protocol' }),
  why: Type.String({ description: 'Goes on a sentence about the model' }),
});
export type LeftOut = Plain<typeof LeftOut>;

export const ModelRequest = Type.Object({
  ...Choice.properties,
  fallbacks: Type.Array(Choice),
  system: Type.String(),
  messages: Type.Array(ModelMessage),
  tools: Type.Array(ToolSchema),
  maxTokens: Type.Number(),
  temperature: Type.Optional(Type.Number()),
  parameters: Type.Optional(Parameters),
  timeoutMs: Type.Optional(Type.Number()),
  mayDiscard: Type.Optional(
    Type.Boolean({
      description: 'The caller can take back text that it showed. When an answer breaks off, the model is called again, after a piece `discarded`. By default, half an answer is an error',
    }),
  ),
  thinking: Type.Optional(Type.Object({ budgetTokens: Type.Number() }, { description: 'Thinking budget, in addition to `maxTokens`. Ignored for models that cannot think' })),
});
export type ModelRequest = Plain<typeof ModelRequest>;

export const Usage = Type.Object({
  inputTokens: Type.Number(),
  outputTokens: Type.Number(),
  costMicros: Type.Number(),
  estimated: Type.Optional(Type.Boolean({ description: 'True where the provider sent no numbers and tokens were counted from the text' })),
});
export type Usage = Plain<typeof Usage>;

export const ModelErrorClass = OneOf([
  'auth',
  'rate_limit',
  'overloaded',
  'context_too_long',
  'content',
  'bad_request',
  'model_not_found',
  'credit',
  'timeout',
  'network',
  'server',
  'half_stream',
  'garbage',
  'cancelled',
]);
export type ModelErrorClass = Plain<typeof ModelErrorClass>;

export const Attempt = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  status: OneOf(['ok', 'error']),
  errorClass: Type.Optional(ModelErrorClass),
  message: Type.Optional(Type.String()),
  httpStatus: Type.Optional(Type.Integer()),
  key: Type.Optional(Type.String({ description: 'The name of its key, where the provider has several' })),
  skipped: Type.Optional(Type.Boolean({ description: 'The model was not called: it is known that it cannot answer yet' })),
  latencyMs: Type.Number(),
  waitedMs: Type.Number({ description: 'Milliseconds waited before the next attempt' }),
});
export type Attempt = Plain<typeof Attempt>;

const StopReason = OneOf(['end', 'tool_calls', 'length', 'content_filter']);

export const ModelAnswer = Type.Object({
  text: Type.String(),
  thoughts: Type.Optional(Type.String({ description: "The visible part of the model's thinking" })),
  calls: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      args: Type.Unknown(),
      argsError: Type.Optional(Type.String()),
      signature: Type.Optional(Type.String()),
      state: Type.Optional(ProviderState),
    }),
  ),
  state: Type.Optional(ProviderState),
  stop: StopReason,
  usage: Usage,
  provider: Type.String({ description: 'Who answered, after `default` and fallbacks were resolved' }),
  model: Type.String(),
  attempts: Type.Array(Attempt),
  settle: SealedWrites,
});
export type ModelAnswer = Plain<typeof ModelAnswer>;

/** What is paid for and is not tokens. */
export const Units = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  unit: OneOf(['image', 'second', 'character', 'track']),
  quantity: Type.Integer({ minimum: 0, description: 'The most there will be' }),
  priceMicros: Type.Number({ minimum: 0, description: 'Micro-dollars for one' }),
  lastsMs: Type.Integer({ minimum: 1_000, maximum: 86_400_000, description: 'The longest that it can take. After that, what was reserved counts as used' }),
});
export type Units = Plain<typeof Units>;

export const CallContext = Type.Object({
  actor: Actor,
  agentId: Type.String({ description: 'Empty where a person asks without an agent: limits of all agents together hold' }),
  runId: Type.String(),
  purpose: OneOf(['run', 'compaction', 'probe', 'embedding', 'review', 'title', 'extraction', 'media']),
  begunBy: Type.Optional(OneOf(['person', 'agent'], { description: 'Whose message began the turn; left out if nobody’s' })),
  root: Type.Optional(
    Type.Object(
      { id: Type.String(), limitMicros: Type.Number({ description: '0: no limit' }) },
      { description: 'The root of the run, where no person began it: all calls below it together stay within its limit' },
    ),
  ),
  channel: Type.Optional(Type.String({ description: 'How the message came' })),
  reservation: Type.Optional(Type.String({ description: 'What `reserve` answered, whose writes are committed' })),
});
export type CallContext = Plain<typeof CallContext>;

/** A model failed in a way that passes, and is asked again after a while. */
export const RetryWait = Type.Object({
  retry: Type.Integer({ description: '1 for the first; 0 if the model was not called yet, because of what earlier calls met' }),
  of: Type.Integer({ description: 'Retries at most, of one model' }),
  ms: Type.Integer(),
  why: Type.String({ description: 'The class of the failure' }),
  provider: Type.String(),
});
export type RetryWait = Plain<typeof RetryWait>;

/**
 * What a call says while it goes on: what the model was asked without, pieces of thought and of text, why it waits (what was thought until
 * then is void), that the text so far was thought (`wasThought`) or is void (`discarded`): both only where the request has `mayDiscard`. At the
 * end the whole answer.
 */
export const AnswerPiece = Type.Union([
  Type.Object({ leftOut: Type.Array(LeftOut) }),
  Type.Object({ thought: Type.String() }),
  Type.Object({ text: Type.String() }),
  Type.Object({ wasThought: Type.Literal(true) }),
  Type.Object({ discarded: Type.Object({ why: Type.String({ description: 'The class of the failure' }), provider: Type.String() }) }),
  Type.Object({ waits: RetryWait }),
  Type.Object({ answer: ModelAnswer }),
]);
export type AnswerPiece = Plain<typeof AnswerPiece>;

export const EmbedRequest = Type.Object({
  ...Choice.properties,
  texts: Type.Array(Type.String(), { description: '1 to 1,024 texts, none of them empty, of 2,000,000 characters together' }),
  dimensions: Type.Optional(Type.Integer({ description: 'Dimensions of a vector, 1 to 16,384. A model with fixed dimensions refuses it, or returns vectors of another size' })),
  use: Type.Optional(OneOf(['document', 'query'], { description: 'The kind of text, for models that distinguish documents and queries' })),
  timeoutMs: Type.Optional(Type.Number()),
});
export type EmbedRequest = Plain<typeof EmbedRequest>;

export const EmbedAnswer = Type.Object({
  vectors: Type.Array(Type.Array(Type.Number()), { description: 'One for each text, in their order, all of one length' }),
  provider: Type.String(),
  model: Type.String({ description: 'Vectors of different models are not to be compared' }),
  substitute: Type.Optional(Type.String({ description: 'Set if the vectors are not from a model: what they are instead' })),
  usage: Usage,
  attempts: Type.Array(Attempt),
  settle: SealedWrites,
});
export type EmbedAnswer = Plain<typeof EmbedAnswer>;

/** What a driver is asked: the model, where it is, and how long it may take. */
export const DriverTarget = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  baseUrl: Type.String(),
  secret: Type.Optional(Type.Object({ secret: Type.String(), env: Type.Optional(Type.String()) })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Sent with the request, beside those of the protocol' })),
  timeoutMs: Type.Number(),
  idleTimeoutMs: Type.Optional(Type.Number({ description: 'No byte for this long ends the exchange' })),
  cachesPrompt: Type.Optional(Type.Boolean({ description: 'Whether to ask for caching of the prompt, if the protocol has a word for it' })),
});
export type DriverTarget = Plain<typeof DriverTarget>;

export const DriverEvent = Type.Union([
  Type.Object({ type: Type.Literal('left_out'), leftOut: Type.Array(LeftOut) }),
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('thought'), text: Type.String() }),
  Type.Object({ type: Type.Literal('was_thought') }, { description: 'The text so far was thought: its end was marked, and its beginning was not' }),
  Type.Object({
    type: Type.Literal('call'),
    id: Type.String(),
    name: Type.String(),
    argsText: Type.String(),
    signature: Type.Optional(Type.String()),
    state: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'What the provider wants back with this call' })),
  }),
  Type.Object({ type: Type.Literal('state'), state: Type.Record(Type.String(), Type.Unknown(), { description: 'What the provider wants back with the answer' }) }),
  Type.Object({
    type: Type.Literal('usage'),
    inputTokens: Type.Optional(Type.Number()),
    outputTokens: Type.Optional(Type.Number()),
    cacheReadTokens: Type.Optional(Type.Number({ description: 'Of the input tokens, those that the provider read from its cache' })),
    cacheWriteTokens: Type.Optional(Type.Number({ description: 'Of the input tokens, those that it wrote to its cache' })),
  }),
  Type.Object({ type: Type.Literal('stop'), reason: StopReason }),
]);
export type DriverEvent = Plain<typeof DriverEvent>;

/** What a driver throws as `details` of its error, so that the gateway knows whether to ask again. */
export const DriverFailure = Type.Object({ errorClass: ModelErrorClass, retryAfterMs: Type.Optional(Nullable(Type.Number())) });
export type DriverFailure = Plain<typeof DriverFailure>;

const Driver = defineService('model-driver', '1.0.0', {
  /** One exchange with one model. Cancelled by the call's signal. Ends with `stop`, or throws. */
  stream: streamMethod([DriverTarget, ModelRequest], DriverEvent, { what: 'asks language models with the keys of this daemon, at your cost', changes: true }),
});

/** The driver of one wire: `openai`, `anthropic`, `gemini` and `builtin` are llm's own, any other name an extension may provide. */
export const ModelDriver = (wire: string): typeof Driver => named(Driver, wire);

/** What calls used, by the group that was asked for. */
export const UsageGroup = Type.Object({
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  agentId: Type.Optional(Type.String()),
  start: Type.Optional(Type.String({ description: 'ISO time: when the interval began' })),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  costMicros: Type.Integer(),
  requests: Type.Integer(),
  estimated: Type.Integer({ description: 'How many of them have a cost or tokens that nobody said: a model without a price, a provider without numbers, a call cut off' }),
});
export type UsageGroup = Plain<typeof UsageGroup>;

/** A limit and what counts against it. */
const Standing = Type.Object({
  period: OneOf(['hour', 'day', 'month']),
  limitMicros: Type.Integer({ description: '0: no limit' }),
  usedMicros: Type.Integer(),
  resetAt: Type.String({ description: 'ISO time: when the day or month ends; of the hour, when the oldest minute in it no longer counts' }),
});
export const BudgetStanding = Type.Object({
  costs: Type.Array(Standing),
  reservedMicros: Type.Integer({ description: 'The most that calls on their way may cost' }),
  tokens: Type.Object({ limit: Type.Integer({ description: 'Per hour; 0: no limit' }), used: Type.Integer(), resetAt: Type.String() }),
  status: OneOf(['ok', 'warning', 'exceeded'], { description: 'Of the limit that is nearest' }),
  idleLimitMicros: Type.Integer({ description: 'What an agent may spend between messages of people; 0: no limit' }),
  alertThreshold: Type.Number({ description: 'The share of a limit from which the status is `warning`' }),
  defaultTokensPerHour: Type.Integer({ description: 'The limit of agents that name none; 0: no limit' }),
});
export type BudgetStanding = Plain<typeof BudgetStanding>;

export const Llm = defineService('llm', '1.6.0', {
  /** Resolves `default`, aliases and provider prefixes to a provider and model; says why. Throws `model_not_found`, `provider_key_missing`. */
  resolve: method(
    [Choice],
    Type.Object({
      ...Choice.properties,
      contextWindow: Type.Number(),
      canThink: Type.Boolean(),
      canSee: Nullable(Type.Boolean(), { description: 'Whether it takes pictures; null where the catalog does not know the model' }),
      why: Type.String(),
    }),
    { what: 'sees which model would answer' },
  ),
  /**
   * What of these the model would be asked without. Throws `llm_parameter_unsupported` for the first that its wire cannot hold and that
   * must not be left out. What only the model refuses shows when it was asked once.
   */
  checkParameters: method([Choice, Parameters], Type.Array(LeftOut), { what: 'sees which model would answer' }),
  /** Whether a model can be told to think before it answers, key or no key; null where its provider is not known. */
  canThink: method([Choice], Nullable(Type.Boolean()), { what: 'sees which model would answer' }),
  /** Throws `token_quota_exceeded` or `budget_exceeded` (429, with the time it goes on) while the agent may not call these models. No limit of cost stops models that cost nothing. */
  admit: method([Type.String({ description: 'Agent id' }), Type.Array(Choice)], Type.Void()),
  /** The most that a call may cost, as a row to commit with the intent; name it to the call by `reservation`. Throws what `admit` throws. */
  reserve: method(
    [ModelRequest, CallContext],
    Type.Object({ reservation: Type.String({ description: 'Empty where there is a limit: the call reserves by itself' }), ceilingMicros: Type.Number(), writes: SealedWrites }),
  ),
  /** One model call with retries and fallback, within what the agent may use. Every attempt stands in the answer, and in the error's `details.attempts`. */
  complete: method([ModelRequest, CallContext], ModelAnswer, { what: 'asks language models with the keys of this daemon, at your cost', changes: true }),
  /** The same, with each piece of text as it comes. */
  stream: streamMethod([ModelRequest, CallContext], AnswerPiece),
  /**
   * Vectors of texts, by one model: another one's would not fit beside them, so there is no fallback. Asked in batches as its provider
   * takes them, each again as calls are; within what the agent may use, and charged to it. Throws `llm_embed_invalid`,
   * `llm_embeddings_unsupported` where the provider makes none, `llm_embedding_model_unnamed`, and what calls throw.
   */
  embed: method([EmbedRequest, CallContext], EmbedAnswer, { what: 'asks language models with the keys of this daemon, at your cost', changes: true }),
  /**
   * Reserves money for what is not tokens, under the same limits as calls. Throws what `admit` throws. Settle it whatever happens: until
   * then it counts as on its way.
   */
  reserveUnits: method([CallContext, Units], Type.Object({ reservation: Type.String(), ceilingMicros: Type.Number() }), {
    what: 'spends money on images, sound and the like, within your limits',
    changes: true,
  }),
  /** What was used of it, as writes for your commit: a usage row in place of the reservation. Nothing was used: 0. The second time for one reservation it answers nothing. */
  settleUnits: method([Type.String({ description: 'The reservation' }), Type.Integer({ minimum: 0, description: 'How many were used' })], SealedWrites),
  /** An estimate of tokens. */
  count: method([Type.String()], Type.Number(), { what: 'estimates tokens' }),
  /** Micro-dollars that these agents' calls have cost since then, by agent; agents without a call are left out. */
  spending: method([Actor, Type.Array(Type.String()), Type.String({ description: 'ISO time' })], Type.Record(Type.String(), Type.Number()), { what: 'sees what your agents used and cost' }),
  /** What calls since then used, in groups, as far as the actor may see; the newest interval first, else the dearest group. Without `by`, one group. */
  report: method(
    [
      Actor,
      Type.Object({
        since: Type.String({ description: 'ISO time' }),
        by: Type.Optional(OneOf(['model', 'agent', 'minute', 'ten_minutes', 'hour', 'day'])),
        agentId: Type.Optional(Type.String()),
        model: Type.Optional(Type.Object({ provider: Type.String(), model: Type.String() })),
      }),
    ],
    Type.Array(UsageGroup),
    { what: 'sees what your agents used and cost' },
  ),
  /** The limits of an agent, or of all agents together (null), with what counts against them. Whoever asks has made sure that it may be shown. */
  standing: method([Nullable(Type.String({ description: 'Agent id' }))], BudgetStanding),
  /** Calls since the start of this daemon, and how long models took to answer. */
  calls: method([], Type.Object({ total: Type.Integer(), averageMs: Type.Integer(), slowestMs: Type.Integer() })),
  /** Tokens and cost so far, of an agent or a session's runs. */
  usage: method([Actor, Type.Object({ agentId: Type.Optional(Type.String()), runIds: Type.Optional(Type.Array(Type.String())) })], Type.Object({ ...Usage.properties, requests: Type.Number() }), {
    what: 'sees what your agents used and cost',
  }),
});
export type LlmService = Service<typeof Llm>;

/** Usage rows of an agent with limits were committed, by the generation of this name. */
export const LlmUsed = defineEvent('llm.used', '1.0.0', Type.Object({ agentId: Type.String(), by: Type.String() }));

/** What was spent has reached a share of a limit of cost: half of it, the share that [budget] warns at, or all of it. */
export const BudgetReached = defineEvent(
  'llm.budget_reached',
  '1.0.0',
  Type.Object({
    agentId: Nullable(Type.String(), { description: 'null: the limit of all agents together' }),
    period: OneOf(['hour', 'day', 'month']),
    percent: Type.Integer(),
    limitUsd: Type.Number(),
    usedUsd: Type.Number(),
  }),
);
