/** Server-sent events of a message, read as an EventSource would. */
import type { SseEvent } from '@svc/testing';
import { expect } from 'chai';
import { type ModelKernel, until, useModelKernel } from './model-kernel.js';

const streamPath = (svc: ModelKernel): string => `/api/agents/${svc.agent.id}/message/stream`;
const textOf = (events: readonly SseEvent[]): string =>
  events
    .filter((one) => one.event === 'chunk')
    .map((one) => one.data.content)
    .join('');

/** A model whose answer waits in the middle until it is let go. */
const latched = () => {
  let open: () => void = () => undefined;
  const latch = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { latch, open: () => open() };
};

describe('an event stream', () => {
  const bootWithModel = useModelKernel();

  it('is chunk, tool_use, tool_result and one final done, in the shapes of the interface', async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { deltas: ['no ', 'files'], usage: { input: 20, output: 4 } }]);
    const events = await svc.http.events('POST', streamPath(svc), { message: 'what files?' });
    const chunks = events.filter((one) => one.event === 'chunk');
    expect(chunks.length).to.be.above(0);
    for (const chunk of chunks) expect(chunk.data).to.have.all.keys('content', 'done').and.to.include({ done: false });
    expect(textOf(events)).to.equal('no files');
    const use = events.find((one) => one.event === 'tool_use');
    expect(use?.data.tool).to.equal('file_list');
    const result = events.find((one) => one.event === 'tool_result');
    expect(result?.data).to.deep.include({ tool: 'file_list', input: { path: '.' } });
    const done = events.at(-1);
    expect(done?.event).to.equal('done');
    expect(done?.data.done).to.equal(true);
    expect(done?.data.usage).to.deep.equal({ input_tokens: 30, output_tokens: 9 });
    expect(events.filter((one) => one.event === 'done')).to.have.length(1);
    expect(events.filter((one) => one.event === 'error')).to.have.length(0);
  });

  it('names every event with an id that grows, and the run in x-svc-run', async () => {
    const svc = await bootWithModel({ deltas: ['a', 'b', 'c'] });
    const answer = await svc.http.raw('POST', streamPath(svc), { message: 'go' });
    expect(answer.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('content-encoding')).to.equal(null);
    const run = answer.headers.get('x-svc-run') ?? '';
    const ids = [...(await answer.text()).matchAll(/^id: (.+)$/gm)].map((match) => match[1] ?? '');
    expect(ids.every((id) => id.startsWith(`${run}.`))).to.equal(true);
    const numbers = ids.map((id) => Number(id.split('.').at(-1)));
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b));
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('is an error as JSON before it begins, and one error event after', async () => {
    const svc = await bootWithModel({ status: 500, message: 'down' });
    expect((await svc.http.post('/api/agents/zzz/message/stream', { message: 'x' })).status).to.equal(400);
    expect((await svc.http.post(streamPath(svc), { message: '' })).status).to.equal(400);
    expect((await svc.http.post(streamPath(svc), {})).status).to.equal(400);
    const events = await svc.http.events('POST', streamPath(svc), { message: 'x' });
    expect(events.at(-1)?.event).to.equal('error');
    expect(events.at(-1)?.data.error).to.be.a('string').and.to.contain('openai');
    expect(events.filter((one) => one.event === 'done' || one.event === 'error')).to.have.length(1);
  });

  it('is resumed by Last-Event-ID with exactly what was missing, and no second run', async () => {
    const { latch, open } = latched();
    const svc = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'never' }]);
    let calls = 0;
    svc.model.script(async () => {
      calls += 1;
      if (calls === 1) return { text: 'let me see. ', toolCalls: [{ name: 'file_list', args: { path: '.' } }] };
      await latch;
      return { deltas: ['the ', 'end'] };
    });
    const first = await svc.http.events('POST', streamPath(svc), { message: 'look' }, {}, (event) => event.event === 'tool_use');
    const last = first.at(-1)?.id ?? '';
    const rest = svc.http.events('POST', streamPath(svc), { message: 'look' }, { 'last-event-id': last });
    open();
    const second = await rest;
    const ids = [...first, ...second].map((one) => one.id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(textOf([...first, ...second])).to.equal('let me see. the end');
    expect(second.at(-1)?.event).to.equal('done');
    expect(calls).to.equal(2);
  });

  it('may be resumed after its end, as long as the process lives', async () => {
    const svc = await bootWithModel({ deltas: ['one ', 'two'] });
    const events = await svc.http.events('POST', streamPath(svc), { message: 'count' });
    const again = await svc.http.events('POST', streamPath(svc), { message: 'count' }, { 'last-event-id': events[0]?.id ?? '' });
    expect(again.map((one) => one.id)).to.deep.equal(events.slice(1).map((one) => one.id));
    expect(svc.model.requests).to.have.length(1);
  });

  it('is not resumed by an id that names no run: that is 404, and starts nothing', async () => {
    const svc = await bootWithModel({ text: 'x' });
    const answer = await svc.http.post(streamPath(svc), { message: 'x' }, { 'last-event-id': '00000000-0000-4000-8000-000000000000.1.3' });
    expect(answer.status).to.equal(404);
    expect(svc.model.requests).to.have.length(0);
  });

  it('that is dropped does not stop the run', async () => {
    const { latch, open } = latched();
    const svc = await bootWithModel(async () => {
      await latch;
      return { text: 'finished alone' };
    });
    const abort = new AbortController();
    const answer = await svc.http.raw('POST', streamPath(svc), { message: 'go on' }, {}, abort.signal);
    await until(() => svc.model.requests.length === 1);
    abort.abort();
    await answer.body?.cancel().catch(() => undefined);
    open();
    await until(async () => (await svc.http.get(`/api/agents/${svc.agent.id}/session`)).text.includes('finished alone'));
    const id = `${answer.headers.get('x-svc-run')}.1.0`;
    const events = await svc.http.events('POST', streamPath(svc), { message: 'go on' }, { 'last-event-id': id });
    expect(textOf(events)).to.equal('finished alone');
    expect(svc.model.requests).to.have.length(1);
  });

  it('is ended by a stop from another connection, with one final event', async () => {
    const svc = await bootWithModel({ hang: true });
    const reading = svc.http.events('POST', streamPath(svc), { message: 'for ever' });
    await until(() => svc.model.requests.length === 1);
    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);
    expect(body).to.include({ status: 'ok', message: 'Run cancelled', stopped: 1 });
    const events = await reading;
    expect(events.filter((one) => one.event === 'done' || one.event === 'error')).to.have.length(1);
    expect((await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`)).body.stopped).to.equal(0);
    svc.model.script({ text: 'ready' });
    expect((await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'next' })).body.response).to.equal('ready');
  });

  it('of a message that waits its turn in the session is followed until its own end', async () => {
    const { latch, open } = latched();
    let calls = 0;
    const svc = await bootWithModel(async () => {
      calls += 1;
      const mine = calls;
      if (mine === 1) await latch;
      return { text: `answer ${mine}` };
    });
    const first = svc.http.events('POST', streamPath(svc), { message: 'one' });
    await until(() => calls === 1);
    const second = svc.http.events('POST', streamPath(svc), { message: 'two' });
    open();
    expect(textOf(await first)).to.equal('answer 1');
    expect(textOf(await second)).to.equal('answer 2');
  });

  it('can be joined by a second reader through the session', async () => {
    const { latch, open } = latched();
    const svc = await bootWithModel(async () => {
      await latch;
      return { text: 'for both' };
    });
    const one = svc.http.events('POST', streamPath(svc), { message: 'go' });
    await until(() => svc.model.requests.length === 1);
    const two = await svc.http.raw('GET', `/api/agents/${svc.agent.id}/sessions/${svc.agent.session_id}/stream`, undefined);
    expect(two.status).to.equal(200);
    open();
    expect(textOf(await one)).to.equal('for both');
    expect(await two.text())
      .to.contain('for both')
      .and.to.contain('event: done');
    expect(svc.model.requests).to.have.length(1);
  });
});
