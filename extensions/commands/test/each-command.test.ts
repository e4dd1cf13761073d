/** Every command, on every channel: what it answers, what it takes, who may send it. */
import { stopTestKernels } from '@svc/testing';
import { MessageIntercept } from '@svc/ext-runs/contract';
import { expect } from 'chai';
import { openChat } from '@svc/test/clients/chat-socket';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('a slash command', () => {
  let svc: ModelKernel;
  beforeEach(async () => {
    svc = await bootWithModel({ text: 'ok' });
  });
  afterEach(stopModelKernels);
  afterEach(stopTestKernels);

  const send = (message: string, agent = svc.agent.id) => svc.http.post(`/api/agents/${agent}/message`, { message });
  const said = async (message: string): Promise<string> => {
    const { status, body, text } = await send(message);
    expect(status, text).to.equal(200);
    return body.response;
  };

  it('is listed with what it does, and found by its name or alias, with or without the slash, in any case', async () => {
    const { body } = await svc.http.expect(200, 'GET', '/api/commands');
    const names = body.commands.map(({ name }: { name: string }) => name);
    expect(body.total).to.equal(names.length);
    const listed =
      'help new reboot reset sessions compact context usage think btw model models providers stop queue status budget agents agent approve deny prompt forget memory remember link unlink clear verbose exit skill-writing';
    expect(names.join(' ')).to.equal(listed);
    for (const name of ['usage', '/usage', '%2FUSAGE', 'Usage'].map((one) => (one.startsWith('/') ? encodeURIComponent(one) : one)))
      expect((await svc.http.expect(200, 'GET', `/api/commands/${name}`)).body, name).to.include({
        cmd: '/usage',
        name: 'usage',
        usage: '/usage',
        source: 'builtin',
        desc: 'Show tokens and cost of this agent and conversation',
      });
    expect((await svc.http.expect(200, 'GET', '/api/commands/reboot')).body).to.deep.include({ cmd: '/reboot', name: 'reboot' });
    expect((await svc.http.expect(200, 'GET', '/api/commands/exit')).body.source).to.equal('client');
    for (const name of ['nothing', 'constructor', '__proto__', 'a'.repeat(65)]) {
      const { status, body: refused } = await svc.http.get(`/api/commands/${name}`);
      expect([status, refused.code], name).to.deep.equal([404, 'command_not_found']);
    }
    expect((await svc.http.get(`/api/commands/${'a'.repeat(66)}`)).status).to.equal(400);
  });

  it('is answered without a model, whichever it is', async () => {
    const { commands } = (await svc.http.expect(200, 'GET', '/api/commands')).body;
    for (const { name, aliases } of commands.filter(({ source }: { source: string }) => source !== 'skill'))
      for (const one of [name, ...aliases]) expect((await send(`/${one.toUpperCase()}`)).status, one).to.be.oneOf(['think', 'remember'].includes(one) ? [400] : [200]);
    expect(svc.model.requests).to.have.length(0);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages).to.deep.equal([]);
  });

  it('takes only what it knows', async () => {
    for (const [message, wanted] of [
      ['/new now', 'nothing behind its name'],
      ['/think maybe', 'on, off or nothing'],
      ['/verbose loud', 'off, on, full or nothing'],
      ['/usage please', 'nothing behind its name'],
    ] as const) {
      const { status, body } = await send(message);
      expect([status, body.code], message).to.deep.equal([400, 'command_bad_argument']);
      expect(body.error).to.contain(wanted);
    }
    for (const message of ['/reset everything', '/reset all yes', '/reset 2']) expect((await send(message)).body).to.include({ code: 'sessions_reset_what' });
    expect(await said('/stop it at once!')).to.equal('Nothing is running.');
    expect(svc.model.requests).to.have.length(0);
  });

  it('that nobody knows is refused with the names that look like it, on every channel, and no model hears of it', async () => {
    for (const message of ['/usgae', '/usgae now', '/usgae, please', '/NEWW', '/new!']) {
      const { status, body } = await send(message);
      expect([status, body.code], message).to.deep.equal([400, 'command_unknown']);
      expect(body.error).to.match(/^Unknown command \/.*Did you mean \/(usage|new)/);
    }
    const stream = await svc.http.post(`/api/agents/${svc.agent.id}/message/stream`, { message: '/usgae' });
    expect([stream.status, stream.body.code]).to.deep.equal([400, 'command_unknown']);
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send({ type: 'command', command: 'usgae' });
    expect(await chat.next('error', 'response')).to.include({ type: 'error', reason: 'command_unknown' });
    chat.socket.close();
    expect((await send(`/${'x'.repeat(50_000)}`)).body.error.length).to.be.lessThan(200);
    expect(svc.model.requests).to.have.length(0);
  });

  it('is none where it is a path, or a space stands before it', async () => {
    for (const message of ['/usr/bin/env is missing', ' /help', '/', '// a comment', '/* a comment */', '/1']) expect(await said(message), message).to.equal('ok');
    expect(svc.model.requests).to.have.length(6);
  });

  it('does the same over a socket and as a stream', async () => {
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send({ type: 'command', command: '/queue' });
    expect(await chat.next('response', 'error')).to.include({ type: 'response', content: 'Idle.' });
    chat.send({ type: 'message', content: '/queue' });
    expect((await chat.next('response', 'error')).content).to.equal('Idle.');
    chat.socket.close();
    const events = await svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: '/queue' });
    expect(events.map(({ event }) => event)).to.deep.equal(['phase', 'chunk', 'done']);
    expect(events[1]?.data.content).to.equal('Idle.');
  });

  it('/reset deletes this conversation, and /reset all those beside it', async () => {
    await said('in the first');
    const first = svc.agent.session_id;
    await said('/new');
    await said('in the second');
    const second = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.session_id;
    const { body } = await send('/reset');
    expect(body.response).to.equal(`This conversation is deleted. It can be restored until ${inDays(30)}. Your next message starts a new one.`);
    expect((await svc.http.get(`/api/sessions/${second}`)).status).to.equal(404);
    expect((await svc.http.get(`/api/sessions/${first}`)).status).to.equal(200);
    const now = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body;
    expect(now).to.include({ session_id: body.session_id, message_count: 0 });
    await said('in the third');
    const third = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.session_id;
    await svc.http.expect(200, 'POST', `/api/sessions/${third}/branch`, { before_seq: 1 });
    const name = svc.agent.name;
    for (const asked of ['/reset ALL', '/reset all 3'])
      expect((await send(asked)).body.response, asked).to.match(new RegExp(`Nothing is deleted yet\\. This deletes 2 conversations of ${name}, with all messages\\. To agree, send: /reset all 2$`));
    expect((await svc.http.get(`/api/sessions/${first}`)).status).to.equal(200);
    expect(await said('/reset all 2')).to.equal(`2 conversations of ${name} are deleted. They can be restored until ${inDays(30)}. Your next message starts a new one.`);
    for (const id of [first, third]) expect((await svc.http.get(`/api/sessions/${id}`)).status).to.equal(404);
    expect((await svc.http.expect(200, 'GET', '/api/sessions')).body.total).to.equal(1);
  });

  it('tells what goes on: sessions, context, status, queue, budget, agents', async () => {
    await said('hello out there');
    await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "writer"\ndescription = "Writes."\n[resources]\nmax_cost_per_day_usd = 2.5\n' });
    expect(await said('/sessions')).to.equal(`* ${svc.agent.session_id}  hello out there, 2 messages`);
    expect(await said('/context')).to.match(/^About \d+ of \d+ tokens of openai\/gpt-4o are used, [\d.]+ %: low\.$/);
    expect(await said('/status'))
      .to.contain(`${svc.agent.name} is Running, and answers with openai/gpt-4o.`)
      .and.contain('This conversation has 2 messages: hello out there.')
      .and.contain('Idle.');
    expect(await said('/budget')).to.match(/^Last hour: 0\.\d{4} USD, no limit\nLast day: /);
    expect(await said('/agents'))
      .to.contain(`* ${svc.agent.name}: Running`)
      .and.contain('  writer: Running');
    expect(await said('/agent writer')).to.match(/^writer \([0-9a-f-]{36}\) is Running, and answers with .*\nWrites\.\nTalk to it/);
    const { status, body } = await send('/agent wirter');
    expect([status, body.error]).to.deep.equal([404, 'There is no agent "wirter". Did you mean writer?']);
    const [writer] = (await svc.http.expect(200, 'GET', '/api/agents?q=writer')).body.agents;
    expect((await send('/budget', writer.id)).body.response).to.contain('Last day: 0.0000 USD of 2.5 USD');
    expect(await said('/help usage')).to.equal('/usage\nShow tokens and cost of this agent and conversation.');
    expect(await said('/help nothing'))
      .to.contain('/stop')
      .and.contain('/reset [all [NUMBER]]');
  });

  it('/queue and /stop see a run that is going on', async () => {
    svc.model.script({ hang: true });
    const running = send('think for ever');
    await until(() => svc.model.requests.length === 1);
    expect(await said('/queue')).to.equal('Busy: 1 running, 0 waiting for a person, 0 in the queue.');
    expect(await said('/stop')).to.equal('The run was stopped.');
    await running;
  });

  it('is only done for whoever may do what it does', async () => {
    const agent = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}`)).body;
    await said('hi');
    const intercept = svc.kernel.daemon.parts.hooks.slot(MessageIntercept);
    const ask = (role: 'viewer' | 'owner', text: string) =>
      intercept?.call({
        actor: { id: 'somebody', role, ownerId: 'owner' },
        agent: { ...agent, id: svc.agent.id, sessionId: svc.agent.session_id, ownerId: 'owner' },
        sessionId: svc.agent.session_id,
        text,
        door: 'rest',
      } as never);
    for (const text of ['/reset', '/reset all', '/new', '/compact', '/model openai/gpt-4o-mini', '/stop', '/think']) {
      const refused = await Promise.resolve(ask('viewer', text)).catch((error: { code: string; status: number }) => [error.status, error.code]);
      expect(refused, text).to.deep.equal([403, 'command_not_allowed']);
    }
    expect(await ask('viewer', '/help')).to.have.property('message');
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.message_count).to.equal(2);
  });
});
