/** What a model thinks, on every channel: streamed apart from the answer, kept with it for people, and never said to a model again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SseEvent, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { openChat } from './chat-socket.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from './model-kernel.js';

const THOUGHTS = 'They mean the tide, not the moon.';
const ANSWERS = [
  { thoughts: THOUGHTS, text: 'I will look.', toolCalls: [{ name: 'system_time', args: {} }] },
  { thoughts: 'It is noon.', text: 'High at noon.' },
] as const;

describe('what a model thinks', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-thoughts-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const stream = (svc: ModelKernel, body: object = {}, headers: Record<string, string> = {}, agent = svc.agent.id): Promise<SseEvent[]> =>
    svc.http.events('POST', `/api/agents/${agent}/message/stream`, { message: 'when?', ...body }, headers);
  const thoughtIn = (events: readonly SseEvent[]): string => events.map(({ event, data }) => (event === 'thinking_delta' ? data.content : event === 'tool_use' ? ' | ' : '')).join('');
  const history = async (svc: ModelKernel, agent = svc.agent.id) => (await svc.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body.messages;

  it('comes before what it says, and stands with it afterwards', async () => {
    const svc = await bootWithModel(ANSWERS);
    const events = await stream(svc);
    expect(thoughtIn(events)).to.equal(`${THOUGHTS} | It is noon.`);
    const kinds = events.map(({ event }) => event).filter((kind, at, all) => kind !== 'phase' && kind !== all[at - 1]);
    expect(kinds).to.deep.equal(['thinking_delta', 'chunk', 'tool_use', 'tool_result', 'thinking_delta', 'chunk', 'done']);
    expect(events.at(-1)?.data.result.response).to.equal('High at noon.');
    const said = (await history(svc)).filter(({ role }: { role: string }) => role === 'Assistant');
    expect(said.map(({ thinking, content }: { thinking: string; content: string }) => [thinking, content])).to.deep.equal([
      [THOUGHTS, 'I will look.'],
      ['It is noon.', 'High at noon.'],
    ]);
  });

  it('stands before the tools where it said nothing', async () => {
    const call = { toolCalls: [{ name: 'system_time', args: {} }] };
    const svc = await bootWithModel([{ ...call, thoughts: 'one' }, { ...call, thoughts: 'two' }, { text: 'done' }]);
    await stream(svc);
    const said = (await history(svc)).filter(({ role }: { role: string }) => role === 'Assistant');
    expect(said.map(({ thinking, tools = [] }: { thinking?: string; tools?: unknown[] }) => [thinking, tools.length])).to.deep.equal([
      ['one', 1],
      ['two', 1],
      [undefined, 0],
    ]);
  });

  it('is sent back to the model that thought it as its own state and to no other request, found by no search, and part of no completion', async () => {
    const svc = await bootWithModel({ thoughts: THOUGHTS, text: 'High at noon.' });
    await stream(svc);
    await stream(svc);
    const { body } = await svc.http.expect(200, 'POST', '/v1/chat/completions', { model: `svc:${svc.agent.name}`, messages: [{ role: 'user', content: 'and tomorrow?' }] });
    expect(svc.model.requests).to.have.length(3);
    const [first, again, other] = svc.model.requests.map((one) => one.body as { messages: ReadonlyArray<{ content: unknown }> });
    expect(JSON.stringify(again)).to.contain('the moon');
    // As the state of the model alone: no message says it.
    expect(JSON.stringify([first, again?.messages.map(({ content }) => content), other, body]))
      .to.contain('High at noon.')
      .and.not.contain('the moon');
    const found = async (query: string) => (await svc.http.expect(200, 'GET', `/api/sessions/search?q=${query}`)).body;
    expect(JSON.stringify(await found('noon'))).to.contain('noon');
    expect(JSON.stringify(await found('moon'))).to.not.contain('High at');
  });

  it('comes on the socket under a name of its own', async () => {
    const svc = await bootWithModel({ thoughts: THOUGHTS, text: 'High at noon.' });
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send({ type: 'message', content: 'when?' });
    await chat.next('response');
    const pieces = (type: string): string => chat.frames.map((frame) => (frame.type === type ? frame.content : '')).join('');
    expect([pieces('thinking_delta'), pieces('text_delta')]).to.deep.equal([THOUGHTS, 'High at noon.']);
    chat.send({ type: 'message', content: 'again', show_thinking: 'no' });
    expect((await chat.next('error')).content).to.contain('"show_thinking" of a message frame is true or false');
    chat.socket.close();
  });

  it('is neither shown nor kept where the message or the agent says so; the message counts for more', async () => {
    const svc = await bootWithModel({ thoughts: THOUGHTS, text: 'High at noon.' });
    expect(thoughtIn(await stream(svc, { show_thinking: false }))).to.equal('');
    expect(JSON.stringify(await history(svc))).to.not.contain('the moon');
    const { agent_id: id } = (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'quiet', thinking: { stream_thinking: false } } })).body;
    expect(thoughtIn(await stream(svc, {}, {}, id))).to.equal('');
    expect(JSON.stringify(await history(svc, id))).to.not.contain('the moon');
    expect(thoughtIn(await stream(svc, { show_thinking: true }, {}, id))).to.equal(THOUGHTS);
    expect(JSON.stringify(await history(svc, id))).to.contain('the moon');
    expect((await svc.http.expect(200, 'GET', `/api/agents/${id}`)).body.thinking).to.deep.equal({ budget_tokens: 10_000, stream_thinking: false });
  });

  it('is told again to who was cut off, after a restart too', async () => {
    const first = await bootWithModel(ANSWERS, { home });
    const events = await stream(first);
    await first.kernel.stop();
    const second = await bootWithModel({ text: 'another answer' }, { home });
    const again = await stream(second, {}, { 'last-event-id': events[0]?.id ?? '' });
    expect(thoughtIn(again)).to.equal(`${THOUGHTS} | It is noon.`);
    expect(again.map(({ event }) => event)).to.deep.equal(['phase', 'thinking_delta', 'chunk', 'tool_use', 'tool_result', 'thinking_delta', 'chunk', 'done']);
    expect(second.model.requests).to.have.length(0);
  });

  it('is bounded, and its answer whole', async () => {
    const svc = await bootWithModel({ thoughts: 'x'.repeat(300_000), text: 'High at noon.' });
    const events = await stream(svc);
    expect(thoughtIn(events)).to.have.length(200_000);
    expect(events.at(-1)?.data.result.response).to.equal('High at noon.');
  });

  it('is void when the model is asked again, and paid for all the same', async () => {
    const svc = await bootWithModel([
      { thoughts: 'first thought', deltas: [], halfStream: true, usage: null },
      { thoughts: 'second thought', text: 'High at noon.' },
    ]);
    const events = await stream(svc);
    const retrying = events.findIndex(({ event, data }) => event === 'phase' && data.phase === 'retrying');
    expect(thoughtIn(events.slice(0, retrying))).to.equal('first thought');
    expect(thoughtIn(events.slice(retrying))).to.equal('second thought');
    expect((await history(svc)).at(-1).thinking).to.equal('second thought');
    expect(events.at(-1)?.data.usage.output_tokens).to.be.above(5);
  });
});
