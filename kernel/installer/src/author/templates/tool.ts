/** A tool that models may call. */
import type { Template } from './template.js';

export const toolTemplate: Template = ({ snake }) => ({
  description: 'Rolls dice for agents.',
  manifest: {},
  about: `Agents call the tool \`${snake}_roll\`. To try it, ask one:

    svc message assistant "roll three dice with six sides"`,
  files: {
    'src/index.ts': `import { Type, defineExtension, defineTool } from '@svc/api';

export default defineExtension({
  activate(ctx) {
    ctx.tools.add(
      defineTool({
        name: '${snake}_roll',
        description: 'Rolls dice, and says what each of them shows.',
        params: Type.Object({
          dice: Type.Integer({ minimum: 1, maximum: 100, description: 'How many' }),
          sides: Type.Integer({ minimum: 2, maximum: 1000, description: 'How many sides each of them has' }),
        }),
        // It changes nothing outside: a restart may run it again, and it may run beside other calls.
        risk: 'read',
        replay: 'safe',
        parallel: true,
        run: async ({ dice, sides }) => {
          const shown = Array.from({ length: dice }, () => 1 + Math.floor(ctx.ids.random() * sides));
          return \`\${shown.join(' ')} (together \${shown.reduce((sum, one) => sum + one, 0)})\`;
        },
      }),
    );
  },
});
`,
    'test/roll.test.mjs': `import assert from 'node:assert/strict';
import { bootTestKernel, stopTestKernels } from '@svc/testing';

describe('a roll', () => {
  afterEach(stopTestKernels);

  it('shows every die, within its sides', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'], config: '[tool_invoke]\\nenabled = true\\nallowlist = ["${snake}_roll"]\\n' });
    const { body } = await http.expect(200, 'POST', '/api/tools/${snake}_roll/invoke', { dice: 3, sides: 6 });
    assert.match(body.content, /^[1-6] [1-6] [1-6] \\(together \\d+\\)$/);
  });

  it('with one side is refused', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'], config: '[tool_invoke]\\nenabled = true\\nallowlist = ["${snake}_roll"]\\n' });
    const { body } = await http.post('/api/tools/${snake}_roll/invoke', { dice: 1, sides: 1 });
    assert.match(JSON.stringify(body), /sides/);
  });
});
`,
  },
});
