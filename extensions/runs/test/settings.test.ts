/** Settings of config.toml that hold for agents whose manifest does not say. */
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

/** Messages that the model was sent last, beside the system prompt. */
const said = ({ model }: ModelKernel): number => {
  const { messages = [] }: { messages?: ReadonlyArray<{ role: string }> } = model.requests.at(-1)?.body ?? {};
  return messages.filter(({ role }) => role !== 'system').length;
};

describe('settings of runs in config.toml', () => {
  afterEach(stopModelKernels);

  it('cap the messages that a model is sent and give its thoughts a budget, by the names of the interface, unless the agent says', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok', thoughts: 'hm' }), {
      config: `max_history_messages = 4\n${OPEN_RATE}[thinking]\nbudget_tokens = 2048\nstream_thinking = false\n`,
    });
    const { body: own } = await svc.http.expect(201, 'POST', '/api/agents', {
      manifest_toml: 'name = "own"\nmax_history_messages = 6\n[model]\nprovider = "openai"\nmodel = "gpt-5-mini"\n[thinking]\nbudget_tokens = 9000\nstream_thinking = true\n',
    });
    await svc.http.expect(200, 'PUT', `/api/agents/${svc.agent.id}/model`, { model: 'gpt-5-mini', provider: 'openai' });
    const seen: unknown[] = [];
    for (const id of [svc.agent.id, own.agent_id]) {
      for (let turn = 0; turn < 5; turn++) await svc.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: `turn ${turn}`, thinking: true });
      const events = await svc.http.events('POST', `/api/agents/${id}/message/stream`, { message: 'last', thinking: true });
      seen.push([said(svc) <= (id === own.agent_id ? 6 : 4), svc.model.requests.at(-1)?.body.reasoning_effort, events.some(({ event }) => event === 'thinking_delta')]);
    }
    expect(seen).to.deep.equal([
      [true, 'low', false],
      [true, 'high', true],
    ]);
  });
});
