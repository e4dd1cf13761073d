/** What a caller asks of one call: which wires hold it, and what a chain of models makes of it. */
import type { SvcError } from '@svc/api';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '../../../fixtures/providers/openai-server.js';
import { startAnthropicServer } from '../../../fixtures/providers/anthropic-server.js';
import { namedIn, refusedBy } from '../src/call/parameters.js';
import type { ModelRequest, Parameters } from '../src/contract.js';
import { request, type Rig, startRig } from './gateway-rig.js';

const everything: Parameters = { temperature: 0.5, topP: 0.5, stop: ['END'], seed: 7, format: { type: 'json_object' } };

describe('what a caller asks of one call', () => {
  it('P1 is held by each wire or refused by its name', () => {
    const refused = (wire: string, asked: Parameters) => refusedBy(wire, asked)?.parameter;
    expect(refused('openai', everything)).to.equal(undefined);
    expect(refused('gemini', everything)).to.equal(undefined);
    expect(refused('gemini', { seed: 2 ** 31 })).to.equal('seed');
    expect([
      refused('anthropic', { seed: 1 }),
      refused('anthropic', { format: { type: 'json_object' } }),
      refused('anthropic', { temperature: 1.01 }),
      refused('anthropic', { temperature: 1, topP: 0.1, stop: ['a'] }),
    ]).to.deep.equal(['seed', 'response_format', 'temperature', undefined]);
    expect([refused('builtin', { temperature: 2, topP: 1, seed: 1 }), refused('builtin', { stop: ['a'] }), refused('builtin', { format: { type: 'json_object' } })]).to.deep.equal([
      undefined,
      'stop',
      'response_format',
    ]);
    expect([{ topP: 1 }, { stop: ['a'] }, { seed: 1 }, { format: { type: 'json_object' as const } }, { temperature: 1 }].map((asked) => refused('of-an-extension', asked))).to.deep.equal([
      'top_p',
      'stop',
      'seed',
      'response_format',
      undefined,
    ]);
    expect(refusedBy('anthropic', undefined)).to.equal(undefined);
  });

  it('P2 is found in what a provider says, where it refuses that and nothing else', () => {
    const table: ReadonlyArray<readonly [said: string, expected: string | undefined]> = [
      ["Unsupported parameter: 'stop' is not supported with this model.", 'stop'],
      ["'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", 'temperature'],
      ['top_p: Extra inputs are not permitted', 'top_p'],
      ['Invalid schema for response_format', 'response_format'],
      ["'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", 'response_format'],
      ['Unknown name "seed" at generation_config', 'seed'],
      ['the model has stopped', undefined],
      ['temperature is nice', undefined],
    ];
    for (const [said, expected] of table) expect(namedIn(said, everything), said).to.equal(expected);
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
    it('P1 is asked of the next one where the first cannot hold it', async () => {
      const answer = await rig.llm.complete(
        request({ provider: 'anthropic', model: 'claude-sonnet-4-6', fallbacks: [{ provider: 'openai', model: 'gpt-4o' }], parameters: { seed: 7 } }),
        rig.context(),
      );
      expect([answer.provider, claude.requests.length]).to.deep.equal(['openai', 0]);
      expect(openai.requests[0]?.body.seed).to.equal(7);
      expect(answer.attempts[0]?.message).to.contain('seed');
    });

    it('P1 is refused where none can, and before anything is asked', async () => {
      const choice = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
      expect(await failed({ seed: 7 }, choice)).to.include({ code: 'llm_parameter_unsupported', status: 400, retry: false });
      expect(await rig.llm.checkParameters(choice, { seed: 7 }).catch((error: SvcError) => error.code)).to.equal('llm_parameter_unsupported');
      await rig.llm.checkParameters(choice, { topP: 0.5 });
      expect(claude.requests).to.have.length(0);
    });

    it('P2 is never left out for a model that refuses it, unlike what the agent says', async () => {
      openai.script(({ body }) => ('temperature' in body ? { status: 400, message: "'temperature' is not supported" } : { text: 'fine' }));
      const model = { model: 'gpt-4o' };
      expect(await failed({ temperature: 0.5 }, model)).to.include({ code: 'llm_parameter_unsupported', status: 400 });
      expect((await rig.llm.complete(request({ ...model, temperature: 0.5 }), rig.context())).text).to.equal('fine');
      const asked = openai.requests.length;
      expect(await failed({ temperature: 0.5 }, model)).to.include({ code: 'llm_parameter_unsupported' });
      expect(openai.requests).to.have.length(asked);
    });

    it("P2 is sent alone where the model takes one of two, and the other is the agent's", async () => {
      openai.script(({ body }) => ('temperature' in body && 'top_p' in body ? { status: 400, message: '`temperature` and `top_p` cannot both be specified for this model' } : { text: 'fine' }));
      const { text } = await rig.llm.complete(request({ model: 'gpt-4o', temperature: 0.5, parameters: { topP: 0.9 } }), rig.context());
      expect([text, openai.requests.at(-1)?.body.top_p, 'temperature' in (openai.requests.at(-1)?.body ?? {})]).to.deep.equal(['fine', 0.9, false]);
    });
  });
});
