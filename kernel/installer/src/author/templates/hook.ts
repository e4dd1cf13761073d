/** A tap: something is added to what every run begins with. */
import type { Template } from './template.js';

export const hookTemplate: Template = ({ snake }) => ({
  description: "Adds the current date to every agent's prompt.",
  manifest: { hooks: [{ name: 'run.context' }], config: [{ section: snake }] },
  about: `It adds a line to the system prompt of each run. In which language the date is written is a setting:

    [${snake}]
    locale = "en-GB"`,
  files: {
    'src/hooks.ts': `/**
 * The part of the hook run.context that is used here: the value is the system prompt. It belongs to the area "runs",
 * whose whole declaration stands in GET /api/extensions/runs.
 */
import { Type, definePipe } from '@svc/api';

export const RunContext = definePipe('run.context', '1.0.0', {
  policy: 'open',
  budgetMs: 30_000,
  remote: true,
  value: Type.String(),
  context: Type.Object({ runId: Type.String(), text: Type.String() }),
});
`,
    'src/index.ts': `import { Type, defineConfig, defineExtension } from '@svc/api';
import { RunContext } from './hooks';

const Settings = defineConfig(
  '${snake}',
  Type.Object({ locale: Type.String({ default: 'en-GB', pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$', description: 'How the date is written' }) }, { additionalProperties: false }),
);

export default defineExtension({
  config: [Settings],
  activate(ctx) {
    ctx.hooks.tap(RunContext, (prompt) => {
      const { locale } = ctx.config.get(Settings);
      const today = new Date(ctx.clock.now()).toLocaleDateString(locale, { dateStyle: 'full', timeZone: 'UTC' });
      return \`\${prompt}\\n\\nToday is \${today} (UTC).\`;
    });
  },
});
`,
    'test/prompt.test.mjs': `import assert from 'node:assert/strict';
import { bootTestKernel, startModel, stopTestKernels } from '@svc/testing';

describe('the prompt', () => {
  let model;
  beforeEach(async () => {
    model = await startModel();
  });
  afterEach(async () => {
    await stopTestKernels();
    await model.stop();
  });

  it('says what day it is', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'], config: model.config });
    const { body } = await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'reader' } });
    model.say('Thank you.');
    await http.expect(200, 'POST', \`/api/agents/\${body.agent_id}/message\`, { message: 'what day is it?' });
    assert.match(model.asked[0].system, new RegExp(\`Today is .*\${new Date().getUTCFullYear()}\`));
  });
});
`,
  },
});
