/** Workflows that cannot end well: they end, and say why. */
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

describe('workflows that cannot end well', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  before(async () => {
    world = await bootWithModel(undefined, { config: OPEN_RATE });
  });
  after(stopModelKernels);

  const run = async (id: string) => {
    const { run_id: runId } = (await world.http.expect(202, 'POST', `/api/workflows/${id}/run?wait=false`, {})).body;
    for (let tries = 0; tries < 1_200; tries += 1) {
      const { body } = await world.http.expect(200, 'GET', `/api/workflows/runs/${runId}`);
      if (body.completed_at !== null) return body;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('it did not end');
  };

  it('an agent that is gone at run time fails its step by name', async () => {
    const agent = (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'leaving' } })).body.agent_id;
    const steps = [
      { name: 'ask', mode: 'operator' },
      { name: 'late', agent: 'leaving', input: 'x' },
    ];
    const id = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'late', steps })).body.workflow_id;
    const { run_id: runId } = (await world.http.expect(202, 'POST', `/api/workflows/${id}/run`, {})).body;
    await world.http.expect(200, 'DELETE', `/api/agents/${agent}?confirm=true`);
    await world.http.expect(200, 'POST', `/api/workflows/runs/${runId}/operator`, { action: 'approve' });
    let body = (await world.http.expect(200, 'GET', `/api/workflows/runs/${runId}`)).body;
    for (let tries = 0; tries < 400 && body.completed_at === null; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      body = (await world.http.expect(200, 'GET', `/api/workflows/runs/${runId}`)).body;
    }
    expect([body.state, body.error]).to.deep.equal(['failed', 'step "late": There is no agent "leaving".']);
    expect((await world.http.expect(404, 'POST', `/api/workflows/${id}/run`, {})).body.code).to.equal('workflows_agent_not_found');
  });

  it('one that calls itself ends at the depth that [runs] allows', async () => {
    await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'caller', capabilities: { tools: ['workflow_run'], agent_message: ['*'] } } });
    const id = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'ouroboros', steps: [{ name: 'again', agent: 'caller', input: 'call it again' }] })).body.workflow_id;
    const results: string[] = [];
    world.model.script(({ body }) => {
      const { role, content } = body.messages.at(-1);
      if (role !== 'tool') return { toolCalls: [{ id: `call_${body.messages.length}`, name: 'workflow_run', args: { workflow_id: 'ouroboros', input: 'x' } }] };
      results.push(JSON.stringify(content));
      return { text: 'that is enough' };
    });
    expect((await run(id)).state).to.be.oneOf(['completed', 'failed']);
    expect(results.length, 'levels').to.be.within(1, 20);
    expect(results[0], 'the deepest call was refused').to.match(/deep|depth|limit/i);
    expect((await world.http.expect(200, 'GET', '/api/runs?status=waiting')).body.runs).to.deep.equal([]);
  });
});
