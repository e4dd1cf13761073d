/** Ids of another person in each path, field and query of what runs by itself: workflows, triggers, jobs, webhooks, comms and tasks. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';

const KEYS = { owner: 'ids-root-key', alice: 'ids-alice-key', bob: 'ids-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const URL_OUTSIDE = 'http://127.0.0.1:9/hook';
const AREAS = /^\/api\/(workflows|workflow-templates|triggers|schedules|cron|webhooks|hooks|comms|inbox|tasks)(\/|$)/;
const ID_FIELD = /(agent|workflow|thread|session)_?(id|name)?$|^(assigned_)?to$|^from$/;
const WHICH = ['agent', 'session', 'workflow', 'run', 'template', 'trigger', 'job', 'fire', 'webhook', 'delivery', 'subscription', 'task'] as const;

type Made = Readonly<Record<(typeof WHICH)[number] | 'name', string>>;
interface Try {
  readonly path?: string;
  readonly body?: object;
}

const inPath = (path: string, body?: object): Try => (body ? { path, body } : { path });
const each = (fields: readonly string[], value: string, rest: object = {}, path?: string): Try[] =>
  fields.map((field) => ({ ...(path === undefined ? {} : { path }), body: { ...rest, [field]: value } }));
const steps = (hers: Made): object[] =>
  [{ agent: hers.agent }, { agent: hers.name }, { agent_id: hers.agent }, { agent_name: hers.name }].map((named) => ({ steps: [{ name: 'a', prompt: 'x', ...named }] }));
const wordless = (path: string): Try[] => [inPath(path)];

/** By operation: an id of hers in one place, all else right and his own. */
const TRIES: Readonly<Record<string, (hers: Made, his: Made) => readonly Try[]>> = {
  'POST /api/workflows': (hers) => steps(hers).map((body) => ({ body: { name: 'w', ...body } })),
  'GET /api/workflows/{id}': ({ workflow }) => wordless(`/api/workflows/${workflow}`),
  'PUT /api/workflows/{id}': (hers, his) => [inPath(`/api/workflows/${hers.workflow}`, { name: 'mine' }), ...steps(hers).map((body) => inPath(`/api/workflows/${his.workflow}`, body))],
  'DELETE /api/workflows/{id}': ({ workflow }) => wordless(`/api/workflows/${workflow}`),
  'GET /api/workflows/{id}/runs': ({ workflow }) => wordless(`/api/workflows/${workflow}/runs`),
  'POST /api/workflows/{id}/run': ({ workflow }) => [inPath(`/api/workflows/${workflow}/run`, { input: 'x' })],
  'POST /api/workflows/{id}/dry-run': ({ workflow }) => [inPath(`/api/workflows/${workflow}/dry-run`, { input: 'x' })],
  'POST /api/workflows/{id}/save-as-template': ({ workflow }) => [inPath(`/api/workflows/${workflow}/save-as-template`, {})],
  'GET /api/workflows/runs/{run_id}': ({ run }) => wordless(`/api/workflows/runs/${run}`),
  'POST /api/workflows/runs/{run_id}/cancel': ({ run }) => wordless(`/api/workflows/runs/${run}/cancel`),
  'POST /api/workflows/runs/{run_id}/pause': ({ run }) => [inPath(`/api/workflows/runs/${run}/pause`, { reason: 'x' })],
  'POST /api/workflows/runs/{run_id}/resume': ({ run }) => [inPath(`/api/workflows/runs/${run}/resume`, { resume_token: 'x' })],
  'POST /api/workflows/runs/{run_id}/rerun': ({ run }) => [inPath(`/api/workflows/runs/${run}/rerun`, { from_step: 'ask' })],
  'GET /api/workflows/runs/{run_id}/operator': ({ run }) => wordless(`/api/workflows/runs/${run}/operator`),
  'POST /api/workflows/runs/{run_id}/operator': ({ run }) => [inPath(`/api/workflows/runs/${run}/operator`, { action: 'approve' })],
  'GET /api/workflow-templates/{id}': ({ template }) => wordless(`/api/workflow-templates/${template}`),
  'POST /api/workflow-templates/{id}/instantiate': ({ template }) => [inPath(`/api/workflow-templates/${template}/instantiate`, {})],
  'POST /api/triggers': (hers, his) => [
    { body: { agent_id: hers.agent, pattern: 'all' } },
    ...each(['target_agent_id'], hers.agent, { agent_id: his.agent, pattern: 'all' }),
    ...[hers.workflow, `flow of ${hers.name}`].flatMap((flow) => each(['workflow_id'], flow, { agent_id: his.agent, pattern: 'all' })),
  ],
  'GET /api/triggers/{id}': ({ trigger }) => wordless(`/api/triggers/${trigger}`),
  'GET /api/triggers/{id}/history': ({ trigger }) => wordless(`/api/triggers/${trigger}/history`),
  'PATCH /api/triggers/{id}': (hers, his) => [
    inPath(`/api/triggers/${hers.trigger}`, { enabled: true }),
    ...each(['target_agent_id', 'agent_id'], hers.agent, {}, `/api/triggers/${his.trigger}`),
    ...[hers.workflow, `flow of ${hers.name}`].flatMap((flow) => each(['workflow_id'], flow, {}, `/api/triggers/${his.trigger}`)),
  ],
  'DELETE /api/triggers/{id}': ({ trigger }) => wordless(`/api/triggers/${trigger}`),
  'POST /api/schedules': (hers) => [
    ...[hers.agent, hers.name].flatMap((agent) => each(['agent_id'], agent, { cron: 'every 1h', prompt: 'x' })),
    ...[hers.workflow, `flow of ${hers.name}`].flatMap((flow) => each(['workflow_id'], flow, { cron: 'every 1h' })),
  ],
  'GET /api/schedules/{id}': ({ job }) => wordless(`/api/schedules/${job}`),
  'PUT /api/schedules/{id}': (hers, his) => [
    inPath(`/api/schedules/${hers.job}`, { enabled: false }),
    ...each(['agent_id'], hers.agent, {}, `/api/schedules/${his.job}`),
    ...each(['workflow_id'], hers.workflow, {}, `/api/schedules/${his.job}`),
  ],
  'DELETE /api/schedules/{id}': ({ job }) => wordless(`/api/schedules/${job}`),
  'POST /api/schedules/{id}/run': ({ job }) => wordless(`/api/schedules/${job}/run`),
  'POST /api/cron/jobs': (hers) => [
    ...[hers.agent, hers.name].flatMap((agent) => each(['agent_id'], agent, { schedule: 'every 1h', prompt: 'x' })),
    { body: { schedule: 'every 1h', action: { kind: 'workflow', workflow_id: hers.workflow } } },
  ],
  'GET /api/cron/jobs/{id}': ({ job }) => wordless(`/api/cron/jobs/${job}`),
  'GET /api/cron/jobs/{id}/status': ({ job }) => wordless(`/api/cron/jobs/${job}/status`),
  'GET /api/cron/jobs/{id}/fires': ({ job }) => wordless(`/api/cron/jobs/${job}/fires`),
  'PUT /api/cron/jobs/{id}': (hers, his) => [
    inPath(`/api/cron/jobs/${hers.job}`, { enabled: false }),
    ...each(['agent_id'], hers.agent, {}, `/api/cron/jobs/${his.job}`),
    inPath(`/api/cron/jobs/${his.job}`, { action: { kind: 'workflow', workflow_id: hers.workflow } }),
  ],
  'PUT /api/cron/jobs/{id}/enable': ({ job }) => [inPath(`/api/cron/jobs/${job}/enable`, { enabled: false })],
  'DELETE /api/cron/jobs/{id}': ({ job }) => wordless(`/api/cron/jobs/${job}`),
  'GET /api/webhooks/{id}': ({ webhook }) => wordless(`/api/webhooks/${webhook}`),
  'PUT /api/webhooks/{id}': ({ webhook }) => [inPath(`/api/webhooks/${webhook}`, { url: `${URL_OUTSIDE}/mine` })],
  'DELETE /api/webhooks/{id}': ({ webhook }) => wordless(`/api/webhooks/${webhook}`),
  'POST /api/webhooks/{id}/test': ({ webhook }) => wordless(`/api/webhooks/${webhook}/test`),
  'GET /api/webhooks/{id}/deliveries': ({ webhook }) => wordless(`/api/webhooks/${webhook}/deliveries`),
  'POST /api/webhooks/deliveries/{id}/replay': ({ delivery }) => wordless(`/api/webhooks/deliveries/${delivery}/replay`),
  'PUT /api/webhooks/events/{id}': ({ subscription }) => [inPath(`/api/webhooks/events/${subscription}`, { enabled: false })],
  'DELETE /api/webhooks/events/{id}': ({ subscription }) => wordless(`/api/webhooks/events/${subscription}`),
  'POST /api/hooks/wake': (hers) => [hers.agent, hers.name].flatMap((agent) => each(['agent_id'], agent, { text: 'x' })),
  'POST /api/hooks/agent': (hers) => [hers.agent, hers.name].flatMap((agent) => each(['agent'], agent, { message: 'x' })),
  // Whoever has the secret of a trigger may call it; a key of another person is none.
  'POST /api/hooks/in/{id}': ({ trigger }) => [inPath(`/api/hooks/in/${trigger}`, { x: 1 })],
  'POST /api/comms/send': (hers, his) => [
    ...[hers.agent, hers.name, `agent:${hers.agent}`].flatMap((agent) => each(['to', 'to_agent_id'], agent, { content: 'x' })),
    ...[hers.agent, hers.name].flatMap((agent) => each(['from', 'from_agent_id'], agent, { to: his.agent, content: 'x' })),
    ...each(['thread_id'], hers.session, { to: his.agent, content: 'x' }),
  ],
  'POST /api/comms/task': (hers) => [hers.agent, hers.name].flatMap((agent) => each(['assigned_to'], agent, { title: 'x' })),
  'DELETE /api/tasks/{id}': ({ task, run }) => [task, run].map((id) => inPath(`/api/tasks/${id}`)),
  'POST /api/tasks/{id}/retry': ({ task, run }) => [task, run].map((id) => inPath(`/api/tasks/${id}/retry`)),
};

