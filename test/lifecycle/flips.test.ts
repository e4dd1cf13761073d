/** Areas that are switched off and on in the midst of work: nobody waits for a generation that is gone. */
import { actorFrom, defineTool, type JournalRun, Type } from '@svc/api';
import type { InstalledFiles } from '@svc/daemon';
import { describeDaemonOnEngines, fixtureExtension, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '../clients/model-kernel.js';
import { makeAgents } from './busy-clients.js';

const FLIPS = 50;
const ROUNDS_AT_ONCE = 5;
const AT_ONCE = 8;
const SESSIONS = 6;

/** A tool call, then an answer: a run is between its steps most of the time. */
const twoSteps: Script = ({ body }) => (body.messages.at(-1).role === 'user' ? { text: 'let me look. ', toolCalls: [{ name: 'file_list', args: { path: '.' } }] } : { text: 'done' });

const areasOf = (svc: ModelKernel): string[] => svc.kernel.daemon.kernel.extensions().flatMap((one) => (one.state === 'active' ? [one.id] : []));

const flip = async (svc: ModelKernel, id: string, force: boolean): Promise<void> => {
  await svc.kernel.daemon.kernel.disable(id, { force });
  await svc.kernel.daemon.kernel.enable(id);
};

/** Clients that go on asking. What they are answered while areas are off is not validated; that they are is. */
const startClients = (svc: ModelKernel, agents: readonly string[]): { stop(): Promise<void> } => {
  let isOver = false;
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const blocking = async (agent: string): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      await svc.http.post(`/api/agents/${agent}/message`, { message: `look ${n}` });
      await pause();
    }
  };
  const streaming = async (agent: string): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const answer = await svc.http.raw('POST', `/api/agents/${agent}/message/stream`, { message: `look ${n}` });
      await answer.text();
      await pause();
    }
  };
  const loops = agents.map((agent, n) => (n % 2 === 0 ? blocking(agent) : streaming(agent)));
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(loops);
    },
  };
};

/** Every area is on, every session answers, and no run is left in between. */
const expectAllAnswer = async (svc: ModelKernel, agents: readonly string[]): Promise<void> => {
  await svc.kernel.daemon.lifecycle.settled();
  expect(svc.kernel.daemon.kernel.extensions().flatMap((one) => (one.state === 'active' ? [] : [`${one.id} ${one.state}: ${one.reason}`]))).to.deep.equal([]);
  const answers = await Promise.all(agents.map((agent) => svc.http.post(`/api/agents/${agent}/message`, { message: 'still there?' })));
  expect(answers.map((answer) => `${answer.status} ${answer.body?.response}`)).to.deep.equal(agents.map(() => '200 done'));
  // A long conversation may be compacted just then.
  const left = (): Promise<readonly JournalRun[]> =>
    svc.kernel.daemon.parts.journal.list({ actor: actorFrom({ id: 'test', role: 'system', ownerId: 'system' }), status: ['queued', 'running', 'waiting'] });
  for (let tries = 0; tries < 200 && (await left()).length > 0; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await left()).map((run) => `${run.kind} ${run.status}`)).to.deep.equal([]);
};

describeDaemonOnEngines('areas switched off and on under load', () => {
  afterEach(stopModelKernels);

  it('one after another, fifty times, leave every session answering', async function () {
    this.timeout(120_000);
    const svc = await bootWithModel(twoSteps);
    const agents = await makeAgents(svc.http, SESSIONS);
    const areas = areasOf(svc);
    const clients = startClients(svc, agents);

    for (let n = 0; n < FLIPS; n++) await flip(svc, areas[n % areas.length] as string, n % 3 !== 0);
    await clients.stop();

    await expectAllAnswer(svc, agents);
  });

  it('six times in a row by force, as tools is, leave every session answering', async function () {
    this.timeout(120_000);
    const svc = await bootWithModel(twoSteps);
    const agents = await makeAgents(svc.http, SESSIONS);
    const clients = startClients(svc, agents);

    for (let n = 0; n < 6; n++) await flip(svc, 'tools', true);
    await clients.stop();

    await expectAllAnswer(svc, agents);
  });

  it('eight at once leave every session answering', async function () {
    this.timeout(120_000);
    const svc = await bootWithModel(twoSteps);
    const agents = await makeAgents(svc.http, SESSIONS);
    const areas = areasOf(svc);
    const clients = startClients(svc, agents);

    for (let round = 0; round < ROUNDS_AT_ONCE; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => flip(svc, areas[(round * AT_ONCE + n) % areas.length] as string, n % 3 !== 0)));
    }
    await clients.stop();

    await expectAllAnswer(svc, agents);
  });

  it('by force: what a run was doing is given up before it goes on elsewhere, and is done again there', async () => {
    const calls: AbortSignal[] = [];
    const svc = await bootWithModel(({ body }) => (body.messages.at(-1).role === 'user' ? { toolCalls: [{ name: 'linger', args: {} }] } : { text: 'done' }), {
      config: `${OPEN_RATE}[extensions]\nenable = ["lingering"]`,
      extra: [lingering(calls)],
    });
    const answer = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'linger' });
    await until(() => calls.length === 1);

    await svc.kernel.daemon.kernel.disable('runs', { force: true });
    expect(calls.map((signal) => signal.aborted)).to.deep.equal([true]);
    await svc.kernel.daemon.kernel.enable('runs');

    expect((await answer).body.response).to.equal('done');
    expect(calls).to.have.length(2);
  });
});

/** A tool that ends by itself only the second time it is called. */
const lingering = (calls: AbortSignal[]): InstalledFiles =>
  fixtureExtension({
    id: 'lingering',
    contributions: { tools: [{ name: 'linger', risk: 'read', replay: 'safe' }] },
    definition: {
      activate: (ctx) => {
        ctx.tools.add(
          defineTool({
            name: 'linger',
            description: 'Lingers.',
            params: Type.Object({}),
            risk: 'read',
            replay: 'safe',
            parallel: false,
            run: async (_args, call) => {
              calls.push(call.signal);
              if (calls.length === 1) await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
              return 'lingered';
            },
          }),
        );
      },
    },
  });
