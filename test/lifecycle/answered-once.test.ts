/** While every area is reloaded each message is asked of the model once and answered once. */
import { describeDaemonOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { openChat } from '../clients/chat-socket.js';
import { bootWithModel, stopModelKernels, until } from '../clients/model-kernel.js';
import { echo, lastText, startLoad } from './busy-clients.js';
import { areasOf, remains } from './generations.js';

/** Of each area, while messages are on their way. */
const ROUNDS = 2;

describeDaemonOnEngines('messages while areas are reloaded', () => {
  afterEach(stopModelKernels);

  it('are asked of the model once and answered once, over HTTP, streams and sockets', async function () {
    this.timeout(120_000);
    const svc = await bootWithModel(echo);
    const areas = areasOf(svc);
    expect(areas).to.include.members(['runs', 'llm', 'tools', 'sessions', 'agents', 'auth', 'system', 'extensions-admin', 'webchat']);
    const load = await startLoad(svc.http, svc.kernel.url);
    const isBusy = (): boolean => Object.values(load.count()).every((times) => times > 10);
    for (let n = 0; n < areas.length * ROUNDS || !isBusy(); n++) await svc.http.expect(200, 'POST', `/api/extensions/${areas[n % areas.length]}/reload?force=true`);
    await load.stop();

    expect(load.problems).to.deep.equal([]);
    // A conversation that has grown past eighty messages is summarised as well: that is asked by nobody here.
    const messages = svc.model.requests.filter(({ body }) => !JSON.stringify(body).includes('Summarise the conversation'));
    const asked = messages.map((request) => lastText(request.body.messages));
    expect([...asked].sort()).to.deep.equal([...load.sent].sort());
    expect(await remains(svc)).to.deep.equal([]);
  });

  it('are handed on to the next generation in the middle of a stream and of a blocking answer', async () => {
    const latches: Array<() => void> = [];
    const svc = await bootWithModel(async ({ body }) => {
      const isFirst = body.messages.at(-1).role === 'user';
      await new Promise<void>((resolve) => latches.push(resolve));
      return isFirst ? { text: 'let me look. ', toolCalls: [{ name: 'file_list', args: { path: '.' } }] } : { deltas: ['all ', 'done'] };
    });
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { name: 'second' });
    const streaming = svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'look' });
    const blocking = svc.http.post(`/api/agents/${body.agent_id}/message`, { message: 'look' });
    await until(() => latches.length === 2);
    for (const id of ['runs', 'llm', 'tools', 'sessions', 'agents']) await svc.http.expect(200, 'POST', `/api/extensions/${id}/reload?force=true`);
    for (const open of latches.splice(0)) open();
    await until(() => latches.length === 2);
    for (const open of latches.splice(0)) open();

    const events = await streaming;
    const said = events.flatMap((one) => (one.event === 'chunk' ? [one.data.content] : [])).join('');
    expect(said).to.equal('let me look. all done');
    expect(events.filter((one) => one.event === 'done')).to.have.length(1);
    expect((await blocking).body.response).to.contain('all done');
    expect(svc.model.requests).to.have.length(4);
    expect(await remains(svc)).to.deep.equal([]);
  });

  it('wait while their area is off, and are answered once when it is on again; its sockets close with 1012', async () => {
    const latches: Array<() => void> = [];
    const svc = await bootWithModel(async ({ body }) => {
      const isFirst = body.messages.at(-1).role === 'user';
      if (isFirst) await new Promise<void>((resolve) => latches.push(resolve));
      return isFirst ? { text: 'let me look. ', toolCalls: [{ name: 'file_list', args: { path: '.' } }] } : { text: 'all done' };
    });
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { name: 'second' });
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    const streaming = svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'look' });
    const blocking = svc.http.post(`/api/agents/${body.agent_id}/message`, { message: 'look' });
    await until(() => latches.length === 2);
    const off = svc.kernel.daemon.kernel.disable('runs');
    await until(() => svc.kernel.daemon.kernel.extensions().some((one) => one.id === 'runs' && one.state === 'stopping'));
    expect((await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'more' })).status).to.equal(404);
    expect(await chat.closed()).to.equal(1012);
    for (const open of latches.splice(0)) open();
    expect((await off).state).to.equal('inactive');
    expect((await svc.http.expect(200, 'GET', '/api/agents')).body.agents).to.have.length(2);
    const asked = svc.model.requests.length;
    await svc.http.expect(200, 'POST', '/api/extensions/runs/enable');

    const events = await streaming;
    expect(events.flatMap((one) => (one.event === 'chunk' ? [one.data.content] : [])).join('')).to.equal('let me look. all done');
    expect(events.filter((one) => one.event === 'done' || one.event === 'error')).to.have.length(1);
    expect((await blocking).status).to.equal(200);
    expect(svc.model.requests.length).to.equal(asked + 2);
    expect(await remains(svc)).to.deep.equal([]);
  });
});
