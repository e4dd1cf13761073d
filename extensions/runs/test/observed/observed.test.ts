/** What can be seen of an agent's work after the fact, over HTTP. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const ABSENT = '00000000-0000-4000-8000-00000000beef';

describe('what an agent did', () => {
  afterEach(stopModelKernels);

  const of = (svc: ModelKernel, what: string) => svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/${what}`);
  const send = (svc: ModelKernel, body: object) => svc.http.post(`/api/agents/${svc.agent.id}/message`, body);
  const withTool = () =>
    bootWithModel([{ text: 'I look at the clock.', toolCalls: [{ id: 'call_1', name: 'system_time', args: {} }] }, { text: 'Nearly noon.', usage: { input: 20, output: 5 } }, { text: 'again' }]);

  it('is told call by call: arguments, what the model said before, how it ended, in which iteration', async () => {
    const svc = await withTool();
    const answer = await send(svc, { message: 'what time is it?' });
    const { body } = await of(svc, 'traces');

    expect(body.run).to.include({ run_id: answer.body.run_id, session_id: svc.agent.session_id, status: 'done', channel: 'rest', error: null });
    expect(body.traces).to.have.length(1);
    expect(body.traces[0]).to.include({ tool_use_id: 'call_1', tool_name: 'system_time', rationale: 'I look at the clock.', is_error: false, iteration: 1, recovered_from_text: false });
    expect(body.traces[0].input).to.deep.equal({});
    expect(body.traces[0].output_summary).to.match(/\d{4}/);
    expect(body.traces[0].execution_ms).to.be.a('number');
    expect(body.steps.map((step: { kind: string; name: string; status: string }) => [step.kind, step.name, step.status])).to.deep.equal([
      ['model', 'openai/gpt-4o', 'done'],
      ['tool', 'system_time', 'done'],
      ['model', 'openai/gpt-4o', 'done'],
    ]);
    expect(body.steps[2]).to.include({ input_tokens: 20, output_tokens: 5, attempts: 1 });
    expect(body.steps[1]).to.include({ input_tokens: null, cost_usd: null, attempts: null });
  });

  it('is told of the newest message, or of the run that is named', async () => {
    const svc = await withTool();
    const first = await send(svc, { message: 'what time is it?' });
    const second = await send(svc, { message: 'and now?' });

    expect((await of(svc, 'traces')).body)
      .to.deep.include({ traces: [] })
      .and.to.have.nested.property('run.run_id', second.body.run_id);
    expect((await of(svc, `traces?run_id=${first.body.run_id}`)).body.traces).to.have.length(1);
    expect((await svc.http.get(`/api/agents/${svc.agent.id}/traces?run_id=${ABSENT}`)).status).to.equal(404);
    expect((await svc.http.get(`/api/agents/${svc.agent.id}/traces?run_id=x`)).status).to.equal(400);
  });

  it('is nothing before its first message', async () => {
    const svc = await bootWithModel();
    expect((await of(svc, 'traces')).body).to.deep.equal({ agent_id: svc.agent.id, run: null, traces: [], recalled: [], steps: [] });
    expect((await of(svc, 'logs')).body).to.deep.equal({ agent_id: svc.agent.id, count: 0, offset: 0, logs: [] });
    expect((await of(svc, 'deliveries')).body.receipts).to.deep.equal([]);
    expect((await of(svc, 'metrics')).body).to.include({ message_count: 0, error_count: 0, avg_response_time_ms: null });
  });

  it('of a side question names the tools, and not what was said', async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: { secret: 'words' } }] }, { text: 'done' }]);
    await send(svc, { message: 'hush', ephemeral: true });
    const { body } = await of(svc, 'traces');
    expect(body.traces[0]).to.include({ tool_name: 'system_time', input: null, rationale: null, output_summary: '' });
    expect(body.steps[1].status).to.equal('denied');
    expect(JSON.stringify(body)).to.not.contain('words');
  });

  it('is counted: messages, tokens, tool calls, money, errors and the time of an answer', async () => {
    const svc = await withTool();
    await send(svc, { message: 'what time is it?' });
    await send(svc, { message: 'and now?' });
    const { body } = await of(svc, 'metrics');

    expect(body).to.include({ agent_id: svc.agent.id, name: svc.agent.name, state: 'Running', message_count: 2, call_count: 3, error_count: 0 });
    expect(body.tool_calls).to.deep.equal({ session_tool_calls: 1, total_tool_calls: 1 });
    expect(body.token_usage.total_tokens).to.equal(body.token_usage.total_input_tokens + body.token_usage.total_output_tokens);
    expect(body.token_usage.session_tokens).to.equal(body.token_usage.total_tokens).and.to.be.above(0);
    expect(body.cost_usd).to.be.above(0);
    expect(body.avg_response_time_ms).to.be.at.least(0);
  });

  it('counts what failed as an error', async () => {
    const svc = await bootWithModel({ status: 400 });
    await send(svc, { message: 'x' });
    expect((await of(svc, 'metrics')).body).to.include({ message_count: 1, error_count: 1, call_count: 0, avg_response_time_ms: null });
  });

  it('can be read line by line, the newest first, by outcome and by page', async () => {
    const svc = await withTool();
    await send(svc, { message: 'what time is it?' });
    const lines = async (query = '') => (await of(svc, `logs${query}`)).body.logs.map(({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`);

    const all = ['RunEnded ok', 'ModelCall ok', 'ToolInvoke ok', 'ModelCall ok', 'AgentMessage ok'];
    expect(await lines()).to.deep.equal(all);
    expect(await lines('?n=2&offset=1')).to.deep.equal(all.slice(1, 3));
    expect(await lines('?level=error')).to.deep.equal([]);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/logs?limit=1`)).body.count).to.equal(1);
    for (const many of ['n=9999', 'limit=9999']) expect((await svc.http.get(`/api/agents/${svc.agent.id}/logs?${many}`)).status, many).to.equal(200);
    for (const bad of ['n=0', 'limit=0', 'n=x', 'level=loud', 'offset=-1']) expect((await svc.http.get(`/api/agents/${svc.agent.id}/logs?${bad}`)).status, bad).to.equal(400);
  });

  it('tells of each message that came by which channel, and what became of it', async () => {
    const svc = await bootWithModel([{ text: 'one' }, { status: 400 }]);
    await send(svc, { message: 'x' });
    await svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'y' });
    const { receipts, count } = (await of(svc, 'deliveries')).body;

    expect(count).to.equal(2);
    expect(receipts.map(({ channel, status, direction }: { channel: string; status: string; direction: string }) => [channel, status, direction])).to.deep.equal([
      ['sse', 'failed', 'inbound'],
      ['rest', 'delivered', 'inbound'],
    ]);
    expect(receipts[0].error).to.be.a('string');
    expect((await of(svc, 'deliveries?limit=1')).body.receipts).to.have.length(1);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/deliveries?limit=9999`)).body.receipts).to.have.length(2);
    for (const path of ['/api/runs', `/api/sessions/${svc.agent.session_id}/runs`]) {
      expect((await svc.http.expect(200, 'GET', `${path}?limit=9999`)).body.runs).to.have.length(2);
      expect((await svc.http.get(`${path}?limit=0`)).status, path).to.equal(400);
    }
  });

  it('shows a run that waits for its model as one that goes on', async () => {
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const svc = await bootWithModel(async () => {
      await isOpen;
      return { text: 'late' };
    });
    const answer = send(svc, { message: 'x' });
    await until(async () => (await of(svc, 'traces')).body.run?.status === 'running');
    const { body } = await of(svc, 'traces');
    expect(body.run.ended_at).to.equal(null);
    expect(body.steps).to.have.length(1);
    expect(body.steps[0]).to.include({ status: 'running', name: 'openai/gpt-4o', duration_ms: null, ended_at: null });
    expect((await of(svc, 'logs?level=pending')).body.logs.map(({ action }: { action: string }) => action)).to.deep.equal(['ModelCall']);
    open();
    await answer;
  });
});

describe('what a client is told while a run goes on', () => {
  afterEach(stopModelKernels);

  it('is why the model is asked again, and which grant a refused call wanted', async () => {
    const svc = await bootWithModel([{ status: 529 }, { toolCalls: [{ name: 'web_fetch', args: { url: 'https://example.com/a' } }] }, { text: 'no' }]);
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "narrow"\n[capabilities]\nnetwork = ["a.example"]\n' });
    const events = await svc.http.events('POST', `/api/agents/${body.agent_id}/message/stream`, { message: 'fetch it' });
    const retrying = events.find(({ event, data }) => event === 'phase' && data.phase === 'retrying');
    expect(retrying?.data.detail).to.match(/^retrying 1 of 2 in 1 s: openai is overloaded$/);
    const refused = events.find(({ event }) => event === 'tool_result');
    expect(refused?.data.missing).to.deep.equal([{ capability: 'network', target: 'example.com' }]);
  });
});

describe('what an agent of somebody else did', () => {
  afterEach(stopTestKernels);

  it('is not there', async () => {
    const kernel = await bootTestKernel();
    for (const what of ['traces', 'metrics', 'logs', 'deliveries']) {
      expect((await kernel.http.get(`/api/agents/${ABSENT}/${what}`)).status, what).to.equal(404);
      expect((await kernel.http.get(`/api/agents/no-id/${what}`)).status, what).to.equal(400);
    }
  });
});
