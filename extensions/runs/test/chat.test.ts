/** An agent's chat over a WebSocket: what each frame of the client does, and what it is told when that fails. */
import { bootTestKernel } from '@svc/testing';
import { expect } from 'chai';
import { openChat } from '@svc/test/clients/chat-socket';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { broadcastAgents } from '../src/socket.js';

const SCARCE = 'trusted_proxies = ["127.0.0.1"]\n[api]\nrate_limit_per_second = 0.01\n[rate_limit]\nwindow_secs = 3600\n';

describe('a chat', () => {
  afterEach(stopModelKernels);

  const history = async (svc: ModelKernel, query = '') => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session${query}`)).body;

  it('greets with its agent, then with all agents of the caller and the model of each', async () => {
    const svc = await bootWithModel({ text: 'hello' });
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    const { agents } = await chat.next('agents_updated');
    expect(chat.frames[0]).to.deep.equal({ type: 'connected', agent_id: svc.agent.id });
    expect(agents).to.deep.equal([{ id: svc.agent.id, name: 'assistant', state: 'Running', model_provider: 'openai', model_name: 'gpt-4o' }]);
    chat.socket.close();
  });

  it('takes words as they stand or in a frame, and answers in the current session', async () => {
    const svc = await bootWithModel(() => ({ text: 'hello' }));
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send('as it stands');
    expect(await chat.next('response', 'error')).to.not.have.property('message_id');
    chat.send({ type: 'message', content: 'in a frame', message_id: 'm7' });
    expect(await chat.next('response', 'error')).to.include({ content: 'hello', message_id: 'm7', session_id: svc.agent.session_id });
    expect((await history(svc)).messages.map(({ content }: { content: string }) => content)).to.deep.equal(['as it stands', 'hello', 'in a frame', 'hello']);
    chat.send({ type: 'ping' });
    expect(await chat.next('pong')).to.deep.equal({ type: 'pong' });
    chat.socket.close();
  });

  it('that names a session speaks in that one, and none that is not there is opened', async () => {
    const svc = await bootWithModel(() => ({ text: 'hello' }));
    const { session_id: id } = (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/sessions`, { activate: false })).body;
    const chat = await openChat(svc.kernel.url, svc.agent.id, { query: `?session_id=${id}` });
    chat.send('over here');
    expect((await chat.next('response', 'error')).session_id).to.equal(id);
    expect((await history(svc)).message_count).to.equal(0);
    expect((await history(svc, `?session_id=${id}`)).message_count).to.equal(2);
    chat.socket.close();
    const refused = await openChat(svc.kernel.url, svc.agent.id, { query: '?session_id=77777777-7777-4777-8777-777777777777' }).catch((error: Error) => error.message);
    expect(refused).to.contain('404');
  });

  it('is told what is wrong with a frame, and about which message, and goes on', async () => {
    const svc = await bootWithModel(() => ({ text: 'hello' }));
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send({ type: 'shout' });
    expect(await chat.next('error')).to.include({ code: 'format_error' });
    chat.send({ type: 'resume', last_event_id: 'x'.repeat(100) });
    expect(await chat.next('error')).to.deep.equal({ type: 'error', content: `"${'x'.repeat(80)}" is not the id of a frame.`, code: 'format_error' });
    chat.send({ type: 'resume', last_event_id: '77777777-7777-4777-8777-777777777777.1.1', message_id: 'm1' });
    expect(await chat.next('error')).to.deep.equal({
      type: 'error',
      content: 'There is no run 77777777-7777-4777-8777-777777777777.',
      code: 'format_error',
      reason: 'run_not_found',
      message_id: 'm1',
    });
    chat.send({ type: 'message', content: 'hm', thinking: true });
    const cannot = await chat.next('error', 'response');
    expect(cannot)
      .to.include({ code: 'format_error', reason: 'run_cannot_think', hint: 'Leave thinking out, or choose a model that supports it: /models lists them.' })
      .and.not.have.property('message_id');
    chat.send('still there?');
    expect((await chat.next('response', 'error')).content).to.equal('hello');
    chat.socket.close();
  });

  it('that comes back hears what came after the frame it names, once, and of its own agent only', async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'the end' }]);
    const first = await openChat(svc.kernel.url, svc.agent.id);
    first.send('go');
    const seen = await first.next('tool_start');
    await first.next('response');
    first.socket.terminate();
    const second = await openChat(svc.kernel.url, svc.agent.id);
    second.send({ type: 'resume', last_event_id: seen.frame_id });
    await second.next('response');
    expect(second.frames.map(({ type }) => type).filter((type) => !['connected', 'agents_updated'].includes(type))).to.deep.equal(
      first.frames
        .slice(first.frames.findIndex(({ type }) => type === 'tool_start') + 1)
        .map(({ type }) => type)
        .filter((type) => type !== 'agents_updated'),
    );
    second.socket.close();
    const other = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    const third = await openChat(svc.kernel.url, other);
    third.send({ type: 'resume', last_event_id: seen.frame_id });
    expect(await third.next('error', 'response')).to.include({ code: 'format_error', reason: 'run_not_found' });
    third.socket.close();
  });

  it('costs 5 to open and 30 for a message', async () => {
    const { http, url } = await bootTestKernel({ config: SCARCE });
    const { body } = await http.expect(200, 'GET', '/api/agents');
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const chat = await openChat(url, body.agents[0].id, { headers });
    chat.send('hi');
    await chat.next('response');
    expect((await http.get('/api/agents', headers)).status).to.equal(429);
    chat.socket.close();
    const count = async (ip: string): Promise<number> => {
      for (let n = 0; n < 20; n++) {
        const next = await openChat(url, body.agents[0].id, { headers: { 'x-forwarded-for': ip } }).catch(() => undefined);
        if (!next) return n;
        next.socket.terminate();
      }
      return 20;
    };
    expect(await count('192.0.2.2')).to.equal(7);
  });

  it('is told of the agents by one list for all who see the same', async () => {
    const asked: string[] = [];
    const sent: string[] = [];
    const conn = (role: string, ownerId: string) => ({ actor: { id: 'x', role, ownerId }, send: (text: string) => void sent.push(`${ownerId} ${text}`) });
    const agents = {
      list: async ({ ownerId, role }: { ownerId: string; role: string }) => {
        asked.push(`${role}/${ownerId}`);
        return [{ id: '1', name: `of ${ownerId}`, state: 'Running' }];
      },
      modelsOf: async () => [],
    };
    type Deps = Parameters<typeof broadcastAgents>;
    await broadcastAgents({ agents } as unknown as Deps[0], [conn('user', 'ann'), conn('user', 'ann'), conn('user', 'bob'), conn('owner', 'ann')] as unknown as Deps[1]);
    expect(asked).to.deep.equal(['user/ann', 'user/bob', 'owner/ann']);
    expect(sent).to.have.length(4);
    expect(sent[1]).to.equal('ann {"type":"agents_updated","agents":[{"id":"1","name":"of ann","state":"Running"}]}');
    expect(sent[2]).to.contain('of bob');
  });
});
