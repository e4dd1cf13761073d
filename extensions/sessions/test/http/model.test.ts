/** A conversation with a model of its own. */
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

describe('the model of a conversation', () => {
  let svc: ModelKernel;
  before(async () => {
    svc = await bootWithModel(() => ({ text: 'an answer' }));
  });
  after(stopModelKernels);

  const say = async (more: object): Promise<string | undefined> => {
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hello', ...more });
    return svc.model.requests.at(-1)?.body.model;
  };
  const set = (id: string, model: object | null) => svc.http.put(`/api/sessions/${id}/model`, { model });
  const shown = async (id: string): Promise<Body> => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session?session_id=${id}`)).body.model;

  it('answers there, in its versions and beside it, and nowhere else, until it is taken back', async () => {
    const first = svc.agent.session_id;
    const usual = await say({ session_id: first });
    const other = (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/sessions`, { activate: false })).body.session_id;
    expect((await set(first, { provider: 'openai', model: 'gpt-4o-mini' })).status).to.equal(200);
    expect(await shown(first)).to.deep.equal({ provider: 'openai', model: 'gpt-4o-mini' });
    expect(await say({ session_id: first })).to.equal('gpt-4o-mini');
    expect(await say({}), 'the current session').to.equal('gpt-4o-mini');
    expect(await say({ session_id: first, incognito: true })).to.equal('gpt-4o-mini');
    expect(await say({ session_id: other }))
      .to.equal(usual)
      .and.not.equal('gpt-4o-mini');
    const version = (await svc.http.expect(200, 'POST', `/api/sessions/${first}/branch`)).body.session_id;
    expect(await say({ session_id: version })).to.equal('gpt-4o-mini');
    await set(version, null);
    expect(await say({ session_id: first })).to.equal(usual);
    expect(await shown(first)).to.equal(null);
  });

  it('is refused where no provider has it', async () => {
    const { status, body } = await set(svc.agent.session_id, { provider: 'nobody', model: 'nothing' });
    expect(status, JSON.stringify(body)).to.be.within(400, 499);
    expect(await shown(svc.agent.session_id)).to.equal(null);
  });
});
