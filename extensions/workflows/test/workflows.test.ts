/** Workflows over HTTP, with a model on its wire that answers by what it is asked. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEYS = { owner: 'workflows-root-key', alice: 'workflows-alice-key', bob: 'workflows-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

interface Result {
  step_name: string;
  state: string;
  output: string | null;
  prompt: string | null;
  error: string | null;
}

describe('workflows', function () {
  this.timeout(120_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  /** What the model was asked last, oldest first. */
  let asked: string[] = [];
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}`, key: KEYS.owner });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    for (const name of ['writer', 'critic']) await alice.expect(201, 'POST', '/api/agents', { manifest: { name } });
  });
  after(stopModelKernels);
  beforeEach(() => {
    asked = [];
    answer((question) => `<${question}>`);
  });

  /** The last words that the model reads are the prompt of its step. */
  const answer = (reply: (question: string) => string | { status: number }): void =>
    world.model.script(({ body }) => {
      const messages = body.messages as Array<{ content: unknown }>;
      const last = messages.at(-1)?.content;
      const question = typeof last === 'string' ? last : JSON.stringify(last);
      asked.push(question);
      const said = reply(question);
      return typeof said === 'string' ? { text: said } : { status: said.status, message: 'refused by the test' };
    });
  const create = async (steps: object[], more: object = {}): Promise<string> => (await alice.expect(201, 'POST', '/api/workflows', { name: 'flow', steps, ...more })).body.workflow_id;
  const code = async (status: number, method: string, path: string, body?: unknown, http = alice): Promise<string> => (await http.expect(status, method, path, body)).body.code;
  const run = async (id: string, input: unknown = 'tea', status = 200) => (await alice.expect(status, 'POST', `/api/workflows/${id}/run`, { input })).body;
  const detail = async (runId: string): Promise<{ state: string; output: string; error: string | null; step_results: Result[] }> =>
    (await alice.expect(200, 'GET', `/api/workflows/runs/${runId}`)).body;
  const states = (results: Result[]): string[] => results.map(({ step_name: name, state }) => `${name}: ${state}`);
  const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
    for (let tries = 0; tries < 1_600; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const over = (runId: string) => until(async () => ((one) => (['completed', 'failed', 'cancelled'].includes(one.state) ? one : undefined))(await detail(runId)), `the end of ${runId}`);
  const writer = { agent: 'writer' };

  it('W4 are given what steps before them gave and their prompts do not hold, unless step or agent says no', async () => {
    await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'loner', inherit_parent_context: false } });
    answer((question) => `(${question.split('\n').at(-1)})`);
    const id = await create([
      { name: 'one', ...writer, prompt: 'first' },
      { name: 'two', ...writer, prompt: 'second after {{input}}' },
      { name: 'three', ...writer, prompt: 'third' },
      { name: 'four', agent: 'loner', prompt: 'fourth' },
      { name: 'five', agent: 'loner', prompt: 'fifth', inherit_context: true },
      { name: 'six', ...writer, prompt: 'sixth', inherit_context: false },
    ]);
    await run(id);
    const all = ['(first)', '(second after (first))', '(third)', '(fourth)'];
    const before = (count: number): string =>
      ['one', 'two', 'three', 'four']
        .slice(0, count)
        .map((name, index) => `## ${name}\n${all[index]}\n\n`)
        .join('');
    expect(asked).to.deep.equal(['first', 'second after (first)', `${before(2)}third`, 'fourth', `${before(4)}fifth`, 'sixth']);
    asked = [];
    // In a graph, what a step does not depend on has nothing to do with it.
    const graph = await create([
      { name: 'root', ...writer, prompt: 'root' },
      { name: 'left', ...writer, prompt: 'left', depends_on: ['root'] },
      { name: 'right', ...writer, prompt: 'right' },
      { name: 'end', ...writer, prompt: 'end', depends_on: ['left'] },
    ]);
    await run(graph);
    expect(asked.find((question) => question.endsWith('end'))).to.equal('## root\n(root)\n\n## left\n(left)\n\nend');
    expect((await alice.expect(200, 'GET', `/api/workflows/${id}`)).body.steps.map(({ inherit_context: one }: { inherit_context: boolean | null }) => one)).to.deep.equal([
      null,
      null,
      null,
      null,
      true,
      false,
    ]);
  });

  it('W1 run their steps in order, each with what the others gave, in one pass', async () => {
    answer((question) => (question.startsWith('list') ? '{"title":"{{draft}}","n":2}' : `done: ${question}`));
    const id = await create([
      { name: 'facts', ...writer, input: 'list {{input}} for {{audience}}' },
      { name: 'draft', agent_name: 'critic', prompt: '{{facts.title}}|{{facts.n}}|{{facts}}|{{unknown}}|{{input}}', output_var: 'text' },
      { name: 'end', ...writer, prompt_template: '[{{text}}]' },
    ]);
    const body = await run(id, { input: 'tea', audience: 'cats' });
    expect(asked.slice(0, 2)).to.deep.equal(['list tea for cats', '{{draft}}|2|{"title":"{{draft}}","n":2}|{{unknown}}|{"title":"{{draft}}","n":2}']);
    expect([body.status, body.output]).to.deep.equal(['completed', `done: [done: ${asked[1]}]`]);
    expect(body.step_results.map(({ step_name: name, agent_name: agent }: { step_name: string; agent_name: string }) => [name, agent])).to.deep.equal([
      ['facts', 'writer'],
      ['draft', 'critic'],
      ['end', 'writer'],
    ]);
    expect((await alice.expect(200, 'GET', `/api/workflows/${id}/runs`)).body.map(({ state, steps_completed: count }: { state: string; steps_completed: number }) => [state, count])).to.deep.equal([
      ['completed', 3],
    ]);
  });

  it('stop by their root with the runs of agents below, and for nobody else', async () => {
    world.model.script(() => ({ hang: true }));
    const id = await create([
      { name: 'left', ...writer, input: 'a' },
      { name: 'right', agent: 'critic', input: 'b', depends_on: [] },
    ]);
    const { run_id: runId } = (await alice.expect(202, 'POST', `/api/workflows/${id}/run?wait=false`, { input: 'x' })).body;
    const below = await until(async () => ((list) => (list.length > 0 ? list : undefined))((await alice.expect(200, 'GET', `/api/runs?root_id=${runId}&status=running`)).body.runs), 'the runs below');
    expect(await code(404, 'POST', `/api/runs/${runId}/stop`, undefined, bob)).to.equal('run_not_found');
    const { body } = await alice.expect(200, 'POST', `/api/runs/${runId}/stop`);
    expect(body).to.include({ status: 'ok', run_id: runId });
    expect(body.stopped).to.be.at.least(1);
    expect((await over(runId)).state).to.equal('cancelled');
    for (const { run_id: one } of below) await until(async () => ((await alice.expect(200, 'GET', `/api/runs/${one}`)).body.status === 'cancelled' ? true : undefined), `the end of ${one}`);
    expect((await alice.expect(200, 'GET', `/api/runs?root_id=${runId}&status=running`)).body.runs).to.deep.equal([]);
  });

  it('stop by their root while no agent was asked yet, and for nobody else', async () => {
    for (const steps of [
      [
        { name: 'later', mode: 'wait', duration_secs: 3_600 },
        { name: 'then', ...writer, input: 'a' },
      ],
      [{ name: 'ask', mode: 'operator' }],
    ]) {
      const { run_id: runId } = await run(await create(steps), 'x', 202);
      expect(await code(404, 'POST', `/api/runs/${runId}/stop`, undefined, bob)).to.equal('run_not_found');
      expect((await alice.expect(200, 'POST', `/api/runs/${runId}/stop`)).body).to.deep.equal({ status: 'ok', run_id: runId, stopped: 1 });
      expect(await over(runId)).to.include({ state: 'cancelled', error: 'The run was stopped.' });
    }
    expect((await alice.expect(200, 'GET', '/api/workflows/operator/pending')).body.total).to.equal(0);
    expect(asked).to.deep.equal([]);
  });

  it('O1 belong to one person: nobody else sees them, their runs or their questions', async () => {
    const id = await create([{ name: 'ask', mode: 'operator' }]);
    const { run_id: runId } = await run(id, 'x', 202);
    for (const [method, path, body] of [
      ['GET', `/api/workflows/${id}`],
      ['PUT', `/api/workflows/${id}`, { name: 'mine' }],
      ['DELETE', `/api/workflows/${id}`],
      ['POST', `/api/workflows/${id}/run`, {}],
      ['POST', `/api/workflows/${id}/dry-run`, {}],
      ['GET', `/api/workflows/runs/${runId}`],
      ['POST', `/api/workflows/runs/${runId}/cancel`],
      ['POST', `/api/workflows/runs/${runId}/pause`, {}],
      ['POST', `/api/workflows/runs/${runId}/operator`, { action: 'approve' }],
    ] as const)
      expect((await bob.expect(404, method, path, body)).body.code, path).to.match(/^workflows_(run_)?not_found$/);
    expect((await bob.expect(200, 'GET', '/api/workflows/operator/pending')).body.total).to.equal(0);
    expect(await code(404, 'GET', `/api/workflows/${id}/runs`, undefined, bob)).to.equal('workflows_not_found');
    expect(await code(404, 'POST', '/api/workflows', { steps: [{ name: 'a', agent: 'writer' }] }, bob)).to.equal('workflows_agent_not_found');
    await alice.expect(200, 'POST', `/api/workflows/runs/${runId}/cancel`);
  });

  it('refuse a definition that cannot run, by the name of the step', async () => {
    const step = (more: object) => ({ name: 'a', ...writer, ...more });
    for (const [steps, wanted] of [
      [[{ name: 'a' }], 'workflows_bad_step'],
      [[step({}), step({})], 'workflows_twice'],
      [[step({ agent_id: 'critic' })], 'workflows_two_values'],
      [[step({ input: 'x', prompt: 'y' })], 'workflows_two_values'],
      [[step({ depends_on: ['b'] })], 'workflows_unknown_step'],
      [[step({ depends_on: ['b'] }), { name: 'b', ...writer, depends_on: ['a'] }], 'workflows_cycle'],
      [[step({ depends_on: ['a'] })], 'workflows_cycle'],
      // biome-ignore lint/suspicious/noThenProperty: the name of the field on the wire.
      [[step({}), { name: 'b', mode: 'branch', arms: [{ match_value: 'x', then: 'a' }] }], 'workflows_unknown_step'],
      [[{ name: 'a', mode: 'wait' }], 'workflows_bad_step'],
      [[{ name: 'a', mode: 'gate' }], 'workflows_bad_step'],
    ] as const)
      expect(await code(400, 'POST', '/api/workflows', { steps }), JSON.stringify(steps)).to.equal(wanted);
    await alice.expect(400, 'POST', '/api/workflows', { steps: [] });
    await alice.expect(400, 'POST', '/api/workflows', { steps: [step({ mode: 'sideways' })] });
    expect(await code(404, 'POST', '/api/workflows', { steps: [{ name: 'a', agent: 'nobody' }] })).to.equal('workflows_agent_not_found');
  });

  it('W2 run side by side what is fanned out, join it, skip what does not hold, and loop until', async () => {
    answer((question) => (question.startsWith('again') ? `${question.slice(6)}+` : question));
    const id = await create([
      { name: 'a', ...writer, mode: 'fan_out', input: 'one {{input}}' },
      { name: 'b', ...writer, mode: 'fan_out', input: 'two {{input}}' },
      { name: 'both', mode: 'collect' },
      { name: 'never', ...writer, mode: 'conditional', condition: 'coffee && one', input: 'never' },
      { name: 'more', ...writer, mode: 'loop', input: 'again {{input}}', until: '++', max_iterations: 9 },
    ]);
    const body = await run(id);
    expect(body.output).to.equal('one tea\n\n---\n\ntwo tea++');
    expect(states(body.step_results)).to.have.members(['a: done', 'b: done', 'both: done', 'never: skipped', 'more (iter 1): done', 'more (iter 2): done']);
  });

  it('W2 W3 run a graph by what each step depends on, and skip what stands on a skipped one', async () => {
    answer((question) => (question === 'fails' ? { status: 400 } : question));
    const id = await create([
      { name: 'sum', ...writer, input: '{{left}} and {{right}}', depends_on: ['left', 'right'] },
      { name: 'left', ...writer, input: 'L {{input}}' },
      { name: 'right', ...writer, input: 'R {{input}}' },
      { name: 'bad', ...writer, input: 'fails', error_mode: 'skip' },
      { name: 'on-bad', ...writer, input: 'x', depends_on: ['bad'] },
    ]);
    const body = await run(id);
    expect(body.output).to.equal('L tea and R tea');
    expect(states(body.step_results)).to.have.members(['left: done', 'right: done', 'bad: failed', 'sum: done', 'on-bad: skipped']);
  });

  it('W3 fail with the step and its reason, after the retries that it asks for', async () => {
    let tries = 0;
    answer(() => {
      tries += 1;
      return tries < 3 ? { status: 400 } : 'at last';
    });
    const steps = [{ name: 'try', ...writer, input: 'x', error_mode: { retry: { max_retries: 2, backoff_ms: 0 } } }];
    expect((await run(await create(steps))).output).to.equal('at last');
    answer(() => ({ status: 400 }));
    const body = await run(await create(steps), 'x', 500);
    expect([body.code, body.details?.step]).to.deep.equal(['workflows_failed', 'try']);
    expect(body.error).to.contain('after 2 retries');
  });

  it('pass gates, transform and branch without an agent', async () => {
    const id = await create([
      { name: 'gate', mode: 'gate', gate: { field: '/n', op: 'gt', value: 3 } },
      { name: 'shape', mode: 'transform', template: '{{prev_json.kind}}' },
      // biome-ignore lint/suspicious/noThenProperty: the name of the field on the wire.
      { name: 'where', mode: 'branch', arms: [{ match_value: 'b', then: 'b' }] },
      { name: 'a', ...writer, input: 'not this' },
      { name: 'b', ...writer, input: 'this' },
    ]);
    expect((await run(id, '{"n":4,"kind":"b"}')).output).to.equal('<this>');
    expect(asked).to.deep.equal(['this']);
    expect((await run(id, '{"n":2,"kind":"b"}', 500)).error).to.contain('its condition is not met');
    expect((await run(id, '{"n":4,"kind":"c"}', 500)).error).to.contain('no arm matches');
  });

  it('V3 wait for a person, whose first answer counts, and go on with what they made of it', async () => {
    const id = await create([
      { name: 'draft', ...writer, input: 'draft' },
      { name: 'review', mode: 'operator', actions: ['approve', 'reject', 'edit'] },
      { name: 'final', ...writer, input: 'final {{input}}', inherit_context: false },
    ]);
    const { run_id: runId, status } = await run(id, 'x', 202);
    expect(status).to.equal('waiting');
    const { body: question } = await alice.expect(200, 'GET', `/api/workflows/runs/${runId}/operator`);
    expect(question).to.deep.include({ step_name: 'review', input: '<draft>', actions: ['approve', 'reject', 'edit'] });
    expect(await code(400, 'POST', `/api/workflows/runs/${runId}/operator`, { action: 'provide_input' })).to.equal('workflows_bad_action');
    const answers = await Promise.all([1, 2].map(() => alice.post(`/api/workflows/runs/${runId}/operator`, { action: 'edit', payload: 'better' })));
    expect(answers.map((one) => one.status).sort()).to.deep.equal([200, 409]);
    expect((await over(runId)).output).to.equal('<final better>');
    const again = await run(id, 'x', 202);
    await alice.expect(200, 'POST', `/api/workflows/runs/${again.run_id}/operator`, { action: 'reject', payload: 'no' });
    expect(await over(again.run_id)).to.include({ state: 'failed' });
  });

  it('V4 O3 end at once when they are cancelled, and go on after a pause for whoever has its token', async () => {
    const id = await create([
      { name: 'sleep', mode: 'wait', duration_secs: 3_600 },
      { name: 'end', ...writer, input: 'end' },
    ]);
    const { run_id: runId } = await run(id, 'x', 202);
    const { resume_token: token } = (await alice.expect(200, 'POST', `/api/workflows/runs/${runId}/pause`, { reason: 'lunch' })).body;
    expect(await code(409, 'POST', `/api/workflows/runs/${runId}/pause`, {})).to.equal('workflows_paused');
    expect(await code(401, 'POST', `/api/workflows/runs/${runId}/resume`, { resume_token: 'x' })).to.equal('workflows_wrong_token');
    expect((await alice.expect(200, 'POST', `/api/workflows/runs/${runId}/resume`, { resume_token: token })).body.state).to.equal('running');
    expect(await code(409, 'POST', `/api/workflows/runs/${runId}/resume`, { resume_token: token })).to.equal('workflows_not_paused');
    await alice.expect(200, 'POST', `/api/workflows/runs/${runId}/cancel`);
    expect(await detail(runId)).to.include({ state: 'cancelled' });
    expect(await code(409, 'POST', `/api/workflows/runs/${runId}/cancel`)).to.equal('workflows_over');
    const { run_id: next } = (await alice.expect(202, 'POST', `/api/workflows/runs/${runId}/rerun`)).body;
    await alice.expect(200, 'POST', `/api/workflows/runs/${next}/cancel`);
    expect(asked).to.deep.equal([]);
  });

  it('V1 keep the definition that they began with, and show what they would ask', async () => {
    const id = await create([
      { name: 'hold', mode: 'operator' },
      { name: 'old', ...writer, input: 'old {{input}}' },
    ]);
    const { run_id: runId } = await run(id, 'x', 202);
    await alice.expect(200, 'PUT', `/api/workflows/${id}`, { name: 'renamed', steps: [{ name: 'new', ...writer, input: 'new {{input}}' }] });
    expect((await alice.expect(200, 'GET', `/api/workflows/${id}`)).body).to.deep.include({ name: 'renamed' });
    await alice.expect(200, 'POST', `/api/workflows/runs/${runId}/operator`, { action: 'approve' });
    expect((await over(runId)).output).to.equal('<old x>');
    const { body } = await alice.expect(200, 'POST', `/api/workflows/${id}/dry-run`, { input: 'y' });
    expect([body.valid, body.steps[0].resolved_prompt, asked.length]).to.deep.equal([true, 'new y', 1]);
    await alice.expect(200, 'DELETE', `/api/workflows/${id}`);
    await alice.expect(404, 'DELETE', `/api/workflows/${id}`);
    expect((await detail(runId)).state).to.equal('completed');
  });

  it('O2 are started once for a key, by agents and by jobs too', async () => {
    const id = await create([{ name: 'one', ...writer, input: 'one' }], { name: 'Small Flow' });
    const headers = { 'idempotency-key': 'k1' };
    const runs = await Promise.all([1, 2].map(() => alice.post(`/api/workflows/${id}/run`, { input: 'x' }, headers)));
    expect(new Set(runs.map(({ body }) => body.run_id)).size).to.equal(1);
    await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'lead', capabilities: { tools: ['workflow_run', 'workflow_list'], agent_message: ['*'] } } });
    const lead = (await alice.expect(200, 'GET', '/api/agents')).body.agents.find(({ name }: { name: string }) => name === 'lead').id;
    world.model.script(({ body }) => {
      const text = JSON.stringify(body.messages);
      if (!text.includes('please run it')) return { text: 'from the step' };
      return text.includes('from the step') ? { text: 'the end' } : { toolCalls: [{ name: 'workflow_run', args: { workflow_id: 'small flow', input: 'x' } }] };
    });
    expect((await alice.expect(200, 'POST', `/api/agents/${lead}/message`, { message: 'please run it' })).body.response).to.equal('the end');
    const { body: job } = await alice.expect(200, 'POST', '/api/schedules', { workflow_id: 'Small Flow', cron: 'every 1h', prompt: 'x' });
    const { body: fired } = await alice.expect(200, 'POST', `/api/schedules/${job.id}/run`);
    expect([fired.status, fired.output]).to.deep.equal(['completed', 'from the step']);
    expect(await code(404, 'POST', '/api/schedules', { workflow_id: 'Big Flow', cron: 'every 1h' })).to.equal('schedules_workflow_not_found');
  });
});
