/** An agent that is asked for again and again, and changes in between: what is kept for those who ask is never older than what was done here. */
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';

describe('an agent that is asked for again and again', () => {
  afterEach(stopModelKernels);

  it('shows each message, session, child and change at once', async () => {
    const spawn = { name: 'agent_spawn', args: { name: 'child', system_prompt: 'You help.' } };
    const svc = await bootWithModel((request) => {
      const usage = { input: 1_000, output: 1_000 };
      const last = request.body.messages.at(-1);
      return last.role === 'user' && last.content === 'have a child' ? { toolCalls: [spawn], usage } : { text: 'ok', usage };
    });
    const { agent_id } = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "parent"\n[capabilities]\nagent_spawn = true\n' })).body;
    const path = `/api/agents/${agent_id}`;
    const shown = async () => {
      for (let again = 0; again < 3; again++) await svc.http.expect(200, 'GET', path);
      const { session_count, cost_24h, children, state } = (await svc.http.expect(200, 'GET', path)).body;
      return { session_count, hasCost: cost_24h, children: children.length, state };
    };
    const before = await shown();
    expect(before).to.deep.include({ session_count: 0, hasCost: 0, children: 0, state: 'Running' });

    await svc.http.expect(200, 'POST', `${path}/message`, { message: 'one' });
    const once = await shown();
    expect(once).to.deep.include({ session_count: 1, children: 0 });
    expect(once.hasCost).to.be.greaterThan(0);

    await svc.http.expect(200, 'POST', `${path}/message`, { message: 'two' });
    expect((await shown()).hasCost).to.be.closeTo(once.hasCost * 2, 1e-6);

    const { session_id } = (await svc.http.expect(200, 'POST', `${path}/sessions`, {})).body;
    await svc.http.expect(200, 'POST', `${path}/message`, { message: 'three', session_id });
    expect((await shown()).session_count).to.equal(2);

    await svc.http.expect(200, 'POST', `${path}/message`, { message: 'have a child' });
    expect((await shown()).children).to.equal(1);
    const [child] = (await svc.http.expect(200, 'GET', path)).body.children;
    await svc.http.expect(200, 'DELETE', `/api/agents/${child}`);
    expect((await shown()).children).to.equal(0);

    await svc.http.expect(200, 'PUT', `${path}/suspend`);
    expect((await shown()).state).to.equal('Suspended');
  });
});
