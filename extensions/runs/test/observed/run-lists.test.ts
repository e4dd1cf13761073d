/** Runs over HTTP: of all agents and of one conversation, in pages, to whoever may see them. */
import { describeDaemonOnEngines, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootPeople, type People, refusalOf, UNKNOWN } from '../../../sessions/test/http/people.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Row = any;

const idsOf = (rows: readonly Row[]): string[] => rows.map(({ run_id }) => run_id);

/** Answers with what was said; `fail` fails, `hang` goes on for ever, `tool` looks at the clock first. */
const script: Script = ({ body }) => {
  // What was said and had no answer stands before it.
  const said = JSON.stringify(body.messages.findLast(({ role }: { role: string }) => role === 'user').content).match(/(\w+)\W*$/)?.[1];
  if (said === 'fail') return { status: 400, message: 'this is refused' };
  if (said === 'hang') return { hang: true };
  if (said === 'slowly') return { deltas: Array.from({ length: 400 }, () => 'one more word '), eventDelayMs: 20 };
  if (said === 'tool' && body.messages.at(-1).role !== 'tool') return { text: 'I look.', toolCalls: [{ id: 'call_1', name: 'system_time', args: {} }] };
  return { text: 'ok', usage: { input: 10, output: 5 } };
};

describeDaemonOnEngines('the runs of everybody', () => {
  let svc: People;
  beforeEach(async () => {
    svc = await bootPeople('', script);
  });
  afterEach(stopModelKernels);
  afterEach(stopTestKernels);

  const listed = async (http = svc.owner, query = ''): Promise<{ runs: Row[]; next: string | null }> => (await http.expect(200, 'GET', `/api/runs${query}`)).body;

  it('are listed newest first, with what each used and how it ended', async () => {
    await svc.alice.say('tool');
    await svc.bob.http.post(`/api/agents/${svc.bob.agent.id}/message`, { message: 'fail' });

    const { runs, next } = await listed();

    expect(next).to.equal(null);
    const [failed, done] = runs;
    expect(runs).to.have.length(2);
    expect(failed).to.include({ agent_id: svc.bob.agent.id, agent_name: 'of-bob', status: 'failed', waiting: null, cost_usd: 0 });
    expect(failed.error).to.include({ retry: false }).and.have.keys('code', 'message', 'hint', 'retry');
    expect(done).to.include({ agent_id: svc.alice.agent.id, session_id: svc.alice.agent.session_id, agent_name: 'of-alice', status: 'done', channel: 'rest', is_aside: false, error: null });
    expect(done).to.include({ step_count: 3, input_tokens: 20, output_tokens: 10, model: 'openai/gpt-4o', parent_run_id: null });
    expect(done.cost_usd).to.be.greaterThan(0);
    expect(Date.parse(done.ended_at)).to.be.at.least(Date.parse(done.started_at));
  });

  it('are listed for each person as far as they may see them', async () => {
    await svc.alice.say('hi');
    await svc.bob.say('ho');
    expect((await listed(svc.alice.http)).runs.map(({ agent_name }) => agent_name)).to.deep.equal(['of-alice']);
    expect((await listed(svc.carol)).runs).to.deep.equal([]);
    expect((await listed()).runs).to.have.length(2);
    const [his] = (await listed(svc.bob.http)).runs;
    for (const query of [`agent_id=${svc.bob.agent.id}`, `session_id=${svc.bob.agent.session_id}`, `before=${his.run_id}`])
      expect((await svc.alice.http.get(`/api/runs?${query}`)).status, query).to.equal(404);
    expect((await svc.alice.http.get(`/api/sessions/${svc.bob.agent.session_id}/runs`)).status).to.equal(404);
  });

  it('are narrowed to an agent, a session, a state and a time', async () => {
    await svc.alice.say('one');
    await svc.alice.http.post(`/api/agents/${svc.alice.agent.id}/message`, { message: 'fail' });
    await svc.bob.say('two');
    const { runs } = await listed();
    const [two, fail, one] = idsOf(runs);
    const found = async (query: string): Promise<string[]> => idsOf((await listed(svc.owner, `?${query}`)).runs);

    expect(await found(`agent_id=${svc.alice.agent.id}`)).to.deep.equal([fail, one]);
    expect(await found(`session_id=${svc.bob.agent.session_id.toUpperCase()}`)).to.deep.equal([two]);
    expect(await found('status=failed')).to.deep.equal([fail]);
    const timeline = async (query = '', http = svc.owner): Promise<Row> => (await http.expect(200, 'GET', `/api/runs/timeline${query}`)).body;
    const countsOf = ({ intervals }: { intervals: readonly Row[] }) => ['runs', 'done', 'failed', 'cancelled'].map((key) => intervals.reduce((sum, interval) => sum + interval[key], 0));
    const hour = await timeline('?period=hour');
    expect([hour.period, hour.interval_seconds, hour.intervals.length, countsOf(hour)]).to.deep.equal(['hour', 60, 60, [3, 2, 1, 0]]);
    expect(hour.intervals.findLast((interval: Row) => interval.done > 0).median_ms).to.be.a('number');
    expect(countsOf(await timeline(`?agent_id=${svc.bob.agent.id}`))).to.deep.equal([1, 1, 0, 0]);
    expect(countsOf(await timeline('', svc.alice.http))).to.deep.equal([2, 1, 1, 0]);
    expect((await svc.alice.http.get(`/api/runs/timeline?agent_id=${svc.bob.agent.id}`)).status).to.equal(404);
    expect((await svc.owner.get('/api/runs/timeline?period=year')).body.code).to.equal('invalid_request');
    expect(await found('status=done')).to.deep.equal([two, one]);
    expect(await found(`agent_id=${svc.alice.agent.id}&status=done`)).to.deep.equal([one]);
    expect(await found(`since=${runs[0].started_at}`))
      .to.include(two)
      .and.not.include(one);
    expect(await found('since=2100-01-01')).to.deep.equal([]);
    expect(refusalOf(await svc.owner.get('/api/runs?since=yesterday'))).to.deep.equal([400, 'run_invalid_time']);
    expect((await svc.owner.get('/api/runs?status=over')).status).to.equal(400);
  });

  it('come in pages that leave none out and show none twice, whatever is said meanwhile', async () => {
    for (const word of ['1', '2', '3', '4', '5']) await svc.alice.say(word);
    const all = idsOf((await listed()).runs);
    const seen: string[] = [];
    let next: string | null = '';
    do {
      const page: { runs: Row[]; next: string | null } = await listed(svc.owner, `?limit=2${next ? `&before=${next}` : ''}`);
      seen.push(...idsOf(page.runs));
      next = page.next;
      await svc.bob.say('meanwhile');
    } while (next);
    expect(seen).to.deep.equal(all);
    expect(refusalOf(await svc.owner.get(`/api/runs?before=${UNKNOWN}`))).to.deep.equal([404, 'run_not_found']);
  });
});

