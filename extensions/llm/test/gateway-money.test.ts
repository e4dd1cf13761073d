import { expect } from 'chai';
import { startAnthropicServer } from '../../../fixtures/providers/anthropic-server.js';
import { type ProviderServer, startOpenAiServer } from '../../../fixtures/providers/openai-server.js';
import { owner, request, type Rig, type RigOptions, startRig } from './gateway-rig.js';

describe('what the gateway counts and lets others say', () => {
  let openai: ProviderServer;
  let anthropic: ProviderServer;
  let rig: Rig | undefined;
  beforeEach(async () => {
    openai = await startOpenAiServer();
    anthropic = await startAnthropicServer();
  });
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    await openai.close();
    await anthropic.close();
  });
  const start = async (extra: Partial<RigOptions> = {}): Promise<Rig> => {
    rig = await startRig({ urls: { openai: openai.url, anthropic: anthropic.url }, ...extra });
    return rig;
  };
  const claude = { provider: 'anthropic', model: 'claude-sonnet-4-6' };

  it('reserves the ceiling of the dearest model: all it takes in, all it may say and think', async () => {
    const { llm } = await start();
    const ceiling = async (fields: Parameters<typeof request>[0]) => (await llm.reserve(request(fields), { actor: owner, agentId: 'agent-1', runId: 'run-7' })).ceilingMicros;
    // Nine tokens at most for `You help.`, `Hello` and their form; 0.25 and 2 USD per million.
    expect(await ceiling({})).to.equal(203);
    expect(await ceiling({ thinking: { budgetTokens: 500 } })).to.equal(1_203);
    // 3 and 15 USD per million, of 64 000 tokens at most.
    expect(await ceiling({ ...claude, maxTokens: 1_000_000 })).to.equal(960_027);
    expect(await ceiling({ fallbacks: [claude] })).to.equal(1_527);
    expect(await ceiling({ provider: 'nobody', model: 'x' })).to.equal(0);
    const kept = await llm.reserve(request(), { actor: owner, agentId: 'agent-1', runId: 'run-7' });
    expect(kept.reservation).to.match(/^run-7\.[0-9a-f]+$/);
    expect(kept.writes).to.deep.equal([]);
  });

  it('sums what each attempt used, and calls it estimated only where a part was', async () => {
    const { llm, context } = await start({ config: { max_retries: 0 } });
    // It began with its numbers and said nothing.
    anthropic.script({ deltas: [], halfStream: true, usage: { input: 30, output: 9 } });
    openai.script({ text: 'x'.repeat(8), usage: { input: 40, output: 2 } });
    const chain = request({ ...claude, fallbacks: [{ provider: 'openai', model: 'gpt-5-mini' }] });
    expect((await llm.complete(chain, context())).usage).to.deep.equal({ inputTokens: 70, outputTokens: 3, costMicros: 105 + 14 });
    openai.script({ text: 'x'.repeat(8), usage: null });
    expect((await llm.complete(chain, context())).usage).to.deep.include({ outputTokens: 3, estimated: true });
  });

  it('counts calls, those that no model answered, and attempts after the first', async () => {
    const { llm, context, counters } = await start({ config: { max_retries: 1 } });
    await llm.complete(request(), context());
    expect(counters).to.deep.equal({ calls: 1, failures: 0, retries: 0 });
    openai.script({ status: 500 });
    await llm.complete(request(), context()).catch(() => undefined);
    expect(counters).to.deep.equal({ calls: 2, failures: 1, retries: 1 });
    openai.script([{ status: 500 }, { text: 'ok' }]);
    await llm.complete(request(), context());
    expect(counters).to.deep.equal({ calls: 3, failures: 1, retries: 2 });
  });

  it('asks the model that another area chose, and the one that was named where none did', async () => {
    const asked: unknown[] = [];
    let chosen: { provider: string; model: string } | undefined = claude;
    const resolve = {
      isEmpty: () => false,
      call: async (choice: unknown) => {
        asked.push(choice);
        return chosen;
      },
    };
    const { llm, context } = await start({ hooks: { resolve } });
    expect(await llm.complete(request(), context())).to.include(claude);
    expect(asked[0]).to.deep.include({ provider: 'openai', model: 'gpt-5-mini', agentId: 'agent-1' });
    chosen = undefined;
    expect(await llm.complete(request(), context())).to.include({ provider: 'openai' });
    expect(await llm.resolve({ provider: 'openai', model: 'gpt-5' })).to.include({ model: 'gpt-5', canThink: true });
  });

  it('sends the request that another area made of it, and tells of each piece that comes', async () => {
    openai.script({ deltas: ['a', 'b'] });
    const seen: unknown[] = [];
    const notes: unknown[] = [];
    const { llm, context, heard } = await start({
      hooks: {
        request: {
          isEmpty: () => false,
          call: async (given, about) => {
            seen.push(about);
            return { ...given, system: 'Changed.' };
          },
        },
        delta: { isEmpty: () => false, call: (note) => void notes.push(note) },
      },
    });
    await llm.complete(request(), context());
    expect(openai.requests[0]?.body.messages[0]).to.deep.equal({ role: 'system', content: 'Changed.' });
    expect(seen).to.deep.equal([{ agentId: 'agent-1', runId: 'run-1' }]);
    expect(notes).to.deep.equal([
      { runId: 'run-1', text: 'a' },
      { runId: 'run-1', text: 'b' },
    ]);
    expect(heard).to.deep.equal([]);
  });

  it('takes nothing for a call that ended some other way', async () => {
    const resolve = { isEmpty: () => false, call: () => Promise.reject(new TypeError('a bug')) };
    const { llm, context } = await start({ hooks: { resolve }, limits: { max_llm_tokens_per_hour: 1 } });
    expect(await llm.complete(request(), context()).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    await llm.admit('agent-1');
  });

  it('says of a model whether it can think, and nothing of a provider that nobody knows', async () => {
    const { llm } = await start();
    expect(await llm.canThink(claude)).to.equal(true);
    expect(await llm.canThink({ provider: 'openai', model: 'gpt-4o' })).to.equal(false);
    expect(await llm.canThink({ provider: 'nobody', model: 'gpt-5' })).to.equal(null);
    expect(await llm.count('12345')).to.equal(2);
  });
});
