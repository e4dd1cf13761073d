/** The adapter to models opens for the base URLs that the providers have, whatever becomes of the area that says so. */
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';

describe('the adapter to models', function () {
  this.timeout(30_000);
  afterEach(stopModelKernels);

  it('stays open while the area that keeps the providers is reloaded again and again', async () => {
    const { kernel, http, agent, model } = await bootWithModel({ text: 'hello' });
    let isOver = false;
    const statuses: number[] = [];
    const talking = (async () => {
      while (!isOver) statuses.push((await http.post(`/api/agents/${agent.id}/message`, { message: 'hi' })).status);
    })();
    for (let round = 0; round < 5; round++) await kernel.daemon.kernel.reload('providers');
    isOver = true;
    await talking;
    statuses.push((await http.post(`/api/agents/${agent.id}/message`, { message: 'hi' })).status);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(model.requests.length).to.be.greaterThan(0);
  });

  it('opens for a base URL that was just typed, and closes for the one before', async () => {
    const { kernel, http, agent } = await bootWithModel({ text: 'from the first' });
    const second = await startOpenAiServer({ text: 'from the second' });
    try {
      const saved = await http.expect(200, 'PUT', '/api/providers/openai/url', { url: second.url });
      expect(saved.body).to.include({ reachable: true });
      const { body } = await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hi' });
      expect(body.response).to.equal('from the second');
      const { modelOrigins } = kernel.daemon.parts;
      expect(modelOrigins.covers(new URL(`${second.url}/v1/chat/completions`))).to.equal(true);
      expect(modelOrigins.covers(new URL('https://api.openai.com/v1/chat/completions'))).to.equal(false);
    } finally {
      await second.close();
    }
  });
});
