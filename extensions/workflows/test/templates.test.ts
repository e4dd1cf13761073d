/** Templates, runs from a step on, and the command line, with a model that answers with what it was asked. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { type Bench, createBench } from '../../../kernel/cli/test/program.js';
import { SHIPPED } from '../src/templates/templates.js';

const KEYS = { owner: 'templates-root-key', bob: 'templates-bob-key' };
const BOB = `[[users]]\nname = "bob"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.bob).digest('hex')}"\n`;
const TOML = 'name = "From TOML"\n[[steps]]\nname = "one"\nagent = "assistant"\ninput = "one {{input}}"\n[[steps]]\nname = "two"\nagent = "assistant"\ninput = "two {{one}}"\n';
const YAML = 'name: From YAML\nsteps:\n  - name: one\n    agent: assistant\n    input: one {{input}}\n  - { name: ask, mode: operator }\n';

describe('workflows from templates and files', function () {
  this.timeout(60_000);
  let bench: Bench;
  let world: ModelKernel;
  let http: TestHttp;
  let asked: string[] = [];
  before(async () => {
    bench = createBench(45_997);
    world = await bootWithModel(
      ({ body }) => {
        const { content } = body.messages.at(-1);
        const said = typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('');
        asked.push(said);
        return { text: `<${said}>` };
      },
      { home: bench.home, config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${BOB}`, key: KEYS.owner },
    );
    http = world.http;
  });
  beforeEach(() => {
    asked = [];
  });
  after(async () => {
    await stopModelKernels();
    bench.clean();
  });

  const svc = (...args: string[]) => bench.run(args, { env: { SVC_PORT: String(world.kernel.daemon.port), SVC_API_KEY: KEYS.owner } });
  const file = (name: string, text: string): string => {
    const path = join(bench.home, name);
    writeFileSync(path, text);
    return path;
  };
  const run = async (id: string, input: unknown = 'tea') => (await http.expect(200, 'POST', `/api/workflows/${id}/run`, { input })).body;
  const over = async (runId: string) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const { body } = await http.expect(200, 'GET', `/api/workflows/runs/${runId}`);
      if (body.completed_at !== null) return body;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('it did not end');
  };

  it('all 22 make a workflow that names its own steps and parameters alone', async () => {
    const { body } = await http.expect(200, 'GET', '/api/workflow-templates');
    expect(body.total).to.equal(22);
    expect((await http.expect(200, 'GET', '/api/workflow-templates?q=%E5%8D%9A%E5%AE%A2')).body.templates.map(({ id }: { id: string }) => id)).to.deep.equal(['blog-post']);
    expect((await http.expect(200, 'GET', '/api/workflow-templates?category=language')).body.total).to.equal(1);
    for (const { id, parameters, steps, i18n } of SHIPPED) {
      const known = new Set([...parameters, ...steps].map(({ name }) => name));
      const named = steps.flatMap(({ prompt_template: text }) => [...text.matchAll(/\{\{([^{}]+)\}\}/g)].map(([, name = '']) => name));
      expect(
        named.filter((name) => !known.has(name)),
        id,
      ).to.deep.equal([]);
      expect(
        parameters.filter(({ name }) => !named.includes(name)),
        id,
      ).to.deep.equal([]);
      expect(i18n.zh?.name, id).to.match(/[\u4e00-\u9fff]/);
      const values = Object.fromEntries(parameters.filter(({ required }) => required).map(({ name }) => [name, `the ${name}`]));
      const { workflow_id: made } = (await http.expect(201, 'POST', `/api/workflow-templates/${id}/instantiate`, values)).body;
      const { body: preview } = await http.expect(200, 'POST', `/api/workflows/${made}/dry-run`, {});
      expect([preview.valid, preview.steps.length], id).to.deep.equal([true, steps.length]);
      await http.expect(200, 'DELETE', `/api/workflows/${made}`);
    }
  });

  it('P1 P2 put in values once, ask for what is missing, and are saved by one person for themselves', async () => {
    const path = '/api/workflow-templates/brainstorm/instantiate';
    expect((await http.expect(400, 'POST', path, {})).body.error).to.contain('"challenge"');
    expect((await http.expect(404, 'POST', path, { challenge: 'x', agent: 'nobody' })).body.code).to.equal('workflows_agent_not_found');
    const made = (await http.expect(201, 'POST', path, { challenge: 'name {{input}} and {{evaluator}} and {{x}}', other: 'x' })).body;
    expect(made).to.deep.include({ template_id: 'brainstorm', status: 'instantiated' });
    await run(made.workflow_id);
    expect(asked[0]).to.contain('name { {input} } and { {evaluator} } and {{x}}');
    const steps = [
      { name: 'one', agent: 'assistant', input: 'Greet {{who}}: {{input}}' },
      { name: 'ask', mode: 'operator', actions: ['approve'] },
    ];
    const { workflow_id: mine } = (await http.expect(201, 'POST', '/api/workflows', { name: 'mine', steps })).body;
    const { template } = (await http.expect(200, 'POST', `/api/workflows/${mine}/save-as-template`)).body;
    expect(template).to.deep.include({ name: 'mine', is_own: true, category: 'own', parameters: [{ name: 'who', description: '', param_type: 'string', required: true, default: null }] });
    const copy = (await http.expect(201, 'POST', `/api/workflow-templates/${template.id}/instantiate`, { who: 'Ann' })).body.workflow_id;
    const stored = (await http.expect(200, 'GET', `/api/workflows/${copy}`)).body.steps;
    expect([stored[0].prompt_template, stored[1].mode, stored[1].actions]).to.deep.equal(['Greet Ann: {{input}}', 'operator', ['approve']]);
    const bob = world.kernel.as(KEYS.bob);
    for (const [method, at, body] of [
      ['GET', `/api/workflow-templates/${template.id}`],
      ['POST', `/api/workflow-templates/${template.id}/instantiate`, { who: 'x' }],
      ['POST', `/api/workflows/${mine}/save-as-template`],
    ] as const)
      await bob.expect(404, method, at, body);
    expect((await bob.expect(200, 'GET', '/api/workflow-templates')).body.total).to.equal(22);
  });

  it('run again from a step, with what stood before it, in order and as a graph', async () => {
    const agent = 'assistant';
    const line = (await http.expect(201, 'POST', '/api/workflows', { name: 'line', steps: ['a', 'b', 'c'].map((name) => ({ name, agent, input: `${name} {{input}}` })) })).body.workflow_id;
    const first = await run(line);
    asked = [];
    const again = (await http.expect(202, 'POST', `/api/workflows/runs/${first.run_id}/rerun?from_step=c`)).body.run_id;
    const ended = await over(again);
    expect([ended.output, asked]).to.deep.equal([first.output, ['c <b <a tea>>']]);
    expect(ended.step_results.map(({ cost_usd: cost, run_id: id }: { cost_usd: number; run_id: string | null }) => cost === 0 && id === null)).to.deep.equal([true, true, false]);
    const graph = [
      { name: 'root', agent, input: 'root {{input}}' },
      { name: 'left', agent, input: 'left {{root}}', depends_on: ['root'] },
      { name: 'right', agent, input: 'right {{root}}', depends_on: ['root'] },
      { name: 'end', agent, input: 'end {{left}} {{right}}', depends_on: ['left', 'right'] },
    ];
    const wide = (await http.expect(201, 'POST', '/api/workflows', { name: 'graph', steps: graph })).body.workflow_id;
    const whole = await run(wide);
    asked = [];
    await over((await http.expect(202, 'POST', `/api/workflows/runs/${whole.run_id}/rerun?from_step=left`)).body.run_id);
    expect(asked).to.deep.equal(['left <root tea>', 'end <left <root tea>> <right <root tea>>']);
    expect((await http.expect(404, 'POST', `/api/workflows/runs/${whole.run_id}/rerun?from_step=nothing`)).body.code).to.equal('workflows_step_not_found');
  });

  it('end with all that they led to when their root is stopped', async () => {
    const steps = [
      { name: 'one', agent: 'assistant', input: 'one' },
      { name: 'ask', mode: 'operator' },
    ];
    const id = (await http.expect(201, 'POST', '/api/workflows', { name: 'stopped', steps })).body.workflow_id;
    const { run_id: runId } = (await http.expect(202, 'POST', `/api/workflows/${id}/run`, {})).body;
    await world.kernel.as(KEYS.bob).expect(404, 'POST', `/api/runs/${runId}/stop`);
    expect((await http.expect(200, 'POST', `/api/runs/${runId}/stop`)).body.run_id).to.equal(runId);
    const ended = await over(runId);
    expect([ended.state, ended.step_results[1].state]).to.deep.equal(['cancelled', 'cancelled']);
  });

  it('are created from TOML, YAML and JSON, and watched while they run', async () => {
    const made = await svc('workflows', 'create', file('flow.toml', TOML));
    expect(made.code, made.stderr).to.equal(0);
    const [id = ''] = /[0-9a-f-]{36}/.exec(made.stdout) ?? [];
    const watched = await svc('workflows', 'run', id, 'tea', '--watch');
    expect(watched.code, watched.stderr).to.equal(0);
    expect(watched.stdout)
      .to.match(/✓ {2}one {2}\(assistant\) {2}done/)
      .and.match(/completed, \$\d/)
      .and.contain('<two <one tea>>');
    const yaml = JSON.parse((await svc('workflows', 'create', file('flow.yaml', YAML), '--json')).stdout).workflow_id;
    expect((await svc('workflows', 'run', yaml, '--watch')).stdout).to.contain('It waits for a person: svc workflows answer');
    const json = await svc('workflows', 'create', file('flow.json', JSON.stringify({ name: 'j', steps: [{ name: 'one', agent: 'assistant', input: '{{topic}}' }] })), '--json');
    expect((await svc('workflows', 'run', JSON.parse(json.stdout).workflow_id, '{"topic":"tea"}')).stdout.trim()).to.equal('<tea>');
    const wrong = await svc('workflows', 'create', file('wrong.toml', 'name = '));
    expect([wrong.code === 0, wrong.stderr.includes('wrong.toml is no TOML')]).to.deep.equal([false, true]);
    expect((await svc('workflows', 'create')).code).to.equal(2);
    expect((await svc('workflows', 'templates')).stdout).to.contain('blog-post');
  });
});
