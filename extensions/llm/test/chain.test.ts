/** The rules of one call, with a driver that does what a test says, on a clock that a test moves. */
import type { SvcError } from '@svc/api';
import type { ProviderRecord } from '@svc/ext-providers/contract';
import { virtualClock } from '@svc/platform/clock/clock';
import { seededIds } from '@svc/platform/clock/ids';
import { expect } from 'chai';
import { callsOf } from '../src/call/answer-parts.js';
import { type ChainDeps, type ChainResult, runChain } from '../src/call/chain.js';
import type { DriverEvent, DriverTarget, ModelErrorClass, ModelRequest } from '../src/contract.js';
import type { Driver } from '../src/drivers/driver.js';
import { llmErrors } from '../src/errors.js';
import { ModelFailure } from '../src/call/model-failure.js';
import { createHealth } from '../src/health/health.js';
import { createKeyOrder } from '../src/health/keys.js';
import type { Choice, Resolved } from '../src/resolution.js';
import { request } from './gateway-rig.js';

type Turn = ReadonlyArray<DriverEvent | Error | (() => void)>;

const STOP: DriverEvent = { type: 'stop', reason: 'end' };
const text = (value: string): DriverEvent => ({ type: 'text', text: value });
const failed = (errorClass: ModelErrorClass, extra = {}): ModelFailure => new ModelFailure(errorClass, `it was ${errorClass}`, extra);
const record = (name: string): ProviderRecord => ({
  name,
  display_name: name,
  wire: 'openai',
  base_url: `https://${name}`,
  env_var: null,
  key_required: true,
  auth_status: 'configured',
  secret: name === 'keyless' ? null : { secret: `provider.${name}` },
  default_model: null,
  problem: null,
});
const resolvedAs = ({ provider, model }: Choice, more: Partial<Resolved> = {}): Resolved => ({
  provider,
  model,
  wireModel: `${model}-wire`,
  record: record(provider),
  info: undefined,
  price: { input_cost_per_1m: 1, output_cost_per_1m: 10 },
  contextWindow: 1_000,
  canThink: false,
  why: '',
  ...more,
});

