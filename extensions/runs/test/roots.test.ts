/** Runs say why they are: causes, roots, and the limits and the stop that hold for all below a root. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineWork, Type } from '@svc/api';
import { type RunDraft, RunContext, RunHalt, Runs, type RunsService } from '@svc/ext-runs/contract';
import { fixtureExtension, OPEN_RATE, OWNER } from '@svc/testing';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const Work = defineWork('work', '1.0.0', { input: Type.Unknown(), result: Type.Unknown() });

describe('a run and its root', () => {
  let home: string;
  let runs: RunsService;
  let contexts: Array<Record<string, unknown>>;
  let halted: Array<readonly [string, boolean]>;
  let openWork: (parentId?: string) => Promise<string>;

  const boss = () =>
    fixtureExtension({
      id: 'boss',
      manifest: { hooks: [{ name: 'run.context' }, { name: 'run.halt' }], requires: { runs: '^1' }, kinds: ['work'], grants: [{ grant: 'actors', why: 'a test' }] },
      definition: {
        activate: (ctx) => {
          const required = ctx.services.require(Runs);
          runs = required;
          ctx.hooks.tap(RunContext, (text, { via, peerId }) => {
            contexts.push({ via, peerId });
            return text;
          });
          ctx.hooks.tap(RunHalt, ({ runId, isRoot }) => {
            halted.push([runId, isRoot]);
            return 1;
          });
          ctx.journal.worker(Work, { concurrency: 1, drive: async () => undefined });
          openWork = async (parentId) =>
            (
              await ctx.journal.open({
                kind: 'work',
                actor: OWNER,
                input: {},
                isQueued: true,
                lane: 'never',
                ...(parentId === undefined ? { cause: { kind: 'workflow', id: 'nightly' } } : { parentId }),
              })
            ).run.id;
        },
      },
    });
  const boot = (script: Script | readonly ScriptedAnswer[], config = ''): Promise<ModelKernel> =>
    bootWithModel(script, { home, stopDrainMs: 3_000, extra: [boss()], config: `${OPEN_RATE}[extensions]\nenable = ["boss"]\n${config}` });
  const submit = async (svc: ModelKernel, draft: Partial<RunDraft> = {}): Promise<string> =>
    (await runs.submit(OWNER, { agentId: svc.agent.id, door: 'internal', parts: [{ type: 'text', text: 'go' }], sessionId: (await freshSession(svc)) ?? '', ...draft })).runId;
  const freshSession = async (svc: ModelKernel): Promise<string> => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/sessions`, {})).body.session_id;
  const shown = async (svc: ModelKernel, id: string) => (await svc.http.expect(200, 'GET', `/api/runs/${id}`)).body;
  const ended = (svc: ModelKernel, id: string) => until(async () => ['done', 'failed', 'cancelled'].includes((await shown(svc, id)).status));
  const refusal = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'taken',
      ({ code }) => code,
    );

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-roots-'));
    [contexts, halted] = [[], []];
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('shows its cause, its root and the way it came, in lists too', async () => {
    const svc = await boot(() => ({ text: 'ok' }));
    const said = (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'go' })).body.run_id;
    expect(await shown(svc, said)).to.deep.include({ root_id: said, cause: { kind: 'message', id: null }, channel: 'rest', via: null });
    const via = { channel: 'telegram', account: 'bot', chat: '42', sender: 'ann' };
    const job = await submit(svc, { cause: { kind: 'cron', id: 'nightly' }, via });
    const child = await submit(svc, { parentRunId: job, cause: { kind: 'agent', id: svc.agent.id }, door: 'agent' });
    await ended(svc, child);
    expect(await shown(svc, job)).to.deep.include({ root_id: job, cause: { kind: 'cron', id: 'nightly' }, channel: 'telegram', via });
    expect(await shown(svc, child)).to.deep.include({ root_id: job, parent_run_id: job, cause: { kind: 'agent', id: svc.agent.id } });
    const tree = (await svc.http.expect(200, 'GET', `/api/runs?root_id=${job}`)).body.runs;
    expect(tree.map(({ run_id: id }: { run_id: string }) => id)).to.deep.equal([child, job]);
    expect(contexts).to.deep.include({ via, peerId: 'ann' });
    const history = (await svc.http.expect(200, 'GET', `/api/sessions/${(await shown(svc, job)).session_id}`)).body;
    expect(JSON.stringify(history)).to.contain('go');
    const usage = svc.kernel.daemon.parts.storage.dbFor({ id: 'llm', tables: ['usage'] });
    const channels = (await usage.system('a test').select<{ channel: string }>({ from: 'usage', columns: ['channel'], order: [{ column: 'at' }] })).map(({ channel }) => channel);
    expect(channels).to.include.members(['rest', 'telegram', 'agent']);
  });

  it('takes text that no person typed for no slash command, and a message from a channel for one', async () => {
    const svc = await boot(() => ({ text: 'the model' }));
    const text = (draft: Partial<RunDraft>) => submit(svc, { parts: [{ type: 'text', text: '/status' }], ...draft });
    for (const draft of [{}, { cause: { kind: 'cron' } }, { door: 'agent' }] as const) await ended(svc, await text(draft));
    expect(svc.model.requests).to.have.length(3);
    await text({ cause: { kind: 'channel' }, via: { channel: 'telegram', sender: 'ann' } });
    await text({ door: 'rest' });
    expect(svc.model.requests).to.have.length(3);
  });

  it('X1 is refused beyond what its root may lead to, whatever kinds of work stand in between', async () => {
    const svc = await boot(() => ({ text: 'ok' }), '[roots]\nmax_runs = 3\n');
    const root = await openWork();
    const first = await submit(svc, { parentRunId: root, cause: { kind: 'workflow', id: 'nightly' } });
    const between = await openWork(first);
    const second = await submit(svc, { parentRunId: between });
    expect((await shown(svc, second)).root_id).to.equal(root);
    expect(await refusal(submit(svc, { parentRunId: second }))).to.equal('run_root_full');
    expect(await refusal(submit(svc))).to.equal('taken');
  });

  it('X2 spends no more below one root than no person allowed, and ends when it has lasted long enough', async () => {
    const svc = await boot(() => ({ text: 'ok' }), '[roots]\nmax_cost_usd = 0.000001\n');
    const job = await submit(svc, { cause: { kind: 'webhook', id: 'w' } });
    await ended(svc, job);
    expect((await shown(svc, job)).error?.code).to.equal('budget_root_exceeded');
    const said = await submit(svc, { cause: { kind: 'message' } });
    await ended(svc, said);
    expect((await shown(svc, said)).status).to.equal('done');
  });

  it('X2 refuses what begins below a root that has lasted too long', async () => {
    const svc = await boot(() => ({ text: 'ok' }), '[roots]\nmax_hours = 0.0000001\n');
    const job = await submit(svc, { cause: { kind: 'webhook', id: 'w' } });
    expect(await refusal(submit(svc, { parentRunId: job }))).to.equal('run_root_too_long');
    const said = await submit(svc, { cause: { kind: 'message' } });
    expect(await refusal(submit(svc, { parentRunId: said }))).to.equal('taken');
  });

  it('X3 is as deep as its parents say', async () => {
    const svc = await boot(() => ({ text: 'ok' }), '[runs]\nmax_depth = 2\n');
    const one = await submit(svc, { parentRunId: await submit(svc) });
    const two = await submit(svc, { parentRunId: one, depth: 0 });
    expect(await refusal(submit(svc, { parentRunId: two, depth: 0 }))).to.equal('run_too_deep');
  });

  it('stops with its root, and so does what other areas drive', async () => {
    const svc = await boot(() => ({ hang: true }));
    const root = await openWork();
    const first = await submit(svc, { parentRunId: root, cause: { kind: 'workflow' } });
    const second = await submit(svc, { parentRunId: await openWork(first) });
    await until(() => svc.model.requests.length === 2);
    expect(await runs.stop(OWNER, { rootId: root }, 'a test')).to.equal(3);
    for (const id of [first, second]) {
      await ended(svc, id);
      expect((await shown(svc, id)).status).to.equal('cancelled');
    }
    expect(halted).to.deep.equal([[root, true]]);
    expect(await shown(svc, root)).to.deep.include({ run_id: root, root_id: root, cause: { kind: 'workflow', id: 'nightly' }, status: 'running', agent_id: null, session_id: null, steps: [] });
    const unstarted = await openWork();
    expect((await svc.http.expect(200, 'POST', `/api/runs/${unstarted}/stop`)).body.run_id).to.equal(unstarted);
    expect([(await shown(svc, unstarted)).run_id, (await svc.http.expect(200, 'GET', `/api/runs?root_id=${unstarted}`)).body.runs]).to.deep.equal([unstarted, []]);
    expect((await svc.http.get(`/api/runs/${await openWork(root)}`)).body.code).to.equal('run_not_found');

    const asked = await submit(svc);
    const below = await submit(svc, { parentRunId: await openWork(asked) });
    await until(() => svc.model.requests.length === 4);
    const { stopped } = (await svc.http.expect(200, 'POST', `/api/runs/${asked}/stop`)).body;
    await ended(svc, below);
    expect([stopped, (await shown(svc, below)).status]).to.deep.equal([3, 'cancelled']);
  });

  it('X4 waits for room of its own where no person began it, in order, and messages and what agents wait for go first', async () => {
    const isJob = ({ messages }: { messages: Array<{ content: unknown }> }): boolean => String(messages.at(-1)?.content).includes('job');
    const svc = await boot(({ body }) => (isJob(body) ? { hang: true } : { text: 'ok' }), '[queue.concurrency]\ncron_lane = 2\ntrigger_lane = 1\n');
    const begin = (cause: RunDraft['cause'], more: Partial<RunDraft> = {}) => submit(svc, { parts: [{ type: 'text', text: 'job' }], ...(cause === undefined ? {} : { cause }), ...more });
    const jobs: string[] = [];
    for (let index = 0; index < 12; index += 1) jobs.push(await begin({ kind: 'cron', id: 'nightly' }));
    const hooks = [await begin({ kind: 'webhook', id: 'w' }), await begin(undefined, { parentRunId: await openWork(), cause: { kind: 'workflow', id: 'nightly' } })];
    const statuses = async (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await shown(svc, id)).status));
    await until(() => svc.model.requests.length === 3);
    expect([(await statuses(jobs)).slice(0, 3), await statuses(hooks)]).to.deep.equal([
      ['running', 'running', 'queued'],
      ['running', 'queued'],
    ]);
    const { lanes } = await runs.queue(OWNER);
    expect(lanes.map(({ lane, running, queued, capacity }) => [lane, running, queued, capacity])).to.deep.equal([
      ['main', 0, 0, 1000],
      ['cron', 2, 10, 2],
      ['subagent', 0, 0, 1000],
      ['trigger', 1, 1, 1],
    ]);

    expect((await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hello' })).body.response).to.equal('ok');
    const crowded = await shown(svc, jobs[11] ?? '');
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hello', session_id: crowded.session_id });
    const asked = await begin({ kind: 'agent', id: svc.agent.id }, { parentRunId: jobs[0] ?? '', door: 'agent', parts: [{ type: 'text', text: 'hello' }] });
    const below = await begin({ kind: 'workflow' }, { parentRunId: await openWork(), depth: 1, parts: [{ type: 'text', text: 'hello' }] });
    for (const id of [asked, below]) await ended(svc, id);

    await runs.stop(OWNER, { runId: jobs[1] ?? '' }, 'a test');
    await until(async () => (await shown(svc, jobs[2] ?? '')).status === 'running');
    expect((await statuses(jobs)).filter((status) => status === 'running')).to.have.length(2);
    await runs.stop(OWNER, { agentId: svc.agent.id }, 'a test');
    for (const id of [...jobs, ...hooks]) await ended(svc, id);
  });

  it('waits for room where nobody waits for it, and is refused where somebody does', async () => {
    let isFree = false;
    const svc = await boot(() => (isFree ? { text: 'ok' } : { hang: true }), '[runs]\nmax_active = 1\n');
    const first = await submit(svc);
    await until(() => svc.model.requests.length === 1);
    expect(await refusal(submit(svc))).to.equal('run_too_many');
    const job = await submit(svc, { cause: { kind: 'cron', id: 'nightly' } });
    expect((await shown(svc, job)).status).to.equal('queued');
    isFree = true;
    await runs.stop(OWNER, { runId: first }, 'a test');
    await ended(svc, job);
    expect((await shown(svc, job)).status).to.equal('done');
  });
});
