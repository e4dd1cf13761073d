import { Agents, Templates } from '@svc/ext-agents/contract';
import { DoctorCheck, type DoctorFinding, defineExtension } from '@svc/api';
import { createLibrary, type Skipped } from './library.js';
import { templateRoutes } from './routes.js';

const CHECK = 'templates.files';

export default defineExtension({
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const library = createLibrary(ctx.files.root('templates'), async (text) => (await agents.read(text)).manifest);
    ctx.services.provide(Templates, {
      find: (name) => library.find(name),
      list: async () => (await library.list()).found.map(({ template: { name }, manifest: { description, model } }) => ({ name, description, systemPrompt: model.system_prompt })),
    });
    ctx.routes.add(...templateRoutes(library));
    ctx.hooks.tap(DoctorCheck, async () => findingsOf((await library.list()).skipped));
  },
});

const findingsOf = (skipped: readonly Skipped[]): DoctorFinding[] => {
  if (skipped.length === 0) return [{ check: CHECK, result: 'pass', message: 'Every template can be used.' }];
  return skipped.map(({ file, error }) => ({ check: CHECK, result: 'warn', message: `${file} is skipped: ${error}`, fix: 'Correct the file, or move it out of the folder.' }));
};
