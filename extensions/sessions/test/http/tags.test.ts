/** Tags of a conversation: in all its versions, found by lists, and nobody else's. */
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { bootPeople, type People, refusalOf } from './people.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

describeDaemonOnEngines('tags of a conversation', () => {
  let svc: People;
  before(async () => {
    svc = await bootPeople();
  });
  after(stopModelKernels);

  const begun = async (): Promise<string> => {
    const { session_id } = (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, { activate: false })).body;
    await svc.alice.say('hello', session_id);
    return session_id;
  };
  const tag = (id: string, tags: readonly string[]) => svc.alice.http.put(`/api/sessions/${id}/tags`, { tags });
  const tagged = async (word: string, who = svc.alice.http): Promise<string[]> =>
    (await who.expect(200, 'GET', `/api/sessions?tag=${encodeURIComponent(word)}`)).body.sessions.map(({ session_id }: Body) => session_id);

  it('are stored in small letters and once, and lists find those that have one as a whole', async () => {
    const [lisbon, other] = [await begun(), await begun()];
    expect((await tag(lisbon, ['Trip', 'trip', 'Lisboa_2', '出差', 'ÉTÉ'])).body.tags).to.deep.equal(['lisboa_2', 'trip', 'été', '出差'].sort());
    await tag(other, ['tripod', 'lisboax2']);
    for (const word of ['trip', 'TRIP', 'lisboa_2', 'Été', '出差']) expect(await tagged(word), word).to.deep.equal([lisbon]);
    expect(await tagged('tri')).to.deep.equal([]);
    const ofAgent = (await svc.alice.http.expect(200, 'GET', `/api/agents/${svc.alice.agent.id}/sessions?tag=tripod`)).body.sessions;
    expect(ofAgent.map(({ session_id, tags }: Body) => [session_id, tags])).to.deep.equal([[other, ['lisboax2', 'tripod']]]);
    expect((await svc.alice.http.expect(200, 'GET', `/api/agents/${svc.alice.agent.id}/session?session_id=${other}`)).body.tags).to.deep.equal(['lisboax2', 'tripod']);
    await tag(lisbon, []);
    expect(await tagged('trip')).to.deep.equal([]);
  });

  it('are those of all versions, also of one that is made later', async () => {
    const first = await begun();
    const second = (await svc.alice.http.expect(200, 'POST', `/api/sessions/${first}/branch`, {})).body.session_id;
    await tag(second, ['versed']);
    const third = (await svc.alice.http.expect(200, 'POST', `/api/sessions/${second}/branch`, {})).body.session_id;
    expect(await tagged('versed')).to.have.members([first, second, third]);
    expect((await svc.alice.http.expect(200, 'GET', '/api/sessions/tags')).body.tags, 'counted as one conversation').to.deep.include({ tag: 'versed', count: 1 });
  });

  for (const tags of [['two words'], ['a,b'], [''], ['-x'], ['x'.repeat(31)], Array.from({ length: 9 }, (_, index) => `t${index}`)])
    it(`are refused where they are no tags: ${JSON.stringify(tags).slice(0, 40)}`, async () => {
      expect((await tag(await begun(), tags)).status).to.equal(400);
    });

  it('are neither seen nor set by others', async () => {
    const session = await begun();
    await tag(session, ['mine']);
    expect(refusalOf(await svc.bob.http.put(`/api/sessions/${session}/tags`, { tags: ['his'] }))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(await tagged('mine', svc.bob.http)).to.deep.equal([]);
    expect((await svc.bob.http.expect(200, 'GET', '/api/sessions/tags')).body.tags).to.deep.equal([]);
    expect((await svc.carol.put(`/api/sessions/${session}/tags`, { tags: [] })).status).to.be.oneOf([403, 404]);
    expect(await tagged('mine')).to.deep.equal([session]);
  });
});