describeDaemonOnEngines('the runs of a session', () => {
  let svc: ModelKernel;
  beforeEach(async () => {
    svc = await bootWithModel(script);
  });
  afterEach(stopModelKernels);

  const send = (message: string, more: object = {}) => svc.http.post(`/api/agents/${svc.agent.id}/message`, { message, ...more });
  const runs = async (query = ''): Promise<{ runs: Row[]; next: string | null }> => (await svc.http.expect(200, 'GET', `/api/sessions/${svc.agent.session_id}/runs${query}`)).body;

  it('stand in their order with their steps, what failed, was stopped or goes on included', async () => {
    await send('tool');
    await send('fail');
    const stopped = send('hang');
    await until(async () => (await runs()).runs.at(-1)?.status === 'running' && svc.model.requests.length === 4);
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);
    await stopped;
    void send('hang').catch(() => undefined);
    await until(() => svc.model.requests.length === 5);

    const { runs: shown } = await runs();

    expect(shown.map(({ status, steps }) => [status, steps.map((step: Row) => `${step.kind} ${step.name} ${step.status} ${step.error}`)])).to.deep.equal([
      ['done', ['model openai/gpt-4o done null', 'tool system_time done null', 'model openai/gpt-4o done null']],
      ['failed', [`model openai/gpt-4o failed ${shown[1].error.code}`]],
      ['cancelled', ['model openai/gpt-4o cancelled run_stopped']],
      ['running', ['model openai/gpt-4o running null']],
    ]);
    expect(shown[0].steps[0]).to.include({ input_tokens: 10, output_tokens: 5 });
    expect(shown[0].steps[0].ended_at).to.be.a('string');
    expect(shown[3].ended_at).to.equal(null);
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);
  });

  it('tell of a call that was stopped or failed which model it was, what it used until then, and how often it was asked', async () => {
    const stopped = send('slowly');
    await until(() => svc.model.requests.length === 1);
    await svc.http.events('GET', `/api/agents/${svc.agent.id}/sessions/${svc.agent.session_id}/stream`, undefined, {}, ({ event }) => event === 'chunk');
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);
    const answer = (await stopped).body;
    await send('fail');
    const [cut, failed] = (await runs()).runs;
    expect(cut).to.include({ status: 'cancelled', model: 'openai/gpt-4o' });
    expect(
      [cut?.input_tokens, cut?.output_tokens, cut?.cost_usd].every((figure) => Number(figure) > 0),
      JSON.stringify(cut),
    ).to.equal(true);
    expect(cut?.steps).to.have.length(1);
    expect(cut?.steps[0]).to.include({ name: 'openai/gpt-4o', status: 'cancelled', attempts: 1, error: 'run_stopped', output_tokens: cut?.output_tokens });
    expect(answer).to.include({ input_tokens: cut?.input_tokens, output_tokens: cut?.output_tokens });
    expect(failed).to.include({ status: 'failed', model: 'openai/gpt-4o' });
    expect(failed?.steps[0]).to.include({ status: 'failed', attempts: 1, error: failed?.error.code });
  });

  it('are those of the messages in its history, by their ids', async () => {
    await send('tool');
    await send('again');
    await send('beside', { ephemeral: true });
    const { body } = await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`);
    const ids = body.messages.map(({ run_id }: Row) => run_id);
    expect([...new Set(ids)]).to.deep.equal(idsOf((await runs()).runs));
    expect(body.messages.map(({ seq }: Row) => seq)).to.deep.equal([1, 2, 5, 6, 7]);
  });

  it('come in pages from the newest on', async () => {
    for (const word of ['1', '2', '3']) await send(word);
    const all = idsOf((await runs()).runs);
    const newest = await runs('?limit=2');
    expect(idsOf(newest.runs)).to.deep.equal(all.slice(1));
    const oldest = await runs(`?limit=2&before=${newest.next}`);
    expect([idsOf(oldest.runs), oldest.next]).to.deep.equal([all.slice(0, 1), null]);
    expect((await svc.http.get(`/api/sessions/${UNKNOWN}/runs`)).status).to.equal(404);
    expect((await svc.http.get('/api/sessions/x/runs')).status).to.equal(400);
  });
});

describeDaemonOnEngines('one run', () => {
  let svc: People;
  beforeEach(async () => {
    svc = await bootPeople('', script);
  });
  afterEach(stopModelKernels);
  afterEach(stopTestKernels);

  const newest = async (): Promise<Row> => (await svc.owner.expect(200, 'GET', '/api/runs?limit=1')).body.runs[0];

  it('is shown by its id as in the list, with its steps, to whoever may see it', async () => {
    await svc.alice.say('tool');
    const listed = await newest();
    const { steps, ...shown } = (await svc.alice.http.expect(200, 'GET', `/api/runs/${listed.run_id.toUpperCase()}`)).body;
    expect(shown).to.deep.equal(listed);
    expect(steps.map(({ kind, name }: Row) => `${kind} ${name}`)).to.deep.equal(['model openai/gpt-4o', 'tool system_time', 'model openai/gpt-4o']);
    for (const [http, id] of [
      [svc.bob.http, listed.run_id],
      [svc.owner, UNKNOWN],
    ] as const)
      expect(refusalOf(await http.get(`/api/runs/${id}`))).to.deep.equal([404, 'run_not_found']);
    expect((await svc.owner.get('/api/runs/x')).status).to.equal(400);
  });

  it('is stopped without the others of its agent, once, by whoever may', async () => {
    const hangs = () => svc.alice.http.post(`/api/agents/${svc.alice.agent.id}/message`, { message: 'hang', incognito: true });
    const [first, second] = [hangs(), hangs()];
    await until(() => svc.model.requests.length === 2);
    const [stopped, other] = idsOf((await svc.owner.expect(200, 'GET', '/api/runs')).body.runs);

    for (const [http, status] of [
      [svc.bob.http, 404],
      [svc.carol, 403],
    ] as const)
      expect((await http.post(`/api/runs/${stopped}/stop`)).status).to.equal(status);
    const { body } = await svc.alice.http.expect(200, 'POST', `/api/runs/${stopped}/stop`);
    expect(body).to.deep.equal({ status: 'ok', run_id: stopped, stopped: 1 });
    await Promise.race([first, second]);
    const statusOf = async (id: string | undefined): Promise<string> => (await svc.owner.expect(200, 'GET', `/api/runs/${id}`)).body.status;
    expect([await statusOf(stopped), await statusOf(other)]).to.deep.equal(['cancelled', 'running']);
    expect((await svc.alice.http.expect(200, 'POST', `/api/runs/${stopped}/stop`)).body.stopped).to.equal(0);
    await svc.alice.http.expect(200, 'POST', `/api/runs/${other}/stop`);
    await Promise.all([first, second]);
  });
});
