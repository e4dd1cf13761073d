/** What the service of runs accepts, from whom, and what it lets others see and stop. */
import { createHash } from 'node:crypto';
import type { Actor, Verdict } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { type RunDraft, RunEnded, Runs, type RunsService, RunStart } from '@svc/ext-runs/contract';
import { fixtureExtension, OPEN_RATE, OWNER } from '@svc/testing';
import { expect } from 'chai';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const PEOPLE = ['alice', 'bob'].map((name) => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "${hashOf(`${name}-key`)}"\n`).join('');

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('the service of runs', () => {
  let runs: RunsService;
  let verdict: Verdict | undefined;
  let ended: string[];

  /** Another area that uses the service, is asked before each run and hears of each end. */
  const desk = () =>
    fixtureExtension({
      id: 'desk',
      manifest: { requires: { runs: '^1' }, grants: [{ grant: 'actors', why: 'the test says who asks' }], hooks: [{ name: 'run.start' }], events: { listens: ['run.ended'] } },
      definition: {
        activate: (ctx) => {
          runs = ctx.services.require(Runs);
          ctx.hooks.tap(RunStart, () => verdict);
          ctx.events.on(RunEnded, ({ status }) => void ended.push(status));
        },
      },
    });
  const boot = (script: Script = () => ({ text: 'hello' }), config = ''): Promise<ModelKernel> =>
    bootWithModel(script, { extra: [desk()], key: 'root-key', config: `api_key = "root-key"\n${OPEN_RATE}[extensions]\nenable = ["desk"]\n${config}${PEOPLE}` });

  /** A model that answers when the test says so; `open` answers all that was asked and will be. */
  const latch = () => {
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const script: Script = async () => {
      await isOpen;
      return { text: 'hello' };
    };
    return { script, open };
  };

  beforeEach(() => {
    [verdict, ended] = [undefined, []];
  });
  afterEach(stopModelKernels);

  const draft = (svc: ModelKernel, rest: Partial<RunDraft> = {}): RunDraft => ({ agentId: svc.agent.id, door: 'rest', parts: [{ type: 'text', text: 'hi' }], ...rest });
  const over = (actor: Actor, id: string) => until(async () => ['done', 'failed', 'cancelled'].includes((await runs.get(actor, id)).status));
  const spawn = async (svc: ModelKernel, name: string, key = 'root-key', rest = ''): Promise<string> =>
    (await svc.kernel.as(key).expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n${rest}` })).body.agent_id;

  it('takes keys of 1 to 255 printable letters that begin with no space, and no others', async () => {
    const svc = await boot();
    for (const key of ['k', 'two words', '~'.repeat(255)]) expect(await codeOf(runs.submit(OWNER, draft(svc, { key }))), key).to.equal('none');
    for (const key of ['', ' k', 'k\n', 'clé', 'k'.repeat(256)]) expect(await codeOf(runs.submit(OWNER, draft(svc, { key }))), key).to.equal('run_invalid_key');
  });

  it('R3 takes one key for one request: whatever is asked otherwise under it is a conflict, whoever of the owner asks', async () => {
    const svc = await boot();
    const first = await runs.submit(OWNER, draft(svc, { key: 'k' }));
    const again = await runs.submit({ ...OWNER, id: 'another key of the owner' }, draft(svc, { key: 'k' }));
    expect(again).to.include({ runId: first.runId, topic: first.topic, sessionId: first.sessionId, replayed: true, position: 0 });
    const others: Partial<RunDraft>[] = [
      { parts: [{ type: 'text', text: 'ho' }] },
      { systemExtra: 'be brief' },
      { maxTokens: 5 },
      { temperature: 0 },
      { ephemeral: true },
      { incognito: true },
      { thinking: false },
    ];
    for (const other of others) expect(await codeOf(runs.submit(OWNER, draft(svc, { key: 'k', ...other }))), JSON.stringify(other)).to.equal('journal_key_conflict');
    await over(OWNER, first.runId);
  });

  it('takes a message of images alone, and none without anything', async () => {
    const svc = await boot();
    expect(await codeOf(runs.submit(OWNER, draft(svc, { parts: [{ type: 'image', mediaType: 'image/png', data: 'AA==' }] })))).to.equal('none');
    for (const parts of [[], [{ type: 'text' as const, text: '' }]]) expect(await codeOf(runs.submit(OWNER, draft(svc, { parts })))).to.equal('run_empty_message');
  });

  it('takes as many agents above one another as max_depth says', async () => {
    const svc = await boot(undefined, '[runs]\nmax_depth = 2\n');
    expect(await codeOf(runs.submit(OWNER, draft(svc, { depth: 2 })))).to.equal('none');
    expect(await codeOf(runs.submit(OWNER, draft(svc, { depth: 3 })))).to.equal('run_too_deep');
  });

  it('asks every area first: one that says no is told with its own words, and nothing is stored', async () => {
    const svc = await boot();
    for (const [said, why] of [
      [{ deny: 'not on Sundays' }, 'not on Sundays'],
      [{ suspend: { reason: 'a person first', wakeKey: 'w' } }, 'a person first'],
    ] as const) {
      verdict = said;
      const { body } = await svc.http.expect(403, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hi' });
      expect(body).to.include({ code: 'run_refused', error: why });
    }
    expect(await runs.list(OWNER, {})).to.deep.equal([]);
    expect(svc.model.requests).to.have.length(0);
  });

  it('says whether a run begins at once or waits its turn, and which session it joined', async () => {
    const { script, open } = latch();
    const svc = await boot(script);
    const first = await runs.submit(OWNER, draft(svc));
    const second = await runs.submit(OWNER, draft(svc));
    expect([first.position, second.position]).to.deep.equal([0, 1]);
    expect([first.replayed, second.replayed]).to.deep.equal([false, false]);
    expect(new Set([first.sessionId, second.sessionId, svc.agent.session_id]).size).to.equal(1);
    expect((await runs.list(OWNER, { active: true })).map(({ id, status }) => [id, status])).to.have.deep.members([
      [first.runId, 'running'],
      [second.runId, 'queued'],
    ]);
    // It is part of the conversation from here on, for whoever opens it.
    const shown = async () => (await svc.http.expect(200, 'GET', `/api/sessions/${first.sessionId}/runs`)).body.runs.map((run: { message?: { content: string } }) => run.message?.content);
    const [asked] = draft(svc).parts;
    expect(await shown()).to.deep.equal([undefined, asked?.type === 'text' ? asked.text : '']);
    open();
    await over(OWNER, second.runId);
    expect(await shown()).to.deep.equal([undefined, undefined]);
    expect((await runs.get(OWNER, first.runId)).status).to.equal('done');
    expect(ended).to.deep.equal(['done', 'done']);
  });

  it('lists runs of one agent or of all, those that go on or all, and as many as asked for', async () => {
    const { script, open } = latch();
    const svc = await boot(async (request) => (JSON.stringify(request.body.messages.at(-1)).includes('wait') ? script(request) : { text: 'hello' }));
    const other = await spawn(svc, 'other');
    const done = await runs.submit(OWNER, draft(svc));
    await over(OWNER, done.runId);
    const going = await runs.submit(OWNER, draft(svc, { agentId: other, parts: [{ type: 'text', text: 'wait' }] }));
    const ids = async (filter: Parameters<RunsService['list']>[1]) => (await runs.list(OWNER, filter)).map(({ id }) => id);

    expect(await ids({})).to.have.members([done.runId, going.runId]);
    expect(await ids({ active: true })).to.deep.equal([going.runId]);
    expect(await ids({ active: false })).to.have.length(2);
    expect(await ids({ agentId: svc.agent.id })).to.deep.equal([done.runId]);
    expect(await ids({ agentId: svc.agent.id, active: true })).to.deep.equal([]);
    expect(await ids({ limit: 1 })).to.deep.equal([going.runId]);
    const [info] = await runs.list(OWNER, { agentId: svc.agent.id });
    expect(info).to.deep.include({ agentId: svc.agent.id, sessionId: svc.agent.session_id, status: 'done', error: null });
    expect(info?.result?.response).to.equal('hello');
    open();
    await over(OWNER, going.runId);
  });

  it("shows and stops people their own runs only, and the owner everybody's", async () => {
    const { script, open } = latch();
    const svc = await boot(script);
    const [alice, bob] = [actorOf('user:alice'), actorOf('user:bob')];
    const hers = await spawn(svc, 'hers', 'alice-key');
    const { runId } = await runs.submit(alice, draft(svc, { agentId: hers }));

    expect((await runs.get(alice, runId)).id).to.equal(runId);
    expect((await runs.get(OWNER, runId)).id).to.equal(runId);
    expect(await codeOf(runs.get(bob, runId))).to.equal('run_not_found');
    expect(await runs.list(bob, {})).to.deep.equal([]);
    expect(await codeOf(runs.stop(bob, { runId }, 'no'))).to.equal('run_not_found');
    expect(await runs.stop(bob, {}, 'no')).to.equal(0);
    expect(await codeOf(runs.get(alice, '00000000-0000-4000-8000-000000000000'))).to.equal('run_not_found');
    expect(await runs.stop(alice, { runId }, 'enough')).to.equal(1);
    await over(alice, runId);
    expect(await runs.get(alice, runId)).to.deep.include({ status: 'cancelled' });
    open();
  });

  it('R5 stops what runs and what is queued, of one agent or one run, and counts them', async () => {
    const { script, open } = latch();
    const svc = await boot(script);
    const other = await spawn(svc, 'other');
    const mine = [await runs.submit(OWNER, draft(svc)), await runs.submit(OWNER, draft(svc)), await runs.submit(OWNER, draft(svc))];
    const kept = await runs.submit(OWNER, draft(svc, { agentId: other }));
    await until(() => svc.model.requests.length === 2);

    expect(await runs.stop(OWNER, { runId: String(mine[2]?.runId) }, 'enough')).to.equal(1);
    expect(await runs.stop(OWNER, { runId: String(mine[2]?.runId) }, 'enough')).to.equal(0);
    expect(await runs.stop(OWNER, { agentId: svc.agent.id }, 'enough')).to.be.within(1, 2);
    for (const { runId } of mine) await over(OWNER, runId);
    expect((await runs.get(OWNER, String(mine[2]?.runId))).error).to.include({ code: 'run_stopped' });
    expect((await runs.get(OWNER, kept.runId)).status).to.equal('running');
    open();
    await over(OWNER, kept.runId);
    expect(ended.filter((status) => status === 'cancelled')).to.have.length(3);
  });

  it('stops with a run those that it began, however deep, and no others', async () => {
    const { script, open } = latch();
    const svc = await boot(script);
    const [child, grandchild, thirdParty] = [await spawn(svc, 'child'), await spawn(svc, 'grandchild'), await spawn(svc, 'stranger')];
    const parent = await runs.submit(OWNER, draft(svc));
    const second = await runs.submit(OWNER, draft(svc, { agentId: child, parentRunId: parent.runId }));
    const third = await runs.submit(OWNER, draft(svc, { agentId: grandchild, parentRunId: second.runId }));
    const kept = await runs.submit(OWNER, draft(svc, { agentId: thirdParty }));
    expect(await runs.stop(OWNER, { runId: parent.runId }, 'enough')).to.equal(3);
    for (const { runId } of [parent, second, third]) await over(OWNER, runId);
    expect((await runs.get(OWNER, third.runId)).status).to.equal('cancelled');
    expect((await runs.get(OWNER, kept.runId)).status).to.equal('running');
    open();
    await over(OWNER, kept.runId);
  });

  it('stops the runs of an agent that is suspended or killed, and takes no message for it', async () => {
    const { script, open } = latch();
    const svc = await boot(script);
    const [suspended, killed] = [await spawn(svc, 'suspended'), await spawn(svc, 'killed')];
    const begun = [await runs.submit(OWNER, draft(svc, { agentId: suspended })), await runs.submit(OWNER, draft(svc, { agentId: killed })), await runs.submit(OWNER, draft(svc))];
    await until(() => svc.model.requests.length === 3);

    await svc.http.expect(200, 'PUT', `/api/agents/${suspended}/suspend`);
    await svc.http.expect(200, 'DELETE', `/api/agents/${killed}`);

    await over(OWNER, String(begun[0]?.runId));
    await until(async () => (await codeOf(runs.get(OWNER, String(begun[1]?.runId)))) === 'run_not_found');
    expect(await codeOf(runs.submit(OWNER, draft(svc, { agentId: suspended })))).to.equal('run_agent_suspended');
    expect((await runs.get(OWNER, String(begun[2]?.runId))).status).to.equal('running');
    open();
    await over(OWNER, String(begun[2]?.runId));
  });
});
