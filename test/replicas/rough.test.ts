/** Two daemons over one database whose messages come late and are often lost: nothing is lost for that, and nothing doubled. */
import { seededIds } from '@svc/platform/clock/ids';
import { createRoughBus, type RoughBus, type SseEvent, stopTestKernels, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { until } from '../clients/model-kernel.js';
import { lastText } from '../lifecycle/busy-clients.js';
import { bootTwo, count, latch, type Replica, SHORT_LEASE_MS, talk, type TwoDaemons, type TwoDaemonsOptions } from './two-daemons.js';

const AGENTS = 4;
const MESSAGES_EACH = 6;

/** As a browser does: it comes back with the last frame it has until it is told the end. */
const streamed = async (http: TestHttp, path: string, body: unknown, headers: Record<string, string> = {}): Promise<SseEvent[]> => {
  const events: SseEvent[] = [];
  const isOver = (): boolean => ['done', 'error'].includes(events.at(-1)?.event ?? '');
  for (let tries = 0; !isOver() && tries < 200; tries++) {
    const last = events.findLast(({ id }) => id !== undefined)?.id;
    const more = last === undefined ? headers : { 'last-event-id': last };
    await http.events('POST', path, body, more, (event) => events.push(event) > 0 && ['done', 'error'].includes(event.event)).catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
  return events;
};

/** What was said after the last time that it was voided. */
const textOf = (events: readonly SseEvent[]): string => {
  const voided = events.findLastIndex(({ data }) => data.phase === 'restarted');
  return events
    .slice(voided + 1)
    .flatMap(({ event, data }) => (event === 'chunk' ? [data.content] : []))
    .join('');
};

describe('two daemons on a bus that delays and loses', () => {
  let two: TwoDaemons;
  let bus: RoughBus;

  const boot = async (lost: number, options: Partial<TwoDaemonsOptions> = {}): Promise<TwoDaemons> => {
    bus = createRoughBus({ random: seededIds('rough').random, lost, maxDelayMs: 60 });
    two = await bootTwo({ joinBus: (name) => bus.join(name), ...options });
    return two;
  };
  afterEach(async function () {
    this.timeout(30_000);
    await two.stop();
    await stopTestKernels();
  });

  it('answer every message once, and keep it once, whichever is asked and whichever is followed', async function () {
    this.timeout(120_000);
    const { a, b, model } = await boot(0.3, { script: ({ body }) => ({ deltas: ['re: ', lastText(body.messages)] }) });
    const sides: readonly Replica[] = [a, b];
    const side = (n: number): TestHttp => (sides[n % 2] ?? a).kernel.http;
    const agents: string[] = [];
    for (let n = 0; n < AGENTS; n++) agents.push((await side(n).expect(201, 'POST', '/api/agents', { name: `agent-${n}` })).body.agent_id);
    const problems: string[] = [];
    const send = async (agent: string, n: number): Promise<void> => {
      const message = `message ${n} to ${agent}`;
      const answer =
        n % 3 === 0
          ? (await side(n).post(`/api/agents/${agent}/message`, { message })).body.response
          : (await streamed(side(n), `/api/agents/${agent}/message/stream`, { message })).at(-1)?.data.result?.response;
      if (answer !== `re: ${message}`) problems.push(`${message} got ${JSON.stringify(answer)}`);
    };
    await Promise.all(agents.flatMap((agent) => Array.from({ length: MESSAGES_EACH }, (_, n) => send(agent, n))));

    expect(problems).to.deep.equal([]);
    const total = AGENTS * MESSAGES_EACH;
    expect(model.requests.length).to.equal(total);
    expect([await count(a, 'llm__usage'), await count(a, "journal__runs WHERE status = 'done' AND kind = 'agent'"), await count(a, 'journal__runs WHERE attempt > 1')]).to.deep.equal([
      total,
      total,
      0,
    ]);
    for (const agent of agents) {
      const said = await talk(b, agent);
      expect(said.length).to.equal(MESSAGES_EACH * 2);
      for (let n = 0; n < said.length; n += 2) expect(said[n + 1]).to.equal(`Assistant: re: ${said[n]?.slice('User: '.length)}`);
    }
    expect(bus.counts.lost).to.be.greaterThan(0);
  });

  it('take over what the other held when that is gone, and believe nothing that it says afterwards', async function () {
    this.timeout(60_000);
    const model = latch();
    const { a, b, agent } = await boot(0.3, { script: model.script, leaseMs: SHORT_LEASE_MS });
    const asked = a.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' }).catch(() => undefined);
    await until(() => model.waiting() === 1);
    const following = streamed(b.kernel.http, `/api/agents/${agent.id}/message/stream`, { message: 'second' });
    await until(async () => (await count(b, "journal__runs WHERE status = 'queued'")) === 1);
    a.cutOff();
    bus.cutOff('a');
    // The other process asks again when the lease is over.
    await until(() => model.waiting() === 2);
    model.answer({ text: 'of the dead' });
    model.answer({ text: 'of the living' });
    await until(() => model.waiting() === 1);
    model.answer({ text: 'to the second' });
    const events = await following;
    expect(events.at(-1)?.data.result.response).to.equal('to the second');
    a.cutIn();
    bus.cutIn('a');
    // Who asked the dead one was told that it could not keep the answer, and not what it would have been.
    expect((await asked)?.status).to.equal(500);
    expect(await talk(a, agent.id)).to.deep.equal(['User: hello', 'Assistant: of the living', 'User: second', 'Assistant: to the second']);
    // The call of the dead one is counted too: its provider answered it.
    expect([await count(a, 'llm__usage'), await count(a, 'llm__reservations'), await count(a, 'sessions__entries')]).to.deep.equal([3, 0, 4]);
  });

  it('follow a run to the end although its process dies in the middle of a word', async function () {
    this.timeout(60_000);
    const model = latch();
    const { a, b, agent } = await boot(0.2, { script: model.script, leaseMs: SHORT_LEASE_MS });
    const asked = a.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' }).catch(() => undefined);
    await until(() => model.waiting() === 1);
    const followed: SseEvent[] = [];
    const path = `/api/agents/${agent.id}/sessions/${agent.session_id}/stream`;
    const following = (async () => {
      while (followed.at(-1)?.event !== 'done') {
        const last = followed.findLast(({ id }) => id !== undefined)?.id;
        await b.kernel.http
          .events('GET', path, undefined, last === undefined ? {} : { 'last-event-id': last }, (event) => followed.push(event) > 0 && event.event === 'done')
          .catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
      }
    })();
    await until(() => b.kernel.daemon.parts.streams.stats().followers === 1);
    model.answer({ deltas: Array.from({ length: 30 }, (_, n) => `${n} `), eventDelayMs: 300 });
    await until(() => followed.some(({ event }) => event === 'chunk'));
    a.cutOff();
    bus.cutOff('a');
    await until(() => model.waiting() === 1);
    model.answer({ deltas: ['all of ', 'it'] });
    await following;
    expect(followed.at(-1)?.data.result.response).to.equal('all of it');
    expect(textOf(followed)).to.equal('all of it');
    a.cutIn();
    bus.cutIn('a');
    // The dead one finds that its lease is lost, gives its own words up and follows the other's.
    expect((await asked)?.body.response).to.equal('all of it');
    expect(await talk(a, agent.id)).to.deep.equal(['User: hello', 'Assistant: all of it']);
  });
});

describe('two daemons on a bus that brings nothing', () => {
  let two: TwoDaemons;

  const boot = async (options: Partial<TwoDaemonsOptions> = {}): Promise<TwoDaemons> => {
    const bus = createRoughBus({ random: () => 0, lost: 1, maxDelayMs: 1 });
    two = await bootTwo({ joinBus: (name) => bus.join(name), leaseMs: SHORT_LEASE_MS, ...options });
    return two;
  };
  afterEach(async function () {
    this.timeout(30_000);
    await two.stop();
    await stopTestKernels();
  });

  it('find a stop, a choice and a changed agent in the database', async function () {
    this.timeout(60_000);
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const asked = a.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' });
    await until(() => model.waiting() === 1);
    await b.kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/stop`);
    expect((await asked).body.finish).to.equal('cancelled');

    await a.kernel.http.expect(200, 'POST', '/api/extensions/commands/disable');
    await until(() => b.kernel.daemon.kernel.extensions().find(({ id }) => id === 'commands')?.state === 'inactive');

    // Kept in memory there, as it was.
    expect(await suspended(a, agent.id)).to.equal(false);
    await b.kernel.http.expect(200, 'PUT', `/api/agents/${agent.id}/suspend`);
    await until(() => suspended(a, agent.id));
  });

  it('go on with what the other queued, and tell whoever waits for it there', async function () {
    this.timeout(60_000);
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const first = a.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'one' });
    await until(() => model.waiting() === 1);
    const second = b.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'two' });
    await until(async () => (await count(a, "journal__runs WHERE status = 'queued'")) === 1);
    model.answer({ text: 'first' });
    await until(() => model.waiting() === 1);
    model.answer({ text: 'second' });
    expect([(await first).body.response, (await second).body.response]).to.deep.equal(['first', 'second']);
  });
});

const suspended = async ({ kernel }: Replica, agentId: string): Promise<boolean> => (await kernel.http.expect(200, 'GET', `/api/agents/${agentId}`)).body.state === 'Suspended';
