/** What passes between agents, over HTTP, with a model on its wire. */
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { keyOf, person } from '@svc/test/page/callers';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const script: Script = ({ body }) => {
  const { role, content } = body.messages.at(-1);
  const said = typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('\n');
  if (role === 'tool') return { text: `heard: ${said}` };
  if (said.includes('ask writer')) return { toolCalls: [{ id: 'call_0', name: 'agent_send', args: { agent_id: 'writer', message: 'are you there' } }] };
  if (said.includes('publish it')) return { toolCalls: [{ id: 'call_0', name: 'event_publish', args: { event_type: 'report.ready', payload: { pages: 3 } } }] };
  return { text: `read: ${said}` };
};

interface Event {
  readonly id: string;
  readonly kind: string;
  readonly source_name: string;
  readonly target_name: string;
  readonly detail: string;
}

describe('comms', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let reader: string;
  let writer: string;
  before(async () => {
    world = await bootWithModel(script, { config: `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('alice', 'user')}${person('bob', 'user')}`, key: keyOf('root') });
    [alice, bob] = [world.kernel.as(keyOf('alice')), world.kernel.as(keyOf('bob'))];
    [reader, writer] = [await spawn('reader'), await spawn('writer')];
  });
  after(() => stopModelKernels());
  const spawn = async (name: string, http = alice): Promise<string> =>
    (await http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['*'], agent_message: ['*'] } } })).body.agent_id;
  const events = async (http = alice): Promise<Event[]> => (await http.expect(200, 'GET', '/api/comms/events')).body.events;
  const seen = (fit: (event: Event) => boolean) => until(async () => (await events()).some(fit));

  it('C1 C2 note messages, agents and tasks once, for their owner', async () => {
    await alice.expect(200, 'POST', `/api/agents/${reader}/message`, { message: 'ask writer' });
    await seen(({ kind, source_name, target_name, detail }) => kind === 'agent_message' && source_name === 'reader' && target_name === 'writer' && detail === 'are you there');
    await alice.expect(200, 'POST', '/api/comms/task', { title: 'sweep' });
    await seen(({ kind, target_name }) => kind === 'task_posted' && target_name === 'sweep');
    await seen(({ kind, target_name }) => kind === 'agent_spawned' && target_name === 'writer');
    const ids = (await events()).map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(await events(bob)).to.deep.equal([]);
  });

  it('send a message in the name of an agent, and say who it is from', async () => {
    const { body } = await alice.expect(200, 'POST', '/api/comms/send', { to: `agent:${writer}`, from: 'reader', content: 'the sources are in' });
    expect(body).to.deep.include({ ok: true, status: 'completed', response: 'read: [From the agent reader]\nthe sources are in' });
    const again = (await alice.expect(200, 'POST', '/api/comms/send', { to_agent_id: 'writer', message: 'go on', thread_id: body.thread_id })).body;
    expect([again.response, again.thread_id]).to.deep.equal(['read: go on', body.thread_id]);
    const code = async (status: number, said: object, http = alice): Promise<string> => (await http.expect(status, 'POST', '/api/comms/send', said)).body.code;
    expect(await code(400, { content: 'x' })).to.equal('comms_no_target');
    expect(await code(400, { to: 'writer' })).to.equal('comms_no_content');
    expect(await code(403, { to: 'telegram:5', content: 'x' })).to.equal('comms_channel_denied');
    expect(await code(403, { to: 'ntfy', content: 'x' })).to.equal('comms_channel_denied');
    expect(await code(404, { to: 'nobody', content: 'x' })).to.equal('comms_no_agent');
    expect(await code(400, { to: 'writer', from: 'writer', content: 'x' })).to.equal('comms_to_itself');
    expect(await code(400, { to: 'writer', to_agent_id: 'reader', content: 'x' })).to.equal('comms_two_values');
    expect(await code(404, { to: `agent:${writer}`, content: 'x' }, bob)).to.equal('comms_no_agent');
    expect(await code(404, { to: await spawn('his own', bob), from: 'reader', content: 'x' })).to.equal('comms_no_agent');
  });

  it('show the graph of agents', async () => {
    const { nodes, edges, routes } = (await alice.expect(200, 'GET', '/api/comms/topology')).body;
    expect(nodes.map(({ name }: { name: string }) => name).sort()).to.deep.equal(['reader', 'writer']);
    const [from, to] = [reader, writer].sort();
    expect(edges).to.deep.equal([{ from, to, kind: 'peer' }]);
    expect(routes.find(({ agent_id }: { agent_id: string }) => agent_id === reader)).to.deep.equal({ to: `agent:${reader}`, agent_id: reader, agent_name: 'reader', accepts: true });
  });

  it('L1 stream events of the caller as they happen, and those that were missed', async () => {
    const [newest] = await events();
    const stop = new AbortController();
    const open = (key: string, headers: Record<string, string> = {}) =>
      fetch(`${world.kernel.url}/api/comms/events/stream`, { headers: { authorization: `Bearer ${key}`, ...headers }, signal: stop.signal });
    const [hers, his] = await Promise.all([open(keyOf('alice'), { 'last-event-id': newest?.id ?? '' }), open(keyOf('bob'))]);
    expect(hers.headers.get('content-type')).to.contain('text/event-stream');
    const read = async (answer: Response, into: string[]): Promise<void> => {
      const decoder = new TextDecoder();
      for await (const piece of answer.body ?? []) into.push(decoder.decode(piece));
    };
    const [mine, other]: [string[], string[]] = [[], []];
    const reading = [read(hers, mine), read(his, other)].map((one) => one.catch(() => undefined));
    await alice.expect(200, 'POST', '/api/comms/task', { title: 'streamed to its owner' });
    await until(async () => mine.join('').includes('streamed to its owner'));
    const line =
      mine
        .join('')
        .split('\n')
        .find((one) => one.includes('streamed to its owner')) ?? '';
    expect(JSON.parse(line.replace(/^data: /, ''))).to.deep.include({ kind: 'task_posted', target_name: 'streamed to its owner' });
    stop.abort();
    await Promise.all(reading);
    expect(other.join('')).not.to.contain('streamed');
  });

  it('events that an agent publishes reach triggers of its owner', async () => {
    const trigger = (await alice.expect(201, 'POST', '/api/triggers', { agent_id: writer, pattern: { content_match: { substring: '"pages":3' } }, max_fires: 1 })).body.trigger_id;
    await alice.expect(200, 'POST', `/api/agents/${reader}/message`, { message: 'publish it' });
    const fires = async () => (await alice.expect(200, 'GET', `/api/triggers/${trigger}/history`)).body.history;
    await until(async () => (await fires()).some(({ status }: { status: string }) => status === 'ok'));
    expect((await fires()).find(({ status }: { status: string }) => status === 'ok')).to.deep.include({ event: 'custom', text: 'report.ready: {"pages":3}' });
  });
});
