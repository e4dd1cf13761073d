/** Templates of agents as prompts: what each is told to be, and what it is asked first. */
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import type { Actor } from '@svc/api';
import type { TemplatesService } from '@svc/ext-agents/contract';

/** Who asks; undefined without a key. */
export type Caller = Actor | undefined;

const MAX_TASK_CHARS = 100_000;

export interface PromptDeps {
  readonly templates: () => TemplatesService | undefined;
  may(actor: Actor, routeId: string, permission: string): Promise<boolean>;
}

const usable = async ({ templates, may }: PromptDeps, caller: Caller) => (caller !== undefined && (await may(caller, 'listTemplates', 'templates.read')) ? ((await templates()?.list()) ?? []) : []);

export const promptsOf = async (deps: PromptDeps, caller: Caller): Promise<Prompt[]> =>
  (await usable(deps, caller)).map(({ name, description }) => ({
    name,
    ...(description === '' ? {} : { description }),
    arguments: [{ name: 'task', description: 'What to do first' }],
  }));

/** Undefined where there is none. */
export const promptOf = async (deps: PromptDeps, caller: Caller, name: unknown, args: Readonly<Record<string, unknown>>): Promise<GetPromptResult | undefined> => {
  const found = (await usable(deps, caller)).find((one) => one.name === name);
  if (!found) return undefined;
  const task = typeof args.task === 'string' ? args.task.slice(0, MAX_TASK_CHARS) : '';
  const text = [found.systemPrompt, task].filter((part) => part !== '').join('\n\n') || found.description || found.name;
  return { ...(found.description === '' ? {} : { description: found.description }), messages: [{ role: 'user', content: { type: 'text', text } }] };
};
