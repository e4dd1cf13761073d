/** A channel: messages come from outside, an agent answers. */
import type { Template } from './template.js';

export const channelTemplate: Template = ({ id, snake, pascal }) => ({
  description: "Accepts messages from another service and returns an agent's answers.",
  manifest: { requires: { runs: '^1' }, config: [{ section: snake }] },
  about: `The other service sends each message with a key of the person whose agent answers, and asks for the answer:

    curl -H 'authorization: Bearer KEY' -H 'content-type: application/json' \\
      -d '{"agent_id": "…", "message_id": "17", "from": "Ada", "text": "hello"}' localhost:4545/api/${id}/messages
    curl -H 'authorization: Bearer KEY' localhost:4545/api/${id}/messages/RUN_ID

A message that is sent twice under one message_id is one message.`,
  files: {
    'src/runs.ts': `/**
 * The part of the service "runs" that is used here. What crosses is validated by the declaration of its owner, which stands
 * whole in GET /api/extensions/runs: this one may say less, never more.
 */
import { Actor, Nullable, Type, defineService, method } from '@svc/api';

const Draft = Type.Object({
  agentId: Type.String(),
  parts: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
  door: Type.Literal('rest'),
  key: Type.String({ description: 'The same key and text is the same run' }),
});

export const Runs = defineService('runs', '1.0.0', {
  submit: method([Actor, Draft], Type.Object({ runId: Type.String(), sessionId: Type.String(), replayed: Type.Boolean() })),
  get: method(
    [Actor, Type.String()],
    Type.Object({
      id: Type.String(),
      status: Type.String({ description: 'queued, running, waiting, done, failed or cancelled' }),
      result: Nullable(Type.Object({ response: Type.String() })),
      error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    }),
  ),
});
`,
    'src/index.ts': `import { Nullable, Type, defineConfig, defineExtension, reply, routeGroup } from '@svc/api';
import { Runs } from './runs';

const Settings = defineConfig(
  '${snake}',
  Type.Object({ names_sender: Type.Boolean({ default: true, description: 'Whether the agent reads who wrote' }) }, { additionalProperties: false }),
);

const Message = Type.Object(
  {
    agent_id: Type.String({ minLength: 1, maxLength: 100, description: 'Who answers' }),
    message_id: Type.String({ minLength: 1, maxLength: 200, description: 'As the other service calls it' }),
    from: Type.String({ minLength: 1, maxLength: 200 }),
    text: Type.String({ minLength: 1, maxLength: 50_000 }),
  },
  { additionalProperties: false },
);

const route = routeGroup({ area: '${id}' });

export default defineExtension({
  config: [Settings],
  activate(ctx) {
    const runs = ctx.services.require(Runs);
    ctx.routes.add(
      route({
        id: 'send${pascal}Message',
        method: 'POST',
        path: '/api/${id}/messages',
        summary: 'Send a message to an agent',
        body: Message,
        errors: [403, 404, 409, 429, 503],
        responses: { 202: Type.Object({ run_id: Type.String(), is_new: Type.Boolean() }) },
        handler: async ({ actor, body }) => {
          const text = ctx.config.get(Settings).names_sender ? \`\${body.from}: \${body.text}\` : body.text;
          const { runId, replayed } = await runs.submit(actor, { agentId: body.agent_id, parts: [{ type: 'text', text }], door: 'rest', key: \`${id}:\${body.message_id}\` });
          return reply(202, { run_id: runId, is_new: !replayed });
        },
      }),
      route({
        id: 'get${pascal}Answer',
        method: 'GET',
        path: '/api/${id}/messages/{run_id}',
        summary: 'What was answered',
        params: Type.Object({ run_id: Type.String({ minLength: 1, maxLength: 100 }) }),
        errors: [404, 503],
        responses: { 200: Type.Object({ status: Type.String(), answer: Nullable(Type.String()), error: Nullable(Type.String()) }) },
        handler: async ({ actor, params }) => {
          const { status, result, error } = await runs.get(actor, params.run_id);
          return reply(200, { status, answer: result?.response ?? null, error: error?.message ?? null });
        },
      }),
    );
  },
});
`,
    'test/messages.test.mjs': `import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { bootTestKernel, startModel, stopTestKernels } from '@svc/testing';

describe('a message from outside', () => {
  let model;
  beforeEach(async () => {
    model = await startModel();
  });
  afterEach(async () => {
    await stopTestKernels();
    await model.stop();
  });

  it('reaches the agent once, and its answer can be had', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'], config: model.config });
    const { body: made } = await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'desk' } });
    const message = { agent_id: made.agent_id, message_id: '17', from: 'Ada', text: 'are you there?' };
    model.say('I am.');
    const { body: first } = await http.expect(202, 'POST', '/api/${id}/messages', message);
    const { body: again } = await http.expect(202, 'POST', '/api/${id}/messages', message);
    assert.deepEqual([again.run_id, first.is_new, again.is_new], [first.run_id, true, false]);
    let answer;
    do {
      await wait(20);
      answer = (await http.expect(200, 'GET', \`/api/${id}/messages/\${first.run_id}\`)).body;
    } while (['queued', 'running'].includes(answer.status));
    assert.deepEqual(answer, { status: 'done', answer: 'I am.', error: null });
    assert.equal(model.asked.length, 1);
    assert.match(JSON.stringify(model.asked[0].messages), /Ada: are you there\\?/);
  });
});
`,
  },
});
