/** A run that was accepted begins when it can: only what is gone for good ends it. */
import { type JournalRun, type LeasedRun, actorFrom } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { agentErrors } from '../../agents/src/errors.js';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { driveRun, type LoopDeps, type LoopEnd } from '../src/loop/agent-loop.js';
import { runErrors } from '../src/errors.js';
import { eachRun } from '../src/stopping.js';

describe('a run whose agent cannot be read', () => {
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  let failure: unknown;
  let asked: number;
  let ends: Array<{ status: string; error?: { code: string } }>;
  let isLeaving: boolean;
  let released: string[];

  beforeEach(() => {
    failure = new Error('the database is busy');
    asked = 0;
    ends = [];
    isLeaving = false;
    released = [];
  });

  const drive = (signal = new AbortController().signal): Promise<LoopEnd> => {
    // Only what stands before the first step of a run.
    const deps = {
      clock,
      closing: new AbortController().signal,
      isLeaving: () => isLeaving,
      actors: { system: (purpose: string, ownerId: string) => ({ id: `system:runs:${purpose}`, role: 'system', ownerId }) },
      log: { warn: () => undefined, error: () => undefined },
      agents: {
        get: () => {
          asked += 1;
          return Promise.reject(failure);
        },
      },
      events: { event: () => ({ event: 'run.ended', data: null }) },
      streams: { publish: () => undefined },
      journal: {
        advance: async (_run: LeasedRun, { finish }: { finish: { status: string } }) => void ends.push(finish),
        release: async (run: LeasedRun) => void released.push(run.id),
      },
    } as unknown as LoopDeps;
    return driveRun(deps, { id: 'r', ownerId: 'user:alice', input: { agentId: 'a', sessionId: 's' }, signal, steps: [] } as unknown as LeasedRun);
  };

  it('tries again, ever more slowly, and ends as gone only when the agent is', async () => {
    const end = drive();
    await clock.advance(3_600_000);
    expect(ends).to.deep.equal([]);
    expect(asked).to.be.greaterThan(100).and.lessThan(200);

    failure = agentErrors.agent_not_found('a');
    await clock.advance(60_000);

    expect(await end).to.equal('ended');
    expect(ends.map(({ status, error }) => [status, error?.code])).to.deep.equal([['failed', 'run_agent_gone']]);
  });

  it('is handed on by a generation that leaves, and ended by a person who stops it', async () => {
    const handed = drive();
    await clock.advance(100);
    isLeaving = true;
    await clock.advance(10_000);
    expect([await handed, released, ends]).to.deep.equal(['handed-on', ['r'], []]);

    isLeaving = false;
    const stop = new AbortController();
    const stopped = drive(stop.signal);
    await clock.advance(100);
    stop.abort(runErrors.stopped());
    expect([await stopped, ends.map(({ status }) => status)]).to.deep.equal(['ended', ['cancelled']]);
  });
});

describe('the runs of one agent', () => {
  afterEach(stopModelKernels);

  it('are found and stopped however many of others came after them', async () => {
    const svc = await bootWithModel([{ hang: true }], { config: OPEN_RATE });
    const sent = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'go' });
    await until(() => svc.model.requests.length === 1);
    const { journal } = svc.kernel.daemon.parts;
    const actor = actorFrom({ id: 'system:test', role: 'system', ownerId: 'system' });
    await Promise.all(Array.from({ length: 501 }, () => journal.open({ kind: 'agent', actor, subject: 'another', input: { agentId: 'another', sessionId: 'x' } })));

    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);

    expect((await sent).body.finish).to.equal('cancelled');
  });

  it('are gone through page by page, each once', async () => {
    const rows = Array.from({ length: 1_203 }, (_, index) => ({ id: String(index) }) as JournalRun);
    const list = async ({ before, limit = 100 }: { before?: string; limit?: number }): Promise<JournalRun[]> => {
      const from = before === undefined ? 0 : rows.findIndex(({ id }) => id === before) + 1;
      return rows.slice(from, from + limit);
    };
    const seen: string[] = [];
    for await (const run of eachRun({ list }, { actor: actorFrom({ id: 'a', role: 'user', ownerId: 'a' }) })) seen.push(run.id);
    expect(seen).to.deep.equal(rows.map(({ id }) => id));
  });
});
