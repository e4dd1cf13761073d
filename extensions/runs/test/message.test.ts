import { OPEN_RATE, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('a message', () => {
  afterEach(stopTestKernels);

  it('is answered by the mock provider, which drives a tool and says what it is', async () => {
    const { http } = await bootTestKernel();
    const { body: list } = await http.expect(200, 'GET', '/api/agents');

    const { body } = await http.expect(200, 'POST', `/api/agents/${list.agents[0].id}/message`, { message: 'write hello to notes.txt then read it' });

    expect(body.response).to.contain('mock provider');
    expect(body.iterations).to.equal(3);
  });

  it('streams chunks, tool calls and exactly one done', async () => {
    const { http } = await bootTestKernel({ config: OPEN_RATE });
    const { body: list } = await http.expect(200, 'GET', '/api/agents');

    const events = await http.events('POST', `/api/agents/${list.agents[0].id}/message/stream`, { message: 'list files' });

    expect(events.filter((one) => one.event === 'done')).to.have.length(1);
    expect(events.at(-1)?.event).to.equal('done');
    expect(events.some((one) => one.event === 'tool_use')).to.equal(true);
  });
});
