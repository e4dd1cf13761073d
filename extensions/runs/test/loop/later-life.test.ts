/** Runs and clients over a restart: what ended is said again, what was missed is given, what waits for a time goes on by itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDaemonOnEngines, OWNER, fixtureExtension, OPEN_RATE, type SseEvent } from '@svc/testing';
import { defineTool, ToolBefore, Type } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { createJournal } from '@svc/platform/journal/journal';
import { expect } from 'chai';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

describe('in a later life of the daemon', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-later-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = (script: Script | readonly ScriptedAnswer[]): Promise<ModelKernel> => bootWithModel(script, { home });
  const send = (svc: ModelKernel, headers: Record<string, string> = {}) => svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'go' }, headers);
  const resume = (svc: ModelKernel, id: string): Promise<SseEvent[]> => svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'go' }, { 'last-event-id': id });

  for (const [how, script, isStopped] of [
    ['is done', [{ text: 'the answer' }], false],
    ['has failed', [{ status: 400, message: 'this is refused' }], false],
    ['was stopped', [{ hang: true }], true],
  ] as const)
    it(`a request sent again under its key is answered by its run that ${how}, as it was, and no model is asked`, async () => {
      const first = await boot(script);
      const sent = send(first, { 'idempotency-key': 'k' });
      if (isStopped) {
        await until(() => first.model.requests.length === 1);
        await first.http.expect(200, 'POST', `/api/agents/${first.agent.id}/stop`);
      }
      const answer = await sent;
      await first.kernel.stop();

      const second = await boot([{ text: 'another answer' }]);
      const again = await send(second, { 'idempotency-key': 'k' });

      expect(again.status).to.equal(answer.status);
      for (const field of ['response', 'finish', 'code', 'error', 'hint', 'run_id', 'input_tokens', 'cost_usd']) expect(again.body[field], field).to.equal(answer.body[field]);
      expect(again.headers.get('x-svc-run') ?? again.body.run_id, 'the run').to.equal(answer.headers.get('x-svc-run') ?? answer.body.run_id);
      expect((await send(second, { 'idempotency-key': 'k' })).status).to.equal(answer.status);
      expect(second.model.requests).to.have.length(0);
    });

  it('a client that was cut off is given what it missed, then the end, from any place it names', async () => {
    const first = await boot([{ text: 'I will look.', toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'It is late.' }]);
    const events = await first.http.events('POST', `/api/agents/${first.agent.id}/message/stream`, { message: 'go' });
    await first.kernel.stop();
    const kinds = (given: readonly SseEvent[]) => given.map(({ event, data }) => (event === 'phase' ? data.phase : event));
    const idOf = (kind: string): string => events.find(({ event }) => event === kind)?.id ?? '';

    const second = await boot([{ text: 'another answer' }]);
    const all = await resume(second, events[0]?.id ?? '');
    const late = await resume(second, idOf('tool_result'));

    expect(kinds(all)).to.deep.equal(['restarted', 'chunk', 'tool_use', 'tool_result', 'chunk', 'done']);
    expect(all.filter(({ event }) => event === 'chunk').map(({ data }) => data.content)).to.deep.equal(['I will look.', 'It is late.']);
    expect(all.find(({ event }) => event === 'tool_result')?.data).to.deep.equal(events.find(({ event }) => event === 'tool_result')?.data);
    expect(all.at(-1)?.data).to.deep.equal(events.at(-1)?.data);
    expect(kinds(late)).to.deep.equal(['restarted', 'chunk', 'done']);
    expect(second.model.requests).to.have.length(0);
  });

  it('the words of an incognito message are not given: they are gone', async () => {
    const first = await boot([{ text: 'a secret' }]);
    const events = await first.http.events('POST', `/api/agents/${first.agent.id}/message/stream`, { message: 'go', incognito: true });
    expect(JSON.stringify(events)).to.contain('a secret');
    await first.kernel.stop();
    const second = await boot([{ text: 'another answer' }]);
    const given = await resume(second, events[0]?.id ?? '');
    expect(given.at(-1)?.event).to.equal('done');
    expect(JSON.stringify(given)).to.not.contain('a secret');
  });
});

describe('a call whose check fails', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-check-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  const bootGuarded = (check: () => void, script: readonly ScriptedAnswer[]): Promise<ModelKernel> => {
    const guard = fixtureExtension({
      id: 'guard',
      manifest: { hooks: [{ name: 'tool.before' }] },
      definition: {
        activate: (ctx) =>
          void ctx.hooks.tap(ToolBefore, () => {
            check();
            return undefined;
          }),
      },
    });
    return bootWithModel(script, { home, extra: [guard], config: `${OPEN_RATE}[extensions]\nenable = ["guard"]\n`, stopDrainMs: 500 });
  };
  const call: ScriptedAnswer = { toolCalls: [{ name: 'system_time', args: {} }] };
  const resultIn = (svc: ModelKernel): string => String(svc.model.requests.at(-1)?.body.messages.at(-1)?.content);

  it('once is checked again, and runs', async () => {
    let checks = 0;
    const svc = await bootGuarded(() => {
      checks += 1;
      if (checks === 1) throw new Error('the database was away');
    }, [call, { text: 'it is late' }]);
    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'go' });
    expect([body.response, checks]).to.deep.equal(['it is late', 2]);
    expect(resultIn(svc)).to.not.contain('could not be made');
  });

  it('because the daemon stops is handed to the next life, which checks and runs it', async () => {
    let stopped: Promise<void> | undefined;
    const first = await bootGuarded(() => {
      stopped ??= first.kernel.stop();
      throw new Error('this area is gone');
    }, [call]);
    await first.http.post(`/api/agents/${first.agent.id}/message`, { message: 'go' }, { 'idempotency-key': 'k' });
    await stopped;

    const second = await bootGuarded(() => undefined, [{ text: 'it is late' }]);
    const { body } = await second.http.expect(200, 'POST', `/api/agents/${second.agent.id}/message`, { message: 'go' }, { 'idempotency-key': 'k' });
    expect(body.response).to.equal('it is late');
    expect(resultIn(second)).to.not.contain('could not be made');
  });
});

describe('a run that waits for a time', () => {
  afterEach(stopModelKernels);

  it('goes on by itself when that has come, and not before', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const later = fixtureExtension({
      id: 'later',
      manifest: { hooks: [{ name: 'tool.before' }] },
      definition: {
        activate: (ctx) => {
          const due = Date.parse('2026-01-01T01:00:00Z');
          ctx.hooks.tap(ToolBefore, () => (ctx.clock.now() >= due ? undefined : { suspend: { reason: 'too early', wakeKey: 'early', until: new Date(due).toISOString() } }));
        },
      },
    });
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'on time' }], {
      clock,
      extra: [later],
      config: `${OPEN_RATE}[extensions]\nenable = ["later"]\n`,
    });
    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'go' });
    expect(body.waiting).to.deep.equal({ run_id: body.run_id, approval_id: 'early' });
    const run = () => svc.kernel.daemon.parts.journal.get(OWNER, body.run_id);
    expect((await run())?.wait).to.include({ reason: 'too early', wakeKey: 'early', until: '2026-01-01T01:00:00.000Z' });
    await clock.advance(3_500_000);
    await svc.http.get('/api/health');
    expect((await run())?.status).to.equal('waiting');

    await clock.advance(160_000);
    await until(async () => (await run())?.status === 'done');
    expect((await run())?.result).to.include({ response: 'on time' });
  });
});

describeDaemonOnEngines('a run that is resumed while an area that it needs is slow to start', (engine) => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-slow-start-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it(`goes on when that is there, and finds its tool (${engine.name})`, async () => {
    const first = await bootWithModel([{ hang: true }], { home, stopDrainMs: 20 });
    const cut = first.http.post(`/api/agents/${first.agent.id}/message`, { message: 'count' });
    await until(() => first.model.requests.length === 1);
    await first.kernel.stop();
    const runId = (await cut).headers.get('x-svc-run') ?? '';

    const clock = virtualClock(Date.now());
    let claims = 0;
    let claimsBefore: number | undefined;
    const slow = fixtureExtension({
      id: 'slow',
      manifest: { requires: { runs: '^1.0.0' } },
      contributions: { tools: [{ name: 'count', risk: 'read', replay: 'safe' }] },
      definition: {
        activate: async (ctx) => {
          // Whatever of runs is due by now is done.
          await clock.advance(1_000);
          claimsBefore = claims;
          ctx.tools.add(defineTool({ name: 'count', description: 'Counts.', params: Type.Object({}), risk: 'read', replay: 'safe', parallel: true, run: async () => 'counted' }));
        },
      },
    });
    const second = await bootWithModel([{ toolCalls: [{ name: 'count', args: {} }] }, { text: 'done' }], {
      home,
      clock,
      config: `${OPEN_RATE}[extensions]\nenable = ["slow"]\n`,
      extra: [slow],
      factories: {
        createJournal: (options) => {
          const journal = createJournal(options);
          return {
            ...journal,
            claim: (...args) => {
              claims += 1;
              return journal.claim(...args);
            },
          };
        },
      },
    });
    expect(claimsBefore, 'claims before all areas had started').to.equal(0);
    await clock.advance(1);

    await until(async () => (await second.kernel.daemon.parts.journal.get(OWNER, runId))?.status === 'done');
    expect(JSON.stringify(second.model.requests.at(-1)?.body.messages))
      .to.contain('counted')
      .and.not.contain('There is no tool');
  });
});
