/**
 * Templates: those that come with svc, and those that a person saved.
 *
 * P1  A value stands where its parameter is named, in one pass, and is never read as a placeholder of the workflow.
 * P2  What must be given is asked for by name; nothing is made without it.
 */
import type { Actor, Clock, Db, Ids } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { AGENT_MODES, type Step, TemplateRows, type TemplateRow, type WorkflowRow } from '../contract.js';
import { jsonOf } from '../driver.js';
import { workflowErrors } from '../errors.js';
import type { WorkflowRules } from '../service.js';
import { ENGINEERING } from './shipped-work.js';
import { OFFICE } from './shipped-office.js';
import { WORDS } from './shipped-words.js';
import { type Template, templateOf, type TemplateParameter } from './shape.js';

export interface TemplateDeps {
  readonly db: Db;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Pick<Clock, 'iso'>;
  readonly agents: Pick<AgentsService, 'list'>;
  readonly rules: Pick<WorkflowRules, 'get' | 'create'>;
}

type Values = Readonly<Record<string, string | number | boolean | null>>;

const MAX_SAVED = 200;
const PLACEHOLDER = /\{\{([^{}]{1,200})\}\}/g;
/** Names the agent of every step, where no parameter has this name. */
const AGENT = 'agent';

export const SHIPPED: readonly Template[] = [...ENGINEERING, ...WORDS, ...OFFICE].map(templateOf).sort((one, other) => (one.id < other.id ? -1 : 1));

export const createTemplates = (deps: TemplateDeps) => {
  const { db } = deps;
  const saved = (actor: Actor): Promise<TemplateRow[]> =>
    db.as(actor).select<TemplateRow>({ from: TemplateRows.name, where: { owner_id: actor.ownerId }, order: [{ column: 'created_at', descending: true }], limit: MAX_SAVED });
  const find = async (actor: Actor, id: string): Promise<{ readonly template: Template; readonly steps?: readonly Step[] }> => {
    const shipped = SHIPPED.find((one) => one.id === id);
    if (shipped) return { template: shipped };
    const row = await db.as(actor).first<TemplateRow>({ from: TemplateRows.name, where: { id: id.toLowerCase() } });
    if (!row) throw workflowErrors.template_not_found(id);
    return { template: ownOf(row), steps: jsonOf<Step[]>(row.steps) };
  };
  return {
    list: async (actor: Actor, { q = '', category }: { readonly q?: string | undefined; readonly category?: string | undefined }): Promise<Template[]> => {
      const words = q.toLowerCase();
      const all = [...(await saved(actor)).map(ownOf), ...SHIPPED];
      const isMeant = ({ id, name, description, i18n }: Template): boolean => `${id} ${name} ${description} ${i18n.zh?.name ?? ''} ${i18n.zh?.description ?? ''}`.toLowerCase().includes(words);
      return all.filter((one) => isMeant(one) && (category === undefined || one.category === category));
    },
    get: async (actor: Actor, id: string): Promise<Template> => (await find(actor, id)).template,
    /** Saves the workflow as a template: `{{name}}` in it that no step has, and no run gives, is a parameter. */
    save: async (actor: Actor, workflowId: string): Promise<Template> => {
      const workflow = await deps.rules.get(actor, workflowId);
      if ((await saved(actor)).length >= MAX_SAVED) throw workflowErrors.too_many_templates(MAX_SAVED);
      const id = deps.ids.uuid();
      const now = deps.clock.iso();
      const row: TemplateRow = {
        id,
        owner_id: actor.ownerId,
        name: workflow.name,
        description: workflow.description,
        parameters: JSON.stringify(freeNames(workflow)),
        steps: JSON.stringify(jsonOf(workflow.steps)),
        created_at: now,
      };
      await db.commit([db.insert(TemplateRows.name, [row])]);
      return ownOf(row);
    },
    instantiate: async (actor: Actor, id: string, values: Values): Promise<WorkflowRow> => {
      const { template, steps } = await find(actor, id);
      const given = filled(template.parameters, values);
      const usual = template.parameters.some(({ name }) => name === AGENT) || values[AGENT] === undefined || values[AGENT] === null ? await firstAgent(deps, actor) : String(values[AGENT]);
      const names = new Set([...template.steps.map(({ name }) => name), 'input']);
      const put = (text: string): string => replaced(text, given, names);
      const made = steps
        ? steps.map((step) => ({ ...inputOf(step), prompt_template: put(step.prompt_template) }))
        : template.steps.map((step) => ({ ...step, depends_on: [...step.depends_on], agent: usual, prompt_template: put(step.prompt_template) }));
      return deps.rules.create(actor, { name: template.name, description: template.description, steps: made });
    },
  };
};
export type Templates = ReturnType<typeof createTemplates>;

const ownOf = ({ id, name, description, parameters, steps }: TemplateRow): Template => ({
  id,
  name,
  description,
  category: 'own',
  is_own: true,
  parameters: jsonOf<TemplateParameter[]>(parameters),
  steps: jsonOf<Step[]>(steps).map((step) => ({ name: step.name, prompt_template: step.prompt_template, depends_on: [...step.depends_on] })),
  i18n: {},
});

/** A stored step as a person writes it. */
const inputOf = ({ agent, error_mode: mode, retry, ...step }: Step) => ({
  ...step,
  ...(agent === null ? {} : { agent }),
  error_mode: mode === 'retry' ? { retry } : mode,
});

const freeNames = ({ steps: stored }: WorkflowRow): TemplateParameter[] => {
  const steps = jsonOf<Step[]>(stored);
  const known = new Set(['input', ...steps.flatMap(({ name, output_var: variable }) => [name, ...(variable === null ? [] : [variable])])]);
  const named = steps.filter(({ mode }) => AGENT_MODES.has(mode)).flatMap(({ prompt_template: text }) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  return [...new Set(named)]
    .filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !known.has(name))
    .map((name) => ({ name, description: '', param_type: 'string', required: true, default: null }));
};

const filled = (parameters: readonly TemplateParameter[], values: Values): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const { name, required, default: usual } of parameters) {
    const value = values[name];
    const text = value === undefined || value === null || value === '' ? (usual ?? '') : String(value);
    if (required && text.trim() === '') throw workflowErrors.missing_parameter(name);
    texts.set(name, text);
  }
  return texts;
};

/** A value that names a step keeps its braces apart: it is a text, and no placeholder. */
const replaced = (text: string, given: ReadonlyMap<string, string>, names: ReadonlySet<string>): string =>
  text.replaceAll(PLACEHOLDER, (whole, name: string) => {
    const value = given.get(name);
    return value === undefined ? whole : value.replaceAll(PLACEHOLDER, (inner, said: string) => (names.has(said.split('.')[0] ?? '') ? `{ {${said}} }` : inner));
  });

const firstAgent = async ({ agents }: TemplateDeps, actor: Actor): Promise<string> => {
  const mine = (await agents.list(actor)).filter(({ ownerId }) => ownerId === actor.ownerId);
  const agent = mine.find(({ name }) => name === 'default') ?? mine[0];
  if (!agent) throw workflowErrors.agent_not_found(AGENT);
  return agent.name;
};
