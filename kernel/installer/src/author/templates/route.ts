/** A route of one's own, and a setting that it reads. */
import type { Template } from './template.js';

export const routeTemplate: Template = ({ id, snake, pascal }) => ({
  description: 'Greets people by name.',
  manifest: { config: [{ section: snake }] },
  about: `    curl localhost:4545/api/${id}/greetings/Ada

The greeting is a setting:

    [${snake}]
    greeting = "Good morning"`,
  files: {
    'src/index.ts': `import { type Plain, Type, defineConfig, defineExtension, reply, routeGroup } from '@svc/api';

/** The section [${snake}] of config.toml. */
const Settings = defineConfig(
  '${snake}',
  Type.Object({ greeting: Type.String({ default: 'Hello', minLength: 1, maxLength: 100, description: 'How people are greeted' }) }, { additionalProperties: false }),
);

const Greeting = Type.Object({ text: Type.String() });
type Greeting = Plain<typeof Greeting>;

/** Each route asks for a key, and for the permission ${id}.read or ${id}.write. */
const route = routeGroup({ area: '${id}' });

export default defineExtension({
  config: [Settings],
  activate(ctx) {
    ctx.routes.add(
      route({
        id: 'get${pascal}Greeting',
        method: 'GET',
        path: '/api/${id}/greetings/{name}',
        summary: 'A greeting',
        params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
        responses: { 200: Greeting },
        handler: async ({ params }) => {
          const greeting: Greeting = { text: \`\${ctx.config.get(Settings).greeting}, \${params.name}!\` };
          return reply(200, greeting);
        },
      }),
    );
  },
});
`,
    'test/greetings.test.mjs': `import assert from 'node:assert/strict';
import { bootTestKernel, stopTestKernels } from '@svc/testing';

describe('the greetings', () => {
  afterEach(stopTestKernels);

  it('are said as the setting says', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'], config: '[${snake}]\\ngreeting = "Good morning"\\n' });
    const { body } = await http.expect(200, 'GET', '/api/${id}/greetings/Ada');
    assert.equal(body.text, 'Good morning, Ada!');
  });
});
`,
  },
});
