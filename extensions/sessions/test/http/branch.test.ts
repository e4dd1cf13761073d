/** Going on from an earlier place in a conversation. */
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import type { RecordedRequest, Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { PNG, sendForm } from '../../../files/test/files-kit.js';
import { bootPeople, refusalOf, UNKNOWN } from './people.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

const said = ({ body }: RecordedRequest): string => JSON.stringify(body.messages.filter(({ role }: Body) => role !== 'system').map(({ content }: Body) => content));

/** Looks at the clock for `tool`, never answers `hang`. */
const script: Script = (request) => {
  const last = request.body.messages.at(-1);
  if (last.content === 'hang') return { hang: true };
  return last.content === 'tool' ? { text: 'I look.', toolCalls: [{ id: 'call_1', name: 'system_time', args: {} }] } : { text: `answer ${request.index}` };
};

describeDaemonOnEngines('a branch of a session', () => {
  let svc: ModelKernel;
  beforeEach(async () => {
    svc = await bootWithModel(script);
  });
  afterEach(stopModelKernels);

  const say = async (message: string, more: object = {}): Promise<Body> => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message, ...more })).body;
  const messagesOf = async (id: string): Promise<Body[]> => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session?session_id=${id}`)).body.messages;
  const logOf = async (id: string): Promise<Body[]> => (await svc.http.expect(200, 'GET', `/api/sessions/${id}`)).body.messages;
  const branch = async (body: object = {}, headers: Record<string, string> = {}): Promise<Body> =>
    (await svc.http.expect(200, 'POST', `/api/sessions/${svc.agent.session_id}/branch`, body, headers)).body;
  const refused = async (body: object, id = svc.agent.session_id) => refusalOf(await svc.http.post(`/api/sessions/${id}/branch`, body));

  it('goes on from before a message, and leaves the other as it is', async () => {
    await say('one');
    await say('two');
    const before = await messagesOf(svc.agent.session_id);

    const made = await branch({ before_seq: before[2].seq, label: 'otherwise' });

    expect(made).to.include({ agent_id: svc.agent.id, label: 'otherwise', branched_from: svc.agent.session_id, through_seq: 2 });
    expect(await messagesOf(made.session_id)).to.deep.equal(before.slice(0, 2));
    await say('three', { session_id: made.session_id });
    expect(said(svc.model.requests.at(-1) as RecordedRequest)).to.equal('["one","answer 0","three"]'); // it was asked just now
    expect(await messagesOf(svc.agent.session_id)).to.deep.equal(before);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}`)).body.session_id, 'the current one').to.equal(svc.agent.session_id);
  });

  it('takes an answer along with its calls and their results, or not at all', async () => {
    await say('tool');
    const log = await logOf(svc.agent.session_id);
    expect(log).to.have.length(5);
    const through = async (body: object): Promise<number> => {
      const made = await branch(body);
      expect(await logOf(made.session_id), JSON.stringify(body)).to.deep.equal(log.slice(0, made.through_seq));
      return made.through_seq;
    };
    for (const [seq, after, before] of [
      [1, 1, 0],
      [2, 4, 1],
      [3, 4, 1],
      [4, 4, 1],
      [5, 5, 4],
    ]) {
      expect(await through({ after_seq: seq }), `after ${seq}`).to.equal(after);
      expect(await through({ before_seq: seq }), `before ${seq}`).to.equal(before);
    }
    expect(await through({})).to.equal(5);
  });

  it('takes nothing along that is still being said, and can go on from before it', async () => {
    await say('one');
    void svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'hang' }).catch(() => undefined);
    await until(() => svc.model.requests.length === 2);

    expect(await refused({})).to.deep.equal([409, 'sessions_run_going_on']);
    expect(await refused({ after_seq: 3 })).to.deep.equal([409, 'sessions_run_going_on']);
    expect((await branch({ before_seq: 3 })).through_seq).to.equal(2);

    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);
    await until(async () => (await refused({}))[0] === 200);
  });

  it('brings attachments along, also when the other session is gone', async () => {
    const file = (await sendForm(svc.http, svc.agent.id, { bytes: PNG, type: 'image/png', name: 'dot.png' })).body.file_id;
    await say('look', { attachments: [{ file_id: file }] });
    const made = await branch();
    await svc.http.expect(200, 'DELETE', `/api/sessions/${svc.agent.session_id}`);

    expect((await messagesOf(made.session_id))[0].images).to.deep.equal([{ media_type: 'image/png', file_id: file, filename: 'dot.png' }]);
    await say('and now?', { session_id: made.session_id });
    expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages)).to.contain(PNG.toString('base64'));
  });

  it('is listed with what it holds and from where it came; what was said and spent before counts where that was', async () => {
    await say('needle');
    const made = await branch();
    const list = async () => (await svc.http.expect(200, 'GET', '/api/sessions')).body.sessions.find(({ id }: Body) => id === made.session_id);
    expect(await list()).to.include({ message_count: 2, total_tokens: 0, cost_usd: 0, label: 'needle', branched_from: svc.agent.session_id });
    const found = async () => (await svc.http.expect(200, 'GET', '/api/sessions/search?q=needle')).body.items.map(({ session_id }: Body) => session_id);
    expect(await found()).to.deep.equal([svc.agent.session_id]);

    await say('another needle', { session_id: made.session_id });
    expect(await list()).to.include({ message_count: 4, total_tokens: 15 });
    expect(await found()).to.have.members([svc.agent.session_id, made.session_id]);
  });

  it('is one branch, however often it is asked for under one key', async () => {
    await say('one');
    const key = { 'idempotency-key': 'the-same' };
    expect(await branch({ after_seq: 1 }, key)).to.deep.equal(await branch({ after_seq: 1 }, key));
    expect((await svc.http.expect(200, 'GET', '/api/sessions')).body.total).to.equal(2);
  });

  it('is refused where the place is none', async () => {
    await say('one');
    expect(await refused({ after_seq: 3 })).to.deep.equal([404, 'sessions_no_such_entry']);
    expect(await refused({ before_seq: 9_999 })).to.deep.equal([404, 'sessions_no_such_entry']);
    expect(await refused({ before_seq: 1, after_seq: 1 })).to.deep.equal([400, 'sessions_two_places']);
    expect((await refused({ before_seq: 0 }))[0]).to.equal(400);
    expect(await refused({ label: '<b>' })).to.deep.equal([400, 'sessions_invalid_label']);
    expect(await refused({}, UNKNOWN)).to.deep.equal([404, 'sessions_no_such_session']);
  });
});

describe('a branch of a session of somebody else', () => {
  afterEach(stopModelKernels);

  it('can nobody begin who may not see it, and belongs to whose it was', async () => {
    const svc = await bootPeople();
    await svc.alice.say('hi');
    const path = `/api/sessions/${svc.alice.agent.session_id}/branch`;
    expect((await svc.bob.http.post(path, {})).status).to.equal(404);
    expect((await svc.carol.post(path, {})).status).to.equal(403);

    const { session_id: id } = (await svc.owner.expect(200, 'POST', path, {})).body;

    expect((await svc.alice.http.get(`/api/sessions/${id}`)).status).to.equal(200);
    expect((await svc.bob.http.get(`/api/sessions/${id}`)).status).to.equal(404);
  });
});
