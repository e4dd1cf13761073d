/** Sessions that were branched from each other are one conversation, of which one version is chosen. */
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

describeDaemonOnEngines('versions of a conversation', () => {
  let svc: ModelKernel;
  let agentId: string;
  let first: string;
  before(async () => {
    svc = await bootWithModel(({ index }) => ({ text: `answer ${index}` }));
  });
  after(stopModelKernels);
  beforeEach(async () => {
    ({ agent_id: agentId } = (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: `teller ${++agents}` } })).body);
    first = (await svc.http.expect(200, 'GET', `/api/agents/${agentId}`)).body.session_id;
    await say('one', first);
    await say('two', first);
  });

  let agents = 0;
  const say = async (message: string, session_id: string): Promise<Body> => (await svc.http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message, session_id })).body;
  const branch = async (id: string, body: object): Promise<string> => (await svc.http.expect(200, 'POST', `/api/sessions/${id}/branch`, body)).body.session_id;
  const listed = async (query = 'versions=chosen'): Promise<Body> => (await svc.http.expect(200, 'GET', `/api/sessions?agent_id=${agentId}&${query}`)).body;
  const idsOf = ({ sessions }: Body): string[] => sessions.map(({ session_id }: Body) => session_id);
  const historyOf = async (id: string): Promise<Body> => (await svc.http.expect(200, 'GET', `/api/agents/${agentId}/session?session_id=${id}`)).body;

  it('are one row of a list that asks for it, and each a row of the others', async () => {
    const other = (await svc.http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, { activate: false })).body.session_id;
    await say('something else', other);
    const [edited, again] = [await branch(first, { before_seq: 3 }), await branch(first, { before_seq: 1 })];
    const deeper = await branch(edited, { after_seq: 2 });
    expect(await listed()).to.include({ total: 2 });
    expect(idsOf(await listed())).to.have.members([other, deeper]);
    expect(idsOf(await listed('limit=1&versions=chosen'))).to.deep.equal([deeper]);
    expect(idsOf(await listed(''))).to.have.members([first, other, edited, again, deeper]);
    const rows: Body[] = (await listed('')).sessions;
    expect(rows.filter(({ conversation_id }) => conversation_id === first)).to.have.length(4);
    expect(rows.find(({ session_id }) => session_id === other)).to.include({ conversation_id: null, is_chosen: true });
  });

  it('stay chosen once somebody chose one, which becomes the current session of the agent', async () => {
    const edited = await branch(first, { before_seq: 3 });
    const third = await branch(first, { before_seq: 3 });
    expect((await svc.http.expect(200, 'POST', `/api/sessions/${edited}/choose`)).body).to.include({ session_id: edited, conversation_id: first });
    expect(idsOf(await listed())).to.deep.equal([edited]);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${agentId}`)).body.session_id).to.equal(edited);
    const { versions } = await historyOf(third);
    expect(versions.map(({ session_id, branched_from, through_seq, last_seq, is_chosen }: Body) => [session_id, branched_from, through_seq, last_seq, is_chosen])).to.deep.equal([
      [first, null, 0, 4, false],
      [edited, first, 2, 2, true],
      [third, first, 2, 2, false],
    ]);
  });

  it('leave another one chosen when the chosen one is deleted, or go together', async () => {
    const edited = await branch(first, { before_seq: 3 });
    const third = await branch(edited, {});
    await svc.http.expect(200, 'DELETE', `/api/sessions/${third}`);
    expect(idsOf(await listed())).to.deep.equal([edited]);
    await svc.http.expect(200, 'DELETE', `/api/sessions/${first}`);
    expect(idsOf(await listed()), 'one that was not chosen')
      .to.include(edited)
      .and.not.include(first);
    await branch(edited, {});
    await svc.http.expect(200, 'DELETE', `/api/sessions/${edited}?all_versions=true`);
    // What is left is the new, empty session that the agent has.
    expect((await listed('')).sessions.map(({ message_count, conversation_id }: Body) => [message_count, conversation_id])).to.deep.equal([[0, null]]);
  });

  it('get one name together where that is asked for', async () => {
    const edited = await branch(first, { before_seq: 3 });
    await svc.http.expect(200, 'PUT', `/api/sessions/${edited}/label`, { label: 'Lisbon', all_versions: true });
    expect((await listed('')).sessions.map(({ label }: Body) => label)).to.deep.equal(['Lisbon', 'Lisbon']);
    await svc.http.expect(200, 'PUT', `/api/sessions/${edited}/label`, { label: 'Porto' });
    expect((await listed('')).sessions.map(({ label }: Body) => label)).to.have.members(['Lisbon', 'Porto']);
  });

  it('are none for a session that was never branched, which is chosen anyway', async () => {
    expect((await svc.http.expect(200, 'POST', `/api/sessions/${first}/choose`)).body).to.include({ conversation_id: null });
    expect(await historyOf(first)).to.not.have.property('versions');
    await svc.http.expect(404, 'POST', '/api/sessions/5a3c7c7e-7a39-4b59-8f0c-0f6f1f2b7a10/choose');
  });
});
