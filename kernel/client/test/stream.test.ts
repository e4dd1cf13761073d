/** Streams over connections that break and daemons that restart. Each promise of src/stream.ts by its name. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { AbortedError, type Client, ConnectionError, createClient, SvcError } from '../src/index.js';
import { type FollowOptions, followSession, type MessageEvent, streamMessage } from '../src/stream.js';
import { type RoughLine, startRoughLine } from './rough-line.js';

const LOOKS_FIRST: ScriptedAnswer = { text: 'I will look.', toolCalls: [{ name: 'system_time', args: {} }] };
const kindsOf = (events: readonly MessageEvent[]): string[] => events.map((event) => (event.type === 'phase' ? event.data.phase : event.type)).filter((kind) => kind !== 'thinking');

const allOf = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
};

describe('streamMessage', () => {
  let home: string;
  let line: RoughLine;
  let client: Client;
  /** Holds the model's second answer back. */
  let release: () => void;
  let held: Promise<void>;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-client-'));
    line = await startRoughLine();
    client = createClient({ baseUrl: line.url });
    held = new Promise((resolve) => {
      release = resolve;
    });
  });
  afterEach(async () => {
    release();
    await line.close();
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = async (script?: Parameters<typeof bootWithModel>[0]): Promise<ModelKernel> => {
    const svc = await bootWithModel(script, { home, stopDrainMs: 1_000 });
    line.leadTo(svc.kernel.url);
    return svc;
  };
  const holdsSecond = (request: { index: number }): ScriptedAnswer | Promise<ScriptedAnswer> => (request.index === 0 ? LOOKS_FIRST : held.then(() => ({ text: 'It is late.' })));
  /** Reads on in the background. */
  const listen = (svc: ModelKernel, options: FollowOptions = {}, message = 'what time is it?') => {
    const events: MessageEvent[] = [];
    const whole = (async () => {
      for await (const event of streamMessage(client, svc.agent.id, { message }, options)) events.push(event);
      return events;
    })();
    whole.catch(() => undefined); // the test awaits it when it is ready to
    return { events, whole };
  };
  const received = (events: readonly MessageEvent[], type: MessageEvent['type']): Promise<void> => until(() => events.some((event) => event.type === type));
  const saidBy = async (svc: ModelKernel): Promise<string[]> =>
    (await createClient({ baseUrl: svc.kernel.url }).call('getSession', { id: svc.agent.id })).messages.filter(({ role }) => role === 'User').map(({ content }) => content);

  it('gives the events of a run, typed, in order, and ends with its last', async () => {
    const svc = await boot([LOOKS_FIRST, { text: 'It is late.' }]);
    const events = await listen(svc).whole;
    expect(kindsOf(events)).to.deep.equal(['chunk', 'tool_use', 'tool_result', 'chunk', 'done']);
    const last = events.at(-1);
    expect(last?.type === 'done' && last.data.result.response).to.equal('It is late.');
  });

  it('S1: goes on after a connection that broke, without a word lost or said twice', async () => {
    const svc = await boot(holdsSecond);
    const states: string[] = [];
    let opened = 0;
    const { events, whole } = listen(svc, { onConnection: (state) => states.push(state), onOpen: () => void opened++ });
    await received(events, 'tool_result');
    expect(opened).to.equal(1);
    line.cut();
    await until(() => states.includes('lost'));
    release();
    await whole;
    expect(kindsOf(events)).to.deep.equal(['chunk', 'tool_use', 'tool_result', 'chunk', 'done']);
    expect(new Set(events.map(({ id }) => id)).size, 'places').to.equal(events.length);
    expect(states).to.deep.equal(['lost', 'back']);
    expect(opened).to.equal(2);
    expect(await saidBy(svc)).to.deep.equal(['what time is it?']);
  });

  it('S1: goes on over a line that breaks again and again', async () => {
    const svc = await boot(Array.from({ length: 12 }, (_, index) => (index < 11 ? { ...LOOKS_FIRST, text: `look ${index}. ` } : { text: 'done.' })));
    const states: string[] = [];
    const { events, whole } = listen(svc, { onConnection: (state) => states.push(state) });
    for (const count of [1, 4, 9]) {
      await until(() => events.length >= count);
      line.cut();
    }
    await whole;
    const whatWas = await createClient({ baseUrl: svc.kernel.url }).call('getSession', { id: svc.agent.id });
    expect(events.filter(({ type }) => type === 'tool_result')).to.have.length(whatWas.messages.flatMap((message) => message.tools ?? []).length);
    expect(events.flatMap((event) => (event.type === 'chunk' ? [event.data.content] : [])).join('')).to.equal(
      whatWas.messages
        .filter(({ role }) => role !== 'User')
        .map(({ content }) => content)
        .join(''),
    );
    expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
  });

  for (const how of ['is stopped in order', 'is gone without a word'])
    it(`S1: goes on with the next daemon when the one it spoke with ${how}`, async () => {
      const first = await boot(holdsSecond);
      const { events, whole } = listen(first);
      await received(events, 'tool_result');
      line.leadTo(undefined);
      if (how === 'is gone without a word') line.cut();
      await first.kernel.stop();
      release();
      const second = await boot([{ text: 'It is late.' }]);
      await whole;
      // `restarted` voids the text after the last tool event: there was none.
      expect(kindsOf(events).filter((kind) => kind !== 'restarted' && kind !== 'queued')).to.deep.equal(['chunk', 'tool_use', 'tool_result', 'chunk', 'done']);
      expect(kindsOf(events)).to.include('restarted');
      expect(await saidBy(second)).to.deep.equal(['what time is it?']);
    });

  it('S2: is one message, however late the first answer came and however often it was asked', async () => {
    const svc = await boot([{ text: 'once' }]);
    line.leadTo(undefined);
    const { events, whole } = listen(svc);
    await until(() => line.calls() >= 2);
    line.leadTo(svc.kernel.url);
    await whole;
    expect(kindsOf(events)).to.deep.equal(['chunk', 'done']);
    expect(await saidBy(svc)).to.have.length(1);
    // The same key once more is the same run.
    const keyed = { idempotencyKey: 'mine' };
    const [one, other] = [await listen(svc, keyed).whole, await listen(svc, keyed).whole];
    expect(one.at(-1)).to.deep.equal(other.at(-1));
    expect(await saidBy(svc)).to.have.length(2);
  });

  it('S2: is one message where it arrived and no answer did', async () => {
    const svc = await boot([{ text: 'once' }]);
    line.mute(true);
    const { events, whole } = listen(svc);
    await until(async () => (await saidBy(svc)).length === 1);
    line.mute(false);
    line.cut();
    await whole;
    expect(kindsOf(events)).to.deep.equal(['chunk', 'done']);
    expect(await saidBy(svc)).to.have.length(1);
    expect(svc.model.requests).to.have.length(1);
  });

  it('goes on where an earlier life of the program stopped, after the event it names', async () => {
    const svc = await boot([LOOKS_FIRST, { text: 'It is late.' }]);
    const events = await listen(svc, { idempotencyKey: 'kept' }).whole;
    const place = events.find(({ type }) => type === 'tool_result')?.id ?? '';
    const rest = await listen(svc, { idempotencyKey: 'kept', after: place }).whole;
    expect(rest).to.deep.equal(events.slice(events.findIndex(({ id }) => id === place) + 1));
  });

  it('S3: ends with the error of a run that failed, which is no error of the stream', async () => {
    const svc = await boot([{ status: 400, message: 'this model is shut' }]);
    const last = (await listen(svc).whole).at(-1);
    expect(last?.type === 'error' && last.data.error).to.contain('this model is shut');
  });

  it('S3: throws what the daemon refuses at once', async () => {
    const svc = await boot();
    const failed = await allOf(streamMessage(client, '00000000-0000-4000-8000-000000000000', { message: 'x' })).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(SvcError).and.include({ status: 404, code: 'agent_not_found' });
    expect(line.calls()).to.equal(1);
    await svc.kernel.stop();
  });

  it('S3: gives up after the time that it was given, and says that the run may go on', async () => {
    const svc = await boot(holdsSecond);
    const { events, whole } = listen(svc, { reconnectMs: 50 });
    await received(events, 'tool_result');
    line.leadTo(undefined);
    line.cut();
    const failed = await whole.catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ConnectionError).and.include({ fault: 'broken' });
    expect(String(failed)).to.contain('may have taken effect');
  });

  it('S3: says soon that nobody is there, where nobody ever was', async () => {
    await line.close();
    const nobody = createClient({ baseUrl: line.url });
    const failed = await allOf(streamMessage(nobody, 'x', { message: 'x' })).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ConnectionError).and.include({ fault: 'refused', code: 'client_refused' });
  });

  it('S3: stops at the caller’s signal, and the run goes on', async () => {
    const svc = await boot(holdsSecond);
    const abort = new AbortController();
    const { events, whole } = listen(svc, { signal: abort.signal });
    await received(events, 'tool_result');
    abort.abort();
    expect(await whole.catch((error: unknown) => error)).to.be.instanceOf(AbortedError);
    release();
    await until(async () => (await createClient({ baseUrl: svc.kernel.url }).call('getSession', { id: svc.agent.id })).messages.some(({ content }) => content === 'It is late.'));
  });

  it('gives a connection on which nothing comes up for another', async () => {
    const svc = await boot(holdsSecond);
    const states: string[] = [];
    const { events, whole } = listen(svc, { idleMs: 100, onConnection: (state) => states.push(state) });
    await received(events, 'tool_result');
    await until(() => states.includes('lost'));
    release();
    await whole;
    expect(kindsOf(events)).to.deep.equal(['chunk', 'tool_use', 'tool_result', 'chunk', 'done']);
  });

  it('followSession gives the run that somebody else began, from its beginning', async () => {
    const svc = await boot(holdsSecond);
    const { events, whole } = listen(svc);
    await received(events, 'tool_result');
    const { session_id } = await client.call('getSession', { id: svc.agent.id });
    const seen: MessageEvent[] = [];
    for await (const event of followSession(client, svc.agent.id, session_id)) {
      seen.push(event);
      if (event.type === 'tool_result') release();
    }
    await whole;
    expect(seen).to.deep.equal(events);
  });
});
