/** What a message waits for before it is accepted, and what it does not wait for. */
import type { ExtensionDefinition } from '@svc/api';
import { RunContext } from '@svc/ext-runs/contract';
import { fixtureExtension, OPEN_RATE, OWNER } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

/** An area that adds to the system prompt, in its own time. */
const adds = (text: () => Promise<string | undefined>) =>
  fixtureExtension({
    id: 'slow',
    manifest: { hooks: [{ name: 'run.context' }] },
    definition: { activate: (ctx) => void ctx.hooks.tap(RunContext, text) } satisfies ExtensionDefinition,
  });

describe('the first step of a message', () => {
  afterEach(stopModelKernels);

  const batches = (svc: ModelKernel): number => svc.kernel.daemon.parts.storage.stats().batches;
  const runsOf = (svc: ModelKernel) => svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent' });
  const talk = async (svc: ModelKernel): Promise<string> => JSON.stringify((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages);

  it('is in the commit that accepts it: two waits for the disk from message to answer', async () => {
    const svc = await bootWithModel({ text: 'yes' });
    const say = () => svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'go' });
    await say();
    const waits: number[] = [];
    for (let message = 0; message < 5; message++) {
      const before = batches(svc);
      await say();
      waits.push(batches(svc) - before);
    }
    // A timer may write something beside them.
    expect(Math.min(...waits), String(waits)).to.equal(2);
  });

  it('is not waited for when an area takes its time: the message is accepted meanwhile, and its prompt is whole', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const svc = await bootWithModel({ text: 'yes' }, { extra: [adds(() => released.then(() => 'It rains.'))], config: `${OPEN_RATE}[extensions]\nenable = ["slow"]\n` });
    const answered = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'go' });
    await until(async () => (await runsOf(svc)).length === 1);

    const [run] = await runsOf(svc);
    expect([run?.status, svc.model.requests.length, await svc.kernel.daemon.parts.journal.steps(OWNER, run?.id ?? '')]).to.deep.equal(['running', 0, []]);
    release();

    expect((await answered).body.response).to.equal('yes');
    expect(JSON.stringify(svc.model.requests[0]?.body)).to.contain('It rains.');
    expect((await talk(svc)).split('"go"')).to.have.length(2);
  });

  it('asks no model for an agent that went meanwhile', async () => {
    let kill = async (): Promise<unknown> => undefined;
    const svc = await bootWithModel({ text: 'yes' }, { extra: [adds(async () => void (await kill()))], config: `${OPEN_RATE}[extensions]\nenable = ["slow"]\n` });
    const { agent_id: agentId } = (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'short-lived' } })).body;
    kill = () => svc.http.expect(200, 'DELETE', `/api/agents/${agentId}`);

    const { body } = await svc.http.post(`/api/agents/${agentId}/message`, { message: 'go' });

    expect([body.code, svc.model.requests.length]).to.deep.equal(['run_agent_gone', 0]);
  });

  it('of messages sent at once to one session is taken in turn, each once', async () => {
    const svc = await bootWithModel({ text: 'yes' });
    const said = ['one', 'two', 'three', 'four', 'five'];
    const answers = await Promise.all(said.map((message) => svc.http.post(`/api/agents/${svc.agent.id}/message`, { message })));
    expect(answers.map(({ body }) => body.response)).to.deep.equal(said.map(() => 'yes'));
    const text = await talk(svc);
    for (const message of said) expect(text.split(`"${message}"`), message).to.have.length(2);
  });
});
