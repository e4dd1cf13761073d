/** A collection, and a panel of the page that shows it. */
import type { Template } from './template.js';

export const panelTemplate: Template = ({ id, snake }) => ({
  description: 'A list of things to do.',
  manifest: {
    tables: ['tasks'],
    events: { publishes: ['tasks.changed'] },
    panels: [{ id, title: { en: 'To do', zh: '待办' }, icon: 'star', hub: 'more', permission: `${id}.read` }],
  },
  about: `The page shows the panel "To do". Routes and commands come from the same declaration:

    curl localhost:4545/api/${id}
    svc ${id} list`,
  needs: ['@svc/client'],
  files: {
    'src/index.ts': `import { Type, defineCollection, defineErrors, defineExtension, openCollection } from '@svc/api';

const errors = defineErrors('${snake}', {
  not_found: { status: 404, retry: false, message: (id: string) => \`There is no task \${id}.\`, hint: 'GET /api/${id} lists yours.' },
});

/** From this come the table, five routes, the commands of svc, and the event that the panel listens to. */
const Tasks = defineCollection({
  area: '${id}',
  one: 'task',
  path: '/api/${id}',
  fields: Type.Object({ text: Type.String({ minLength: 1, maxLength: 200 }), done: Type.Boolean({ default: false }) }),
  list: { filters: ['done'], search: ['text'] },
  missing: errors.not_found,
});

export default defineExtension({
  collections: [Tasks],
  activate(ctx) {
    ctx.routes.add(...openCollection(ctx, Tasks).routes);
  },
});
`,
    [`panels/${id}.panel.ts`]: `/**
 * Runs in a sandboxed frame of the page, with the page's styles. It has no network: it calls the routes of this extension
 * through the page, with the rights of the person who looks at it.
 */
import { openFrame } from '@svc/client/frame';
import './look.css';

interface Task {
  readonly id: string;
  readonly text: string;
  readonly done: boolean;
  readonly revision: number;
}

const panel = await openFrame();

const element = <K extends keyof HTMLElementTagNameMap>(tag: K, properties: Partial<HTMLElementTagNameMap[K]>, ...children: HTMLElement[]): HTMLElementTagNameMap[K] => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const list = element('ul', { className: 'tasks' });
const problem = element('p', { className: 'problem' });
problem.setAttribute('role', 'alert');
const text = element('input', { type: 'text', className: 'input', maxLength: 200 });
const add = element('button', { type: 'button', className: 'button primary', textContent: 'Add' });

/** Shows the error of a call that failed. */
const attempt = async (work: () => Promise<unknown>): Promise<void> => {
  problem.textContent = '';
  try {
    await work();
    await show();
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
  }
};

const show = async (): Promise<void> => {
  const { tasks } = (await panel.call('GET', '/api/${id}?limit=100')) as { tasks: readonly Task[] };
  list.replaceChildren(...tasks.map(row));
};

const row = (task: Task): HTMLElement => {
  const box = element('input', { type: 'checkbox', checked: task.done });
  box.addEventListener('change', () => void attempt(() => panel.call('PUT', \`/api/${id}/\${task.id}\`, { done: box.checked })));
  return element('li', {}, element('label', {}, box, element('span', { textContent: task.text })));
};

const create = (): void =>
  void attempt(async () => {
    await panel.call('POST', '/api/${id}', { text: text.value });
    text.value = '';
  });
// A sandboxed frame submits no forms.
add.addEventListener('click', create);
text.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') create();
});

document.querySelector('#panel')?.append(element('div', { className: 'new-task' }, element('label', {}, element('span', { textContent: 'New task' }), text), add), problem, list);
// What another tab, the command line or an agent changes shows at once.
panel.onEvent(() => void attempt(async () => undefined));
await attempt(async () => undefined);

export {};
`,
    'panels/look.css': `.new-task {
  display: flex;
  gap: 0.5rem;
  align-items: end;
  margin-bottom: 1rem;
}

.new-task label {
  display: grid;
  flex: 1;
}

.tasks {
  padding: 0;
  list-style: none;
}
`,
    'test/tasks.test.mjs': `import assert from 'node:assert/strict';
import { bootTestKernel, stopTestKernels } from '@svc/testing';

describe('the tasks', () => {
  afterEach(stopTestKernels);

  it('are listed as a person made them, for the panel too', async () => {
    const { http } = await bootTestKernel({ extensions: ['.'] });
    await http.expect(201, 'POST', '/api/${id}', { text: 'Water the plants' });
    const { body } = await http.expect(200, 'GET', '/api/${id}?done=false');
    assert.deepEqual(
      body.tasks.map(({ text }) => text),
      ['Water the plants'],
    );
    const { panels } = (await http.expect(200, 'GET', '/api/panels')).body;
    assert.ok(panels.some((panel) => panel.id === '${id}'));
  });
});
`,
  },
});
