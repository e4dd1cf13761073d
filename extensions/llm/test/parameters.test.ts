/** What a caller asks of one call: which wires hold it, and what a chain of models makes of it. */
import type { SvcError } from '@svc/api';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { heldBy, namedIn } from '../src/call/parameters.js';
import type { LeftOut, ModelRequest, Parameters } from '../src/contract.js';
import { request, type Rig, startRig } from './gateway-rig.js';

const everything: Parameters = { temperature: 0.5, topP: 0.5, presencePenalty: 1, frequencyPenalty: -1, stop: ['END'], seed: 7, format: { type: 'json_object' } };

describe('what a caller asks of one call', () => {
  it('P1 is held by each wire, left out by its name, or refused by its name', () => {
    const left = (wire: string, asked: Parameters) => heldBy(wire, asked).leftOut.map(({ parameter }) => parameter);
    const refused = (wire: string, asked: Parameters) => heldBy(wire, asked).refused?.parameter;
    for (const wire of ['openai', 'gemini']) expect(heldBy(wire, everything), wire).to.deep.equal({ kept: everything, leftOut: [] });
    expect(left('gemini', { seed: 2 ** 31 })).to.deep.equal(['seed']);
    expect(left('anthropic', { temperature: 1.01, seed: 1, presencePenalty: 1, frequencyPenalty: 1, topP: 0.1 })).to.deep.equal(['seed', 'presence_penalty', 'frequency_penalty', 'temperature']);
    expect(heldBy('anthropic', { temperature: 1, topP: 0.1, seed: 1, stop: ['a'] }).kept).to.deep.equal({ temperature: 1, topP: 0.1, stop: ['a'] });
    expect(heldBy('anthropic', { seed: 1 }).kept).to.equal(undefined);
    expect([refused('anthropic', { format: { type: 'json_object' } }), refused('anthropic', { seed: 1 })]).to.deep.equal(['response_format', undefined]);
    expect([left('builtin', { temperature: 2, topP: 1, seed: 1, presencePenalty: 1 }), refused('builtin', { stop: ['a'] }), refused('builtin', { format: { type: 'json_object' } })]).to.deep.equal([
      [],
      'stop',
      'response_format',
    ]);
    expect(left('of-an-extension', { temperature: 1, topP: 1, presencePenalty: 1, frequencyPenalty: 1, seed: 1 })).to.deep.equal(['top_p', 'presence_penalty', 'frequency_penalty', 'seed']);
    expect([refused('of-an-extension', { stop: ['a'] }), refused('of-an-extension', { format: { type: 'json_object' } })]).to.deep.equal(['stop', 'response_format']);
    expect(heldBy('anthropic', undefined)).to.deep.equal({ kept: undefined, leftOut: [] });
  });

  it('P3 is found in what a provider says, where it refuses that and nothing else', () => {
    const table: ReadonlyArray<readonly [said: string, expected: string | undefined]> = [
      ["Unsupported parameter: 'stop' is not supported with this model.", 'stop'],
      ["'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", 'temperature'],
      ['top_p: Extra inputs are not permitted', 'top_p'],
      ["Unsupported parameter: 'presence_penalty' is not supported with this model.", 'presence_penalty'],
      ['Penalty is not enabled for this model: frequencyPenalty is not supported', 'frequency_penalty'],
      ['Invalid schema for response_format', 'response_format'],
      ["'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", 'response_format'],
      ['Unknown name "seed" at generation_config', 'seed'],
      ['the model has stopped', undefined],
      ['temperature is nice', undefined],
    ];
    for (const [said, expected] of table) expect(namedIn(said, everything)?.name, said).to.equal(expected);
    expect(namedIn('stop is not supported', { seed: 1 })).to.equal(undefined);
    expect(namedIn('stop is not supported', undefined)).to.equal(undefined);
  });

  describe('in a chain of models', () => {
    let openai: ProviderServer;
    let claude: ProviderServer;
    let rig: Rig;
    beforeEach(async () => {
      openai = await startOpenAiServer({ text: 'fine' });
      claude = await startAnthropicServer({ text: 'fine' });
      rig = await startRig({ urls: { openai: openai.url, anthropic: claude.url } });
    });
    afterEach(async () => {
      await rig.close();
      await openai.close();
      await claude.close();
    });
    const failed = (asked: Parameters, fields: Partial<ModelRequest> = {}): Promise<SvcError> =>
      rig.llm.complete(request({ parameters: asked, ...fields }), rig.context()).then(
        () => {
          throw new Error('it should have failed');
        },
        (error: unknown) => error as SvcError,
      );
    /** What was told on the way to the answer. */
    const reported = async (asked: Parameters, fields: Partial<ModelRequest> = {}): Promise<readonly LeftOut[]> => {
      const received: LeftOut[] = [];
      for await (const piece of rig.llm.stream(request({ parameters: asked, ...fields }), rig.context())) if ('leftOut' in piece) received.push(...piece.leftOut);
      return received;
    };
    const sent = (): Record<string, unknown> => openai.requests.at(-1)?.body ?? {};
    const schema = { format: { type: 'json_object' as const } };

    it('P1 is asked of the next one where the first cannot hold it', async () => {
      const answer = await rig.llm.complete(
        request({ provider: 'anthropic', model: 'claude-sonnet-4-6', fallbacks: [{ provider: 'openai', model: 'gpt-4o' }], parameters: { ...schema, seed: 7 } }),
        rig.context(),
      );
      expect([answer.provider, claude.requests.length]).to.deep.equal(['openai', 0]);
      expect([sent().seed, sent().response_format]).to.deep.equal([7, schema.format]);
      expect(answer.attempts[0]?.message).to.contain('response_format');
    });

    it('P1 is refused where none can, and before anything is asked', async () => {
      const choice = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
      expect(await failed(schema, choice)).to.include({ code: 'llm_parameter_unsupported', status: 400, retry: false });
      expect(await rig.llm.checkParameters(choice, schema).catch((error: SvcError) => error.code)).to.equal('llm_parameter_unsupported');
      expect(claude.requests).to.have.length(0);
    });

    it('P1 is never left out for a model that refuses it', async () => {
      openai.script({ status: 400, message: "Unsupported parameter: 'stop' is not supported with this model." });
      expect(await failed({ stop: ['END'] }, { model: 'gpt-4o' })).to.include({ code: 'llm_parameter_unsupported', status: 400 });
      expect(openai.requests).to.have.length(1);
    });

    it('P2 is left out for a wire that has no place for it, and said', async () => {
      const choice = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
      const left = await reported({ seed: 7, presencePenalty: 1, topP: 0.5 }, choice);
      expect(left.map(({ parameter }) => parameter)).to.deep.equal(['seed', 'presence_penalty']);
      expect(claude.requests[0]?.body).to.include({ top_p: 0.5 }).and.to.not.have.any.keys('seed', 'presence_penalty');
      expect(await rig.llm.checkParameters(choice, { seed: 7, topP: 0.5 })).to.deep.equal([{ parameter: 'seed', why: 'the protocol of Anthropic has none' }]);
    });

    it('P2 is left out for a model that takes one temperature alone, unless it is that one', async () => {
      const choice = { provider: 'openai', model: 'gpt-5-mini' };
      for (const [temperature, expected] of [
        [0, []],
        [1, [1]],
      ] as const) {
        const left = await reported({ temperature }, choice);
        expect(left.map(({ why }) => why)).to.deep.equal(temperature === 1 ? [] : ['the model takes only 1']);
        expect('temperature' in sent() ? [sent().temperature] : []).to.deep.equal(expected);
        expect((await rig.llm.checkParameters(choice, { temperature })).length).to.equal(left.length);
      }
    });

    it('P2 is learned from a refusal: each parameter is left out by itself, said, and known from then on', async () => {
      const refusing = ['top_p', 'presence_penalty'];
      openai.script(({ body }) => {
        const first = refusing.find((name) => name in body);
        return first ? { status: 400, message: `Unsupported parameter: '${first}' is not supported with this model.` } : { text: 'fine' };
      });
      const asked = { temperature: 0.5, topP: 0.5, presencePenalty: 1, frequencyPenalty: 1 };
      const choice = { provider: 'openai', model: 'gpt-4o' };
      expect(await rig.llm.checkParameters(choice, asked)).to.deep.equal([]);
      const left = await reported(asked, choice);
      expect(left).to.deep.equal(refusing.map((parameter) => ({ parameter, why: 'the model refuses it' })));
      expect([openai.requests.length, sent().temperature, sent().frequency_penalty]).to.deep.equal([3, 0.5, 1]);
      expect(await reported(asked, choice)).to.deep.equal(left);
      expect(openai.requests).to.have.length(4);
      expect(await rig.llm.checkParameters(choice, asked)).to.deep.equal(left);
    });

    it('P2 is passed where a model said which value it takes', async () => {
      openai.script(({ body }) =>
        (body.temperature ?? 1) === 1 ? { text: 'fine' } : { status: 400, message: "'temperature' does not support 0 with this model. Only the default (1) value is supported." },
      );
      const model = { model: 'gpt-4o' };
      expect((await reported({ temperature: 0 }, model)).length).to.equal(1);
      expect([await reported({ temperature: 1 }, model), sent().temperature]).to.deep.equal([[], 1]);
    });

    it('P2 is sent alone where the model takes one of two', async () => {
      openai.script(({ body }) => ('temperature' in body && 'top_p' in body ? { status: 400, message: '`temperature` and `top_p` cannot both be specified for this model' } : { text: 'fine' }));
      const model = { model: 'gpt-4o', temperature: 0.5 };
      await reported({ topP: 0.9 }, model);
      expect([sent().top_p, 'temperature' in sent()]).to.deep.equal([0.9, false]);
      expect((await reported({ topP: 0.9, temperature: 0.1 }, model)).map(({ parameter }) => parameter)).to.deep.equal(['top_p']);
      expect([sent().temperature, 'top_p' in sent()]).to.deep.equal([0.1, false]);
      await reported({ temperature: 0.2 }, model);
      expect(sent().temperature).to.equal(0.2);
    });
  });
});
