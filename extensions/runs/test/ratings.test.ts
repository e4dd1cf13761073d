/** Ratings of answers: one of each person, with their conversation, counted by agent and model. */
import { expect } from 'chai';
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;
const ABSENT = '00000000-0000-4000-8000-00000000beef';

describeDaemonOnEngines('the rating of an answer', () => {
  let svc: ModelKernel;
  before(async () => {
    svc = await bootWithModel(() => ({ text: 'an answer' }));
  });
  after(stopModelKernels);

  const begun = async (): Promise<string> => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/sessions`, { activate: false })).body.session_id;
  const say = async (session_id: string, more: object = {}): Promise<string> =>
    (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hello', session_id, ...more })).body.run_id;
  const rate = (run: string, body: object) => svc.http.put(`/api/runs/${run}/rating`, body);
  const shown = async (session: string): Promise<Body[]> => (await svc.http.expect(200, 'GET', `/api/sessions/${session}/runs`)).body.runs.map(({ rating }: Body) => rating);
  const counts = async (): Promise<Body[]> => (await svc.http.expect(200, 'GET', '/api/runs/ratings')).body.ratings;

  it('is set, replaced with its comment, taken back, and shown with the run', async () => {
    const session = await begun();
    const run = await say(session);
    expect(await shown(session)).to.deep.equal([null]);
    expect((await rate(run, { value: 'up' })).body).to.deep.equal({ run_id: run, rating: { value: 'up', comment: null } });
    await rate(run, { value: 'down', comment: ' too long ' });
    expect(await shown(session)).to.deep.equal([{ value: 'down', comment: 'too long' }]);
    await rate(run, { value: null });
    expect(await shown(session)).to.deep.equal([null]);
    expect((await rate(run, { value: 'down', comment: 'x'.repeat(1_001) })).status).to.equal(400);
  });

  it('is counted by agent and model, and gone with its conversation', async () => {
    const session = await begun();
    const runs = [await say(session), await say(session), await say(session)];
    for (const [index, run] of runs.entries()) await rate(run, { value: index === 0 ? 'down' : 'up' });
    expect(await counts()).to.deep.equal([{ agent_id: svc.agent.id, agent_name: svc.agent.name, model: 'openai/gpt-4o', up: 2, down: 1 }]);
    await svc.http.expect(200, 'DELETE', `/api/sessions/${session}`);
    expect(await counts()).to.deep.equal([]);
    expect((await rate(runs[0] ?? '', { value: 'up' })).status).to.equal(404);
    expect(await counts()).to.deep.equal([]);
  });

  it('is none for an answer beside the conversation, and for a run that nobody knows', async () => {
    const session = await begun();
    const beside = await say(session, { incognito: true });
    const { status, body } = await rate(beside, { value: 'up' });
    expect([status, body.code]).to.deep.equal([409, 'run_not_rated']);
    expect((await rate(ABSENT, { value: 'up' })).status).to.equal(404);
  });
});