describe('the chain of one call', () => {
  interface Played {
    readonly turns: readonly Turn[];
    readonly fallbacks?: readonly Choice[];
    readonly resolve?: (choice: Choice) => Promise<Resolved>;
    readonly request?: Partial<ModelRequest>;
    readonly config?: object;
    readonly signal?: AbortSignal;
    readonly isReceived?: boolean;
    readonly random?: number;
  }
  interface Outcome {
    readonly result: ChainResult;
    readonly targets: DriverTarget[];
    readonly asked: ModelRequest[];
    readonly received: string[];
    readonly refused: string[];
    readonly taken: string[];
  }
  /** The last turn is played again and again. */
  const play = async ({
    turns,
    fallbacks = [],
    resolve = async (choice) => resolvedAs(choice),
    request: fields = {},
    config = {},
    signal = new AbortController().signal,
    isReceived = false,
  }: Played): Promise<Outcome> => {
    const clock = virtualClock(0);
    const targets: DriverTarget[] = [];
    const asked: ModelRequest[] = [];
    const received: string[] = [];
    const refused: string[] = [];
    const taken: string[] = [];
    const driver: Driver = {
      ask: async (target, given, _signal, emit) => {
        targets.push(target);
        asked.push(given);
        for (const step of turns[targets.length - 1] ?? turns.at(-1) ?? []) {
          if (step instanceof Error) throw step;
          if (typeof step === 'function') step();
          else emit(step);
        }
      },
    };
    const deps: ChainDeps = {
      drivers: () => driver,
      clock,
      ids: { ...seededIds('chain'), random: () => 0.5 },
      health: createHealth({ clock, ids: { random: () => 0.5 } }),
      keys: createKeyOrder({ random: () => 0.5 }),
      resolve,
      fallbacks: async () => fallbacks,
      keyRefused: async (provider) => void refused.push(provider),
      tooLong: () => undefined,
      keyTaken: (provider) => void taken.push(provider),
    };
    const running = runChain(deps, {
      request: request({ provider: 'one', model: 'a', ...fields }),
      config: { request_timeout_secs: 5, turn_timeout_secs: 600, idle_timeout_secs: 4, max_retries: 3, retry_base_ms: 1_000, max_wait_ms: 60_000, prompt_caching: true, ...config },
      signal,
      onText: isReceived ? (piece) => void received.push(piece) : undefined,
      onThought: undefined,
    });
    let isDone = false;
    void running.finally(() => {
      isDone = true;
    });
    for (let step = 0; step < 200 && !isDone; step++) await clock.advance(1_000);
    return { result: await running, targets, asked, received, refused, taken };
  };
  const tried = ({ result }: Outcome): string[] => result.attempts.map(({ provider, model, errorClass, status, waitedMs }) => `${provider}/${model} ${errorClass ?? status} ${waitedMs}`);
  const errorOf = ({ result }: Outcome): SvcError => {
    if (result.ok) throw new Error('it should have failed');
    return result.error;
  };
  const two = { fallbacks: [{ provider: 'two', model: 'b' }] };

  it('L1 tries each model once: that of the request, its fallbacks, then those of the daemon', async () => {
    const outcome = await play({
      turns: [[failed('bad_request')]],
      request: {
        fallbacks: [
          { provider: 'two', model: 'b' },
          { provider: 'one', model: 'a' },
          { provider: 'one', model: 'c' },
        ],
      },
      fallbacks: [
        { provider: 'two', model: 'b' },
        { provider: 'three', model: 'a' },
      ],
    });
    expect(tried(outcome)).to.deep.equal(['one/a bad_request 0', 'two/b bad_request 0', 'one/c bad_request 0', 'three/a bad_request 0']);
  });

  it('L1 tries ten models at most', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ provider: 'p', model: `m${index}` }));
    expect(tried(await play({ turns: [[failed('bad_request')]], fallbacks: many }))).to.have.length(10);
  });

  it('stops at the first model that answers, and tells that its key was taken', async () => {
    const outcome = await play({ ...two, turns: [[text('hi'), STOP]] });
    expect(outcome.result).to.deep.include({ ok: true, said: { text: 'hi', thoughts: '', thoughtChars: 0, calls: [], stop: 'end', leftOut: [], inputTokens: undefined, outputTokens: undefined } });
    expect(outcome.taken).to.deep.equal(['one']);
    expect(outcome.refused).to.deep.equal([]);
  });

  it('tells of a refused key, and of no other failure', async () => {
    const outcome = await play({ ...two, turns: [[failed('auth')], [failed('credit')]] });
    expect(outcome.refused).to.deep.equal(['one']);
    expect(outcome.taken).to.deep.equal([]);
  });

  it('asks again what may pass, as often as is configured, waiting twice as long each time', async () => {
    for (const errorClass of ['rate_limit', 'overloaded', 'server', 'network', 'half_stream'] as const) {
      expect(tried(await play({ turns: [[failed(errorClass)]] })), errorClass).to.deep.equal([1_000, 2_000, 4_000, 0].map((ms) => `one/a ${errorClass} ${ms}`));
    }
    expect(tried(await play({ turns: [[failed('server')]], config: { max_retries: 1 } }))).to.have.length(2);
    expect(tried(await play({ turns: [[failed('server')]], config: { max_retries: 0 } }))).to.have.length(1);
  });

  it('asks once more after a deadline, and not a third time', async () => {
    expect(tried(await play({ turns: [[failed('timeout')]] }))).to.deep.equal(['one/a timeout 1000', 'one/a timeout 0']);
    expect(tried(await play({ turns: [[failed('timeout')], [failed('server')], [failed('timeout')]] }))).to.have.length(3);
  });

  it('waits for a hint that a next model makes needless only where there is none', async () => {
    const slow = failed('rate_limit', { retryAfterMs: 11_000 });
    expect(tried(await play({ turns: [[slow], [text('a'), STOP]] }))).to.deep.equal(['one/a rate_limit 11000', 'one/a ok 0']);
    expect(tried(await play({ ...two, turns: [[slow], [text('a'), STOP]] }))).to.deep.equal(['one/a rate_limit 0', 'two/b ok 0']);
    expect(tried(await play({ ...two, turns: [[failed('bad_request')], [slow], [text('a'), STOP]] }))).to.deep.equal(['one/a bad_request 0', 'two/b rate_limit 11000', 'two/b ok 0']);
  });

  it('L6 sends nothing that is longer than the window, asks the next model, and tells where there is none', async () => {
    const small = { context_window: 1_000, max_output_tokens: 500 } as Resolved['info']; // what is read of it
    const resolve = async (choice: Choice) => resolvedAs(choice, choice.provider === 'one' ? { info: small } : {});
    const long = { messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'x'.repeat(6_000) }] }] };
    const alone = await play({ resolve, turns: [[text('a'), STOP]], request: long });
    expect(errorOf(alone)).to.include({ code: 'llm_context_too_long', retry: false });
    expect(alone.targets).to.have.length(0);
    expect(alone.result.attempts[0]).to.include({ skipped: true, errorClass: 'context_too_long' });
    expect(tried(await play({ ...two, resolve, turns: [[text('a'), STOP]], request: long }))).to.deep.equal(['one/a context_too_long 0', 'two/b ok 0']);
    // It may fit: letters are only an estimate.
    expect((await play({ resolve, turns: [[text('a'), STOP]], request: { messages: [{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(4_900) }] }] } })).result.ok).to.equal(true);
  });

  it('L5 begins no wait that would last longer than the turn, and no further model after it', async () => {
    const slow = failed('rate_limit', { retryAfterMs: 9_000 });
    const outcome = await play({ turns: [[slow]], config: { turn_timeout_secs: 20 } });
    expect(tried(outcome)).to.deep.equal(['one/a rate_limit 9000', 'one/a rate_limit 9000', 'one/a rate_limit 0']);
    expect(
      outcome.targets.map(({ timeoutMs }) => timeoutMs),
      'the last one has what is left',
    ).to.deep.equal([5_000, 5_000, 2_000]);
  });

  it('L2 notes how long each attempt took and the status it ended with', async () => {
    const { result } = await play({ turns: [[failed('bad_request', { httpStatus: 422 })]] });
    expect(result.attempts).to.deep.equal([{ provider: 'one', model: 'a', status: 'error', errorClass: 'bad_request', message: 'it was bad_request', httpStatus: 422, latencyMs: 0, waitedMs: 0 }]);
    const silent = await play({ turns: [[failed('garbage')]] });
    expect(silent.result.attempts[0]).not.to.have.property('httpStatus');
  });

  it('L3 lets no other model answer once a part was heard, and does so where nobody heard it', async () => {
    const half: Turn = [text('half'), failed('half_stream')];
    const received = await play({ ...two, turns: [half, [text('whole'), STOP]], isReceived: true });
    expect(errorOf(received).code).to.equal('llm_half_stream');
    expect(received.received).to.deep.equal(['half']);
    const unheard = await play({ ...two, turns: [half, [text('whole'), STOP]] });
    expect(unheard.result).to.have.nested.property('said.text', 'whole');
    const early = await play({ ...two, turns: [[failed('garbage')], [text('whole'), STOP]], isReceived: true });
    expect(early.received).to.deep.equal(['whole']);
  });

  it('L4 bills what each attempt used: the numbers of the provider, else an estimate, and nothing for silence', async () => {
    const bills = async (...turns: Turn[]) =>
      (await play({ turns, config: { max_retries: turns.length - 1 } })).result.bills.map(({ provider, model, usage }) => ({ who: `${provider}/${model}`, ...usage }));
    const usage = (tokens: object): DriverEvent => ({ type: 'usage', ...tokens });
    // `You help.` and `Hello` are fourteen letters, and four tokens for the form.
    const guessed = 8;
    expect(await bills([usage({ inputTokens: 20 }), text('hi'), usage({ outputTokens: 3 }), STOP])).to.deep.equal([{ who: 'one/a', inputTokens: 20, outputTokens: 3, costMicros: 50 }]);
    expect(await bills([text('x'.repeat(40)), STOP])).to.deep.equal([{ who: 'one/a', inputTokens: guessed, outputTokens: 10, costMicros: 108, estimated: true }]);
    expect(await bills([usage({ inputTokens: 20 }), { type: 'call', id: 'c', name: 'look', argsText: '{"n":1}' }, STOP])).to.deep.equal([
      { who: 'one/a', inputTokens: 20, outputTokens: 3, costMicros: 50, estimated: true },
    ]);
    expect(await bills([STOP])).to.deep.equal([{ who: 'one/a', inputTokens: guessed, outputTokens: 0, costMicros: 8, estimated: true }]);
    expect(await bills([failed('server')])).to.deep.equal([]);
    expect(await bills([usage({ inputTokens: 20, outputTokens: 1 }), text('x'.repeat(40)), failed('server')])).to.deep.equal([
      { who: 'one/a', inputTokens: 20, outputTokens: 10, costMicros: 120, estimated: true },
    ]);
    expect(await bills([usage({ inputTokens: 20, outputTokens: 50 }), text('x'), failed('server')])).to.deep.equal([
      { who: 'one/a', inputTokens: 20, outputTokens: 50, costMicros: 520, estimated: true },
    ]);
    const thought = (chars: number): DriverEvent => ({ type: 'thought', text: 'x'.repeat(chars) });
    expect(await bills([thought(40), failed('server')]), 'thoughts').to.deep.equal([{ who: 'one/a', inputTokens: guessed, outputTokens: 10, costMicros: 108, estimated: true }]);
    expect(await bills([thought(40), text('x'.repeat(40)), STOP])).to.deep.equal([{ who: 'one/a', inputTokens: guessed, outputTokens: 20, costMicros: 208, estimated: true }]);
    expect(await bills([thought(400_000), STOP]), 'more than is kept').to.deep.equal([{ who: 'one/a', inputTokens: guessed, outputTokens: 100_000, costMicros: 1_000_008, estimated: true }]);
    expect(await bills([usage({ inputTokens: 20, outputTokens: 0 }), failed('server')])).to.deep.equal([{ who: 'one/a', inputTokens: 20, outputTokens: 0, costMicros: 20 }]);
    expect(await bills([usage({ inputTokens: 20 }), failed('server')], [text('abcd'), STOP])).to.have.length(2);
  });

  it('makes half a stream of one that ends without saying why', async () => {
    expect(errorOf(await play({ turns: [[text('a')]], isReceived: true })).code).to.equal('llm_half_stream');
  });

  it('makes garbage of an answer of more than eight million letters', async () => {
    const million = text('x'.repeat(1_000_000));
    const eight = Array.from({ length: 8 }, () => million);
    expect((await play({ turns: [[...eight, STOP]] })).result.ok).to.equal(true);
    expect(errorOf(await play({ turns: [[...eight, text('y'), STOP]] })).code).to.equal('llm_provider_garbage');
  });

  it('ends when it is cancelled: before, after the last event, and in a wait', async () => {
    const before = await play({ ...two, turns: [[text('a'), STOP]], signal: AbortSignal.abort() });
    expect([errorOf(before).code, before.targets.length]).to.deep.equal(['llm_cancelled', 0]);
    const after = new AbortController();
    const late = await play({ ...two, turns: [[STOP, () => after.abort()]], signal: after.signal });
    expect([errorOf(late).code, late.targets.length, late.taken.length]).to.deep.equal(['llm_cancelled', 1, 0]);
    const waiting = new AbortController();
    const waited = await play({
      ...two,
      turns: [[() => void Promise.resolve().then(() => setImmediate(() => waiting.abort())), failed('rate_limit', { retryAfterMs: 9_000 })]],
      signal: waiting.signal,
    });
    expect([errorOf(waited).code, waited.targets.length]).to.deep.equal(['llm_cancelled', 1]);
    expect(tried(waited)).to.deep.equal(['one/a rate_limit 9000']);
  });

  it('calls a model by its name on the wire, where its provider is, with its key and its deadlines', async () => {
    const plain = await play({ turns: [[text('a'), STOP]] });
    expect(plain.targets).to.deep.equal([{ provider: 'one', model: 'a-wire', baseUrl: 'https://one', secret: { secret: 'provider.one' }, timeoutMs: 5_000, idleTimeoutMs: 4_000, cachesPrompt: true }]);
    const own = await play({ turns: [[text('a'), STOP]], request: { provider: 'keyless', timeoutMs: 70 } });
    expect(own.targets).to.deep.equal([{ provider: 'keyless', model: 'a-wire', baseUrl: 'https://keyless', timeoutMs: 70, idleTimeoutMs: 4_000, cachesPrompt: true }]);
  });

  it('asks each model for what it can give', async () => {
    const resolve = async (choice: Choice) => resolvedAs(choice, choice.provider === 'two' ? { canThink: true } : {});
    const { asked } = await play({ ...two, resolve, turns: [[failed('bad_request')], [text('a'), STOP]], request: { maxTokens: 600, thinking: { budgetTokens: 2_000 } } });
    expect(asked.map(({ maxTokens, thinking }) => [maxTokens, thinking?.budgetTokens])).to.deep.equal([
      [600, undefined],
      [2_600, 2_000],
    ]);
  });

  it('goes on to the next where a model could not even be called, and says why it could not', async () => {
    const refusals: ReadonlyArray<readonly [SvcError, ModelErrorClass]> = [
      [llmErrors.provider_key_missing('one', 'ONE'), 'auth'],
      [llmErrors.provider_key_unreadable('one', 'locked'), 'auth'],
      [llmErrors.model_not_found('a'), 'model_not_found'],
      [llmErrors.provider_not_found('one'), 'bad_request'],
    ];
    for (const [refusal, errorClass] of refusals) {
      const resolve = (choice: Choice) => (choice.provider === 'one' ? Promise.reject(refusal) : Promise.resolve(resolvedAs(choice)));
      const outcome = await play({ ...two, resolve, turns: [[text('a'), STOP]] });
      expect(tried(outcome), refusal.code).to.deep.equal([`one/a ${errorClass} 0`, 'two/b ok 0']);
      expect(outcome.refused, 'the key was not asked for').to.deep.equal([]);
      expect(outcome.result.attempts[0], refusal.code).to.include({ latencyMs: 0, message: refusal.message });
      const alone = errorOf(await play({ resolve, turns: [[text('a'), STOP]] }));
      expect(alone).to.include({ code: refusal.code, status: refusal.status });
      expect(alone.details).to.have.property('attempts').with.length(1);
    }
    const broken = await play({ resolve: () => Promise.reject(new TypeError('a bug')), turns: [[text('a'), STOP]] }).catch((error: unknown) => error);
    expect(broken).to.be.instanceOf(TypeError);
  });

  it('has an error of its own for each class, with the wait that the provider asked for', async () => {
    const codes: Record<Exclude<ModelErrorClass, 'cancelled'>, string> = {
      auth: 'llm_provider_auth',
      credit: 'llm_provider_credit',
      rate_limit: 'llm_provider_rate_limited',
      overloaded: 'llm_provider_overloaded',
      model_not_found: 'llm_provider_model_missing',
      context_too_long: 'llm_context_too_long',
      content: 'llm_content_refused',
      bad_request: 'llm_provider_rejected',
      timeout: 'llm_provider_timeout',
      network: 'llm_provider_unreachable',
      server: 'llm_provider_failed',
      half_stream: 'llm_half_stream',
      garbage: 'llm_provider_garbage',
    };
    for (const [errorClass, code] of Object.entries(codes)) {
      const failure = failed(errorClass as ModelErrorClass, { retryAfterMs: 1_200 });
      const error = errorOf(await play({ turns: [[failure]], config: { max_retries: 0 } }));
      expect(error, errorClass).to.include({ code, cause: failure });
      expect(error.message, errorClass).to.contain('one').and.to.contain('model a)').and.to.contain(`it was ${errorClass}`);
      expect(error.headers, errorClass).to.deep.equal({ 'retry-after': '2' });
    }
    expect(errorOf(await play({ turns: [[failed('credit')]] })).headers ?? {}).to.deep.equal({});
  });

  it('names every model that failed, and the wait of the last', async () => {
    const last = failed('rate_limit', { retryAfterMs: 5_000 });
    const error = errorOf(await play({ ...two, turns: [[failed('bad_request', { retryAfterMs: 900_000 })], [last]], config: { max_retries: 0 } }));
    expect(error).to.include({ code: 'llm_all_models_failed', retry: true, cause: last });
    expect(error.message).to.contain('None of the 2 models').and.to.contain('one/a: it was bad_request · two/b: it was rate_limit');
    expect(error.headers).to.deep.equal({ 'retry-after': '5' });
    expect(error.details).to.have.property('attempts').with.length(2);
  });
});

describe('the calls of an answer', () => {
  const call = (fields: object) =>
    callsOf({ text: '', thoughts: '', thoughtChars: 0, calls: [{ id: 'c', name: 'look', argsText: '{}', ...fields }], stop: 'end', leftOut: [], inputTokens: 0, outputTokens: 0 }, seededIds('calls'), {
      provider: 'openai',
      model: 'm',
    })[0];

  it('have their arguments as values, and none as an empty object', () => {
    expect(call({ argsText: '{"n":[1]}' })).to.deep.equal({ id: 'c', name: 'look', args: { n: [1] } });
    expect(call({ argsText: ' \n' })).to.deep.equal({ id: 'c', name: 'look', args: {} });
  });

  it('show the beginning of arguments that are no JSON', () => {
    expect(call({ argsText: `{${'x'.repeat(500)}` })).to.deep.equal({ id: 'c', name: 'look', args: null, argsError: `The arguments of look are not JSON: {${'x'.repeat(199)}` });
  });

  it('get an id where the server gave none', () => {
    expect(call({ id: '' })?.id).to.match(/^call_[0-9a-f]{10,}$/);
  });
});
