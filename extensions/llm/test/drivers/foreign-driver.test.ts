/** A driver that another extension brings for a provider whose wire llm does not speak. */
import { type Service, SvcError } from '@svc/api';
import { expect } from 'chai';
import type { DriverEvent, DriverTarget, ModelDriver, ModelErrorClass } from '../../src/contract.js';
import { request, type Rig, startRig } from '../gateway-rig.js';

type ForeignDriver = Service<ReturnType<typeof ModelDriver>>;

describe('a driver of another extension', () => {
  let rig: Rig | undefined;
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
  });

  const asked = request({ provider: 'bedrock', model: 'any' });
  /** Each turn is one exchange; the last is played again and again. */
  const boot = async (...turns: ReadonlyArray<readonly DriverEvent[] | Error>) => {
    const targets: DriverTarget[] = [];
    const signals: Array<AbortSignal | undefined> = [];
    const driver: ForeignDriver = {
      async *stream(target, _request, options) {
        targets.push(target);
        signals.push(options?.signal);
        const turn = turns[targets.length - 1] ?? turns.at(-1) ?? [];
        if (turn instanceof Error) throw turn;
        yield* turn;
      },
    };
    rig = await startRig({ urls: {}, keys: { 'provider.bedrock': 'k' }, foreign: { bedrock: driver }, config: { max_retries: 2 } });
    return { ...rig, targets, signals };
  };
  const said: readonly DriverEvent[] = [
    { type: 'text', text: 'from ' },
    { type: 'text', text: 'afar' },
    { type: 'usage', inputTokens: 7, outputTokens: 2 },
    { type: 'stop', reason: 'end' },
  ];
  const failure = (errorClass: string, retryAfterMs: number | null = null): SvcError => new SvcError('elsewhere_failed', 'It was not to be.', { status: 502, details: { errorClass, retryAfterMs } });
  const outcome = async ({ llm, context }: Rig): Promise<{ code: string; tried: ReadonlyArray<string | undefined> }> => {
    const error: unknown = await llm.complete(asked, context()).catch((caught: unknown) => caught);
    if (!(error instanceof SvcError)) throw new Error('it should have failed');
    // What every failed call says of its attempts.
    const { attempts } = error.details as { attempts: ReadonlyArray<{ errorClass?: ModelErrorClass }> };
    return { code: error.code, tried: attempts.map(({ errorClass }) => errorClass) };
  };

  it('answers for its provider, and is told where that is, under which key and how it is cancelled', async () => {
    const { listen, received, context, targets, signals } = await boot(said);
    const answer = await listen(asked, context());
    expect(answer).to.include({ text: 'from afar', stop: 'end', provider: 'bedrock', model: 'any' });
    expect(answer.usage).to.include({ inputTokens: 7, outputTokens: 2 });
    expect(received.join('')).to.equal('from afar');
    expect(targets[0]).to.deep.include({ provider: 'bedrock', model: 'any', secret: { secret: 'provider.bedrock', env: 'BEDROCK_API_KEY' }, timeoutMs: 5_000 });
    expect(signals[0]).to.be.instanceOf(AbortSignal);
  });

  it('says what kind of failure it was, and what may pass is asked again as for any other', async () => {
    const { llm, context, waits, targets } = await boot(failure('rate_limit', 9_000), said);
    expect((await llm.complete(asked, context())).text).to.equal('from afar');
    expect([waits, targets.length]).to.deep.equal([[9_000], 2]);
  });

  for (const [errorClass, code, times] of [
    ['overloaded', 'llm_provider_overloaded', 3],
    ['server', 'llm_provider_failed', 3],
    ['bad_request', 'llm_provider_rejected', 1],
    ['context_too_long', 'llm_context_too_long', 1],
    ['credit', 'llm_provider_credit', 1],
  ] as const)
    it(`that failed by ${errorClass} is asked ${times === 1 ? 'once' : 'as often as is configured'}`, async () => {
      const foreign = await boot(failure(errorClass));
      expect(await outcome(foreign)).to.deep.equal({ code, tried: Array.from({ length: times }, () => errorClass) });
    });

  it('whose key was refused has that key marked', async () => {
    const foreign = await boot(failure('auth'));
    expect((await outcome(foreign)).tried).to.deep.equal(['auth']);
    expect(foreign.invalid).to.deep.equal(['bedrock']);
  });

  it('that fails with a kind nobody knows, or ends in the middle, is taken for a connection that broke', async () => {
    expect((await outcome(await boot(failure('something_new')))).tried[0]).to.equal('network');
    await rig?.close();
    expect((await outcome(await boot([{ type: 'text', text: 'half' }]))).tried[0]).to.equal('half_stream');
  });

  it('has to be there: without one the provider is refused', async () => {
    rig = await startRig({ urls: {}, keys: { 'provider.bedrock': 'k' } });
    expect((await outcome(rig)).code).to.equal('llm_provider_unsupported');
  });
});