describe('ids of another person', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let hers: Made;
  let his: Made;
  before(async () => {
    world = await bootWithModel(() => ({ text: 'ok' }), {
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n[webhook_triggers]\nenabled = true\n${person('alice')}${person('bob')}`,
      key: KEYS.owner,
      env: { SVC_WEBHOOK_TOKEN: 'a token of hooks that is long enough' },
    });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    [hers, his] = [await make(alice, 'secretive'), await make(bob, 'curious')];
  });
  after(stopModelKernels);

  const make = async (http: TestHttp, name: string): Promise<Made> => {
    const webhook = (await http.expect(200, 'POST', '/api/webhooks', { name, url: URL_OUTSIDE, events: ['agent_spawned'] })).body.id;
    const agent = (await http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
    const session = (await http.expect(200, 'GET', `/api/agents/${agent}/session`)).body.session_id;
    const workflow = (await http.expect(201, 'POST', '/api/workflows', { name: `flow of ${name}`, steps: [{ name: 'ask', mode: 'operator' }] })).body.workflow_id;
    const run = (await http.expect(202, 'POST', `/api/workflows/${workflow}/run?wait=false`, { input: 'x' })).body.run_id;
    const template = (await http.expect(200, 'POST', `/api/workflows/${workflow}/save-as-template`, {})).body.template.id;
    const trigger = (await http.expect(201, 'POST', '/api/triggers', { agent_id: agent, pattern: { webhook: { scheme: 'github' } }, secret: `a secret of ${name} that is long` })).body.trigger_id;
    const job = (await http.expect(200, 'POST', '/api/cron/jobs', { schedule: 'every 1h', action: { kind: 'system_event', text: 'x' }, agent_id: agent })).body.job_id;
    const fire = (await http.expect(200, 'POST', `/api/schedules/${job}/run`)).body.fire_id;
    const subscription = (await http.expect(200, 'POST', '/api/webhooks/events', { event_type: 'agent_error', url: URL_OUTSIDE })).body.id;
    const task = (await http.expect(200, 'POST', '/api/comms/task', { title: `task of ${name}` })).body.task_id;
    const delivery = await first(async () => (await http.expect(200, 'GET', `/api/webhooks/${webhook}/deliveries`)).body.deliveries[0]?.id);
    return { name, agent, session, workflow, run, template, trigger, job, fire, webhook, delivery, subscription, task };
  };
  const first = async (look: () => Promise<string | undefined>): Promise<string> => {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  /** What she has, without what goes on by itself. */
  const herThings = async (): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = {};
    for (const path of [
      `/api/workflows/${hers.workflow}`,
      `/api/workflows/runs/${hers.run}`,
      `/api/workflow-templates/${hers.template}`,
      `/api/triggers/${hers.trigger}`,
      `/api/triggers/${hers.trigger}/history`,
      `/api/cron/jobs/${hers.job}`,
      `/api/cron/jobs/${hers.job}/fires`,
      `/api/webhooks/${hers.webhook}`,
      '/api/webhooks/events',
      '/api/tasks/list',
      `/api/agents/${hers.agent}`,
      `/api/agents/${hers.agent}/session`,
    ])
      found[path] = (await alice.expect(200, 'GET', path)).body;
    found.deliveries = (await alice.expect(200, 'GET', `/api/webhooks/${hers.webhook}/deliveries`)).body.deliveries.map(({ id }: { id: string }) => id);
    return found;
  };
  const operations = async (): Promise<Array<{ name: string; fields: string[]; isOfOne: boolean }>> => {
    const { paths } = (await world.http.expect(200, 'GET', '/api/openapi.json')).body;
    return Object.entries(paths as Record<string, Record<string, { requestBody?: { content?: Record<string, { schema?: Record<string, unknown> }> } }>>)
      .filter(([path]) => AREAS.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { requestBody }]) => {
          const schema = requestBody?.content?.['application/json']?.schema as { properties?: object } | undefined;
          return { name: `${method.toUpperCase()} ${path}`, fields: Object.keys(schema?.properties ?? {}).filter((field) => ID_FIELD.test(field)), isOfOne: path.includes('{') };
        }),
      );
  };

  it('are tried in every operation that takes one, and in every field', async () => {
    const missing = (await operations()).flatMap(({ name, fields, isOfOne }) => {
      const tries = TRIES[name]?.(hers, his) ?? [];
      if (isOfOne && tries.length === 0) return [name];
      return fields.filter((field) => !tries.some(({ body }) => body && field in body)).map((field) => `${name}: ${field}`);
    });
    expect(missing).to.deep.equal([]);
  });

  it('reach nothing, start nothing, show nothing and change nothing', async () => {
    for (const which of WHICH) expect(hers[which], which).to.be.a('string');
    const before = await herThings();
    const asked = world.model.requests.length;
    const taken: string[] = [];
    for (const [operation, tries] of Object.entries(TRIES))
      for (const { path, body } of tries(hers, his)) {
        const [method = '', own = ''] = operation.split(' ');
        const { status, body: answer } = await bob.send(method, path ?? own, body);
        const isRefused = [400, 401, 403, 404].includes(status) && answer.code !== 'invalid_request' && answer.code !== 'route_not_found';
        if (!isRefused) taken.push(`${method} ${path ?? own} ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`);
      }
    expect(taken).to.deep.equal([]);
    expect(await herThings()).to.deep.equal(before);
    expect(world.model.requests.length, 'no agent was asked').to.equal(asked);
  });

  it('select nothing in a list', async () => {
    const secrets = WHICH.map((which) => hers[which]);
    for (const path of [
      ...['/api/workflows', '/api/workflow-templates', '/api/workflows/operator/pending', '/api/webhooks', '/api/webhooks/events', '/api/comms/events', '/api/comms/topology', '/api/inbox/status'],
      ...['/api/triggers', '/api/schedules', '/api/cron/jobs', '/api/tasks/list'].flatMap((list) => [list, `${list}?agent_id=${hers.agent}`]),
      ...['/api/runs', `/api/runs?root_id=${hers.run}`],
    ]) {
      const text = JSON.stringify((await bob.expect(200, 'GET', path)).body);
      expect(
        secrets.filter((id) => text.includes(id)),
        path,
      ).to.deep.equal([]);
    }
  });
});
