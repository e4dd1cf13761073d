/** What a manifest caps holds on every channel, and after a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootTestKernel } from '@svc/testing';
import { openChat } from './chat-socket.js';
import { bootWithModel, MODEL_KEY, type ModelKernel, stopModelKernels } from './model-kernel.js';

interface WireRequest {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  readonly max_tokens?: number;
}

const spawn = async ({ http }: Pick<ModelKernel, 'http'>, manifest: object): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;

describe('the limits of an agent', () => {
  afterEach(stopModelKernels);

  it('end its messages with 429 and Retry-After on each channel, before anything is stored, and hold after a restart', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-limits-'));
    try {
      const one = await bootWithModel(() => ({ text: 'ok', usage: { input: 600, output: 400 } }), { home });
      const id = await spawn(one, { name: 'capped', capabilities: { max_llm_tokens_per_hour: 1_000 } });
      await one.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'first' });

      for (const path of [`/api/agents/${id}/message`, `/api/agents/${id}/message/stream`]) {
        const refused = await one.http.expect(429, 'POST', path, { message: 'second' });
        expect(refused.body.code).to.equal('token_quota_exceeded');
        expect(Number(refused.headers.get('retry-after'))).to.be.within(3_500, 3_660);
      }
      const chat = await openChat(one.kernel.url, id);
      chat.send({ type: 'message', content: 'third' });
      expect(await chat.next('error')).to.include({ code: 'budget_exceeded', reason: 'token_quota_exceeded' });
      chat.socket.close();
      expect((await one.http.post('/v1/chat/completions', { model: 'svc:capped', messages: [{ role: 'user', content: 'fourth' }] })).status).to.equal(429);
      expect((await one.http.expect(200, 'GET', `/api/agents/${id}/session`)).body.message_count).to.equal(2);
      await one.kernel.stop();

      const again = await bootTestKernel({ home, env: { OPENAI_API_KEY: MODEL_KEY } });
      expect((await again.http.post(`/api/agents/${id}/message`, { message: 'fifth' })).status).to.equal(429);
      expect((await again.http.post(`/api/agents/${id}/message`, { message: '/usage' })).status).to.equal(200);
      expect(one.model.requests).to.have.length(1);
      await again.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('end a run in the middle when a call of it used the last tokens', async () => {
    const one = await bootWithModel(() => ({ toolCalls: [{ name: 'system_time', args: {} }], usage: { input: 600, output: 400 } }));
    const id = await spawn(one, { name: 'capped', resources: { max_llm_tokens_per_hour: 1_500 } });

    const { body, headers } = await one.http.expect(429, 'POST', `/api/agents/${id}/message`, { message: 'go on and on' });

    expect(body.code).to.equal('token_quota_exceeded');
    expect(Number(headers.get('retry-after'))).to.be.within(3_500, 3_660);
    expect(one.model.requests).to.have.length(2);
  });

  it('are sent to the model: output, history', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const id = await spawn(one, { name: 'narrow', max_history_messages: 4, model: { max_tokens: 4_000, max_output_tokens: 300 } });
    for (let i = 0; i < 6; i++) await one.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: `number ${i}` });

    const last = one.model.requests.at(-1)?.body as WireRequest;
    expect(last.max_tokens).to.equal(300);
    expect(last.messages.filter(({ role }) => role !== 'system').map(({ content }) => content)).to.deep.equal(['number 4', 'ok', 'number 5']);
  });
});
