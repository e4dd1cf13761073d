/** What a page hears while it is there, and when it comes back. Promises of src/live by their names. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { createLocalBusHub } from '@svc/platform/bus/local-bus';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootTwo, latch } from '@svc/test/replicas/two-daemons';
import { flood, type LiveFrame, type LiveSocket, openLive } from './live-kit.js';

const HELD = 1_000;
/** So long changes are waited for that others may follow. */
const JOIN_MS = 30;
const PING_MS = 15_000;

describe('the live socket', () => {
  const opened: LiveSocket[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) one.leave();
    await stopModelKernels();
  });
  const open = async (...args: Parameters<typeof openLive>): Promise<LiveSocket> => {
    const live = await openLive(...args);
    opened.push(live);
    return live;
  };
  const spawn = async (kernel: TestKernel, name: string): Promise<string> => (await kernel.http.expect(201, 'POST', '/api/agents', { name })).body.agent_id;
  const ofAgent =
    (id: string, state: string) =>
    (frame: LiveFrame): boolean =>
      frame.what === 'agent' && frame.id === id && frame.state === state;
  const ofSession =
    (id: string, state: string) =>
    (frame: LiveFrame): boolean =>
      frame.what === 'session' && frame.id === id && frame.state === state;

  it('greets with an epoch and a number, then tells what changed, whose and how, and nothing of what it is', async () => {
    const kernel = await bootTestKernel();
    const live = await open(kernel.url);
    expect(live.frames[0]).to.have.all.keys('type', 'epoch', 'seq');
    const id = await spawn(kernel, 'a-secret-name');
    const frame = await live.until(ofAgent(id, 'spawned'));
    expect(frame).to.deep.equal({ type: 'change', seq: frame.seq, what: 'agent', id, agent_id: id, state: 'spawned' });
    await kernel.http.expect(200, 'DELETE', `/api/agents/${id}`);
    await live.until(ofAgent(id, 'killed'));
    expect(JSON.stringify(live.frames)).to.not.contain('secret');
  });

  it('tells of sessions that are begun, labelled, left for another, and deleted, one or all', async () => {
    const kernel = await bootTestKernel();
    const agent = await spawn(kernel, 'talker');
    const live = await open(kernel.url);
    const { session_id: id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body;
    expect((await live.until(ofSession(id, 'begun'))).agent_id).to.equal(agent);
    await live.until(ofAgent(agent, 'changed'));
    await kernel.http.expect(200, 'PUT', `/api/sessions/${id}/label`, { label: 'trip' });
    await live.until(ofSession(id, 'changed'));
    await kernel.http.expect(200, 'DELETE', `/api/sessions/${id}`);
    await live.until(ofSession(id, 'deleted'));
    for (let n = 0; n < 2; n++) await kernel.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {});
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/session/reset`);
    await live.until((frame) => frame.what === 'session' && frame.id === undefined && frame.agent_id === agent && frame.state === 'deleted');
  });

  it('tells of a run that begins, one that is queued behind it, a step, and the end of each', async () => {
    const model = latch();
    const { kernel, agent } = await bootWithModel(model.script);
    const live = await open(kernel.url);
    const states = (id: string): string[] => live.frames.filter((frame) => frame.what === 'run' && frame.id === id).map(({ state }) => state);
    const say = (message: string) => kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message });
    const first = say('one');
    const { id: one, session_id: session } = await live.until((frame) => frame.what === 'run' && frame.state === 'running');
    expect(session).to.equal(agent.session_id);
    await until(() => model.waiting() === 1);
    const second = say('two');
    const { id: other } = await live.until((frame) => frame.what === 'run' && frame.state === 'queued');
    model.answer({ toolCalls: [{ name: 'system_time', args: {} }] });
    await until(() => model.waiting() === 1 && states(one).length >= 2);
    model.answer({ text: 'first' });
    await first;
    await live.until((frame) => frame.id === one && frame.state === 'done');
    await live.until((frame) => frame.id === other && frame.state === 'running');
    await until(() => model.waiting() === 1);
    model.answer({ text: 'second' });
    await second;
    await live.until((frame) => frame.id === other && frame.state === 'done');
    expect(states(one).filter((state, index, all) => state !== all[index - 1])).to.deep.equal(['running', 'done']);
    expect(states(other)).to.include.members(['queued', 'running', 'done']);
  });

  it('tells of files that a person put and took away', async () => {
    const kernel = await bootTestKernel();
    const agent = await spawn(kernel, 'writer');
    for (const [method, body] of [['PUT', { content: 'x' }], ['DELETE']] as const) {
      const live = await open(kernel.url);
      await kernel.http.expect(200, method, `/api/agents/${agent}/files/notes.md`, body);
      expect((await live.until(({ what }) => what === 'files')).agent_id).to.equal(agent);
    }
  });

  it('F1: after a lost connection tells exactly what came meanwhile, the last of each thing, in order', async () => {
    // What these write of it comes a moment later, and is a change as well.
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\ndisable = ["audit", "comms"]\n` });
    const first = await open(kernel.url);
    const [one, two] = [await spawn(kernel, 'one'), await spawn(kernel, 'two')];
    await first.until(ofAgent(two, 'spawned'));
    const place = first.place();
    first.leave();
    for (const path of [`${one}/suspend`, `${two}/suspend`, `${one}/resume`]) await kernel.http.expect(200, 'PUT', `/api/agents/${path}`);
    const back = await open(kernel.url, { after: place });
    await back.until(ofAgent(one, 'changed'));
    expect(`${back.frames[0]?.epoch}.${back.frames[0]?.seq}`).to.equal(place);
    expect(back.frames.slice(1).map(({ id }) => id)).to.deep.equal([two, one]);
    expect(back.frames.slice(1).map(({ seq }) => seq - (back.frames[0]?.seq ?? 0))).to.deep.equal([2, 3]);
    const again = await open(kernel.url, { after: back.place() });
    const three = await spawn(kernel, 'three');
    await again.until(ofAgent(three, 'spawned'));
    expect(again.frames.map(({ type }) => type)).to.deep.equal(['hello', 'change']);
  });

  it('F2: says that there is a gap where what was missed is not held any more, and goes on from there', async () => {
    const kernel = await bootTestKernel();
    const first = await open(kernel.url);
    const place = first.place();
    first.leave();
    await flood(kernel, HELD);
    const whole = await open(kernel.url, { after: place });
    await until(() => whole.frames.length > HELD);
    expect(whole.frames.some(({ type }) => type === 'gap')).to.equal(false);
    await flood(kernel, 1);
    const lost = await open(kernel.url, { after: place });
    await lost.until(({ type }) => type === 'gap');
    expect(lost.frames.map(({ type }) => type)).to.deep.equal(['hello', 'gap']);
    expect(lost.frames[1]?.seq).to.equal(lost.frames[0]?.seq);
    const id = await spawn(kernel, 'next');
    await lost.until(ofAgent(id, 'spawned'));
  });

  it('F2: says that there is a gap to whoever comes back to the next life of the daemon', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-live-'));
    try {
      const first = await bootTestKernel({ home });
      const live = await open(first.url);
      await first.stop();
      expect(await live.closed).to.equal(1012);
      const second = await bootTestKernel({ home });
      const back = await open(second.url, { after: live.place() });
      await back.until(({ type }) => type === 'gap');
      expect(back.frames[0]?.epoch).to.not.equal(live.frames[0]?.epoch);
    } finally {
      await stopTestKernels();
      await rm(home, { recursive: true, force: true });
    }
  });

  it('F2: stays open over a reload of its area, says that numbers begin anew, and goes on', async () => {
    const kernel = await bootTestKernel();
    const live = await open(kernel.url);
    await kernel.daemon.kernel.reload('webchat');
    await live.until(({ type }) => type === 'gap');
    const greetings = live.frames.filter(({ type }) => type === 'hello');
    expect(new Set(greetings.map(({ epoch }) => epoch)).size).to.equal(2);
    const id = await spawn(kernel, 'after');
    await live.until(ofAgent(id, 'spawned'));
    expect(live.frames.filter(ofAgent(id, 'spawned'))).to.have.length(1);
    live.leave();
    expect((await open(kernel.url, { after: live.place() })).frames.some(({ type }) => type === 'gap')).to.equal(false);
  });

  it('refuses a place that is none before the handshake, with 400 and what to do', async () => {
    const kernel = await bootTestKernel();
    for (const after of ['x', '1', '0123456789abcdef', '0123456789abcdef.-1', '0123456789abcdef.1e3']) {
      const { status, body } = await kernel.http.get(`/api/live?after=${after}`);
      expect([status, body.code], after).to.deep.equal([400, 'webchat_invalid_place']);
    }
    const early = await open(kernel.url);
    const ahead = await open(kernel.url, { after: `${early.frames[0]?.epoch}.999999` });
    await ahead.until(({ type }) => type === 'gap');
  });

  it('joins changes of one thing that come close together, and tells the last', async () => {
    const clock = virtualClock(systemClock().now());
    const kernel = await bootTestKernel({ clock });
    const live = await open(kernel.url);
    // What the start has still to tell.
    await clock.advance(1_000);
    for (const name of ['openai', 'groq', 'openai']) kernel.daemon.parts.events.deliver('provider.changed', { name });
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(JOIN_MS - 1);
    expect(live.received()).to.deep.equal([]);
    await clock.advance(1);
    await until(() => live.received().length > 0);
    expect(live.frames.filter(({ what }) => what === 'provider').map(({ id }) => id)).to.deep.equal(['groq', 'openai']);
  });

  it('pings, with the number that everybody has reached, and answers a ping', async () => {
    const clock = virtualClock(systemClock().now());
    const kernel = await bootTestKernel({ clock });
    const live = await open(kernel.url);
    await clock.advance(PING_MS);
    expect(await live.until(({ type }) => type === 'ping')).to.have.property('seq');
    const before = live.frames.length;
    live.socket.send('{"type":"ping"}');
    await until(() => live.frames.length > before);
    expect(live.frames.at(-1)?.type).to.equal('ping');
    for (const text of ['shout', 'null', '{"type":"message"}']) live.socket.send(text);
    await until(() => live.frames.filter(({ code }) => code === 'format_error').length === 3);
  });

  it('F4: keeps little for a client that takes nothing, spares the others, and goes on when it takes again', async function () {
    this.timeout(60_000);
    const kernel = await bootTestKernel();
    const slow = await open(kernel.url);
    const quick = await open(kernel.url);
    slow.socket.pause();
    const connections = kernel.daemon.parts.http.connections('followChanges');
    const unsent = (): number[] => connections.map((one) => one.unsentBytes);
    const round = async (): Promise<void> => {
      const last = quick.frames.at(-1)?.seq ?? 0;
      await flood(kernel, HELD / 2, `${last}-${'x'.repeat(400)}-`);
      await until(() => (quick.frames.at(-1)?.seq ?? 0) >= last + HELD / 2);
    };
    while (Math.max(...unsent()) < 65_536) await round();
    for (let n = 0; n < 4; n++) await round();
    expect(Math.max(...unsent())).to.be.lessThan(1_048_576);
    slow.socket.resume();
    const end = await slow.until(({ type }) => type === 'gap');
    const id = await spawn(kernel, 'later');
    expect((await slow.until(ofAgent(id, 'spawned'))).seq).to.be.greaterThan(end.seq);
    expect(quick.frames.some(({ type }) => type === 'gap')).to.equal(false);
  });

  it('counts its sockets and its gaps', async () => {
    const kernel = await bootTestKernel();
    const live = await open(kernel.url, { after: '0123456789abcdef.1' });
    await live.until(({ type }) => type === 'gap');
    const { text } = await kernel.http.expect(200, 'GET', '/api/metrics');
    expect(text)
      .to.match(/^svc_live_sockets 1$/m)
      .and.match(/^svc_live_gaps_total 1$/m);
  });

  it('tells at each of two daemons what was done at the other', async function () {
    this.timeout(60_000);
    const hub = createLocalBusHub();
    const two = await bootTwo({ joinBus: (name) => hub.join(name, (error) => expect.fail(String(error))) });
    try {
      const [a, b] = [await open(two.a.kernel.url), await open(two.b.kernel.url)];
      const id = await spawn(two.a.kernel, 'seen-by-both');
      for (const live of [a, b]) await live.until(ofAgent(id, 'spawned'));
      const elsewhere = await open(two.b.kernel.url, { after: a.place() });
      await elsewhere.until(({ type }) => type === 'gap');
    } finally {
      for (const one of opened.splice(0)) one.leave();
      await two.stop();
    }
  });
});
