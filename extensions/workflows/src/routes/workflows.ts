/** Workflows over HTTP: what a person writes. */
import { defineList, OneOf, readList, reply, type RouteDecl, routeGroup, type Db, Type, Uuid } from '@svc/api';
import { WorkflowRows, type WorkflowRow, WorkflowRunRows, type WorkflowRunRow } from '../contract.js';
import { Definition, DefinitionChange } from '../definition.js';
import { jsonOf } from '../driver.js';
import type { WorkflowRules } from '../service.js';
import { Workflow, workflowOf, WorkflowSummary } from '../shapes.js';

const route = routeGroup({ area: 'workflows' });
export const WorkflowPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Workflow id' }) });
const list = defineList({ item: WorkflowSummary, as: ['workflows', 'items'], sort: ['created_at', 'updated_at', 'name'], searches: 'name, description' });

const EXAMPLES = {
  'two agents, one after the other': {
    name: 'Research and write',
    steps: [
      { name: 'research', agent: 'assistant', input: 'Collect facts about {{input}}.' },
      { name: 'article', agent: 'assistant', input: 'Write a page from these facts:\n{{research.output}}' },
    ],
  },
  'three side by side, then one answer': {
    name: 'Three views',
    steps: [
      { name: 'for', agent: 'assistant', mode: 'fan_out', input: 'Argue for: {{input}}' },
      { name: 'against', agent: 'assistant', mode: 'fan_out', input: 'Argue against: {{input}}' },
      { name: 'views', mode: 'collect' },
      { name: 'verdict', agent: 'assistant', input: 'Decide between:\n{{input}}' },
    ],
  },
  'a person decides before it goes out': {
    name: 'Newsletter',
    steps: [
      { name: 'draft', agent: 'assistant', input: 'Draft a newsletter about {{input}}.', error_mode: { retry: { max_retries: 2 } } },
      { name: 'review', mode: 'operator', actions: ['approve', 'reject', 'edit'], timeout_secs: 86_400, timeout_action: 'reject' },
      { name: 'final', agent: 'assistant', input: 'Polish: {{input}}' },
    ],
  },
};

export const workflowRoutes = (rules: WorkflowRules, db: Db): RouteDecl[] => [
  route({
    id: 'listWorkflows',
    method: 'GET',
    path: '/api/workflows',
    summary: 'List workflows, newest first',
    description: 'With how often each ran and how its last run ended. Owners and admins see all, everyone else their own.',
    query: list.query,
    responses: { 200: list.answer },
    handler: async ({ actor, query }) => {
      const found = await readList(db.as(actor), list, query, { from: WorkflowRows.name, search: ['name', 'description'] });
      const rows = found.rows as unknown as readonly WorkflowRow[];
      const runs = await runsOf(db, rows);
      return list.reply(query, {
        ...found,
        rows: rows.map((row) =>
          summaryOf(
            row,
            runs.filter(({ workflow_id: id }) => id === row.id),
          ),
        ),
      });
    },
  }),
  route({
    id: 'createWorkflow',
    method: 'POST',
    path: '/api/workflows',
    summary: 'Create a workflow',
    description:
      "Steps run in order. `fan_out` steps that stand together run side by side, and `collect` joins what they gave. With `depends_on` the steps are a graph. A step's name is a variable: `{{name}}`, `{{name.output}}`, and `{{name.key}}` where its output is JSON. `wait`, `gate`, `transform`, `branch` and `operator` need no agent. Names that no step has, double names and circles are refused.",
    audit: 'workflow_created',
    body: Definition,
    examples: EXAMPLES,
    errors: [404],
    responses: { 201: Type.Object({ workflow_id: Uuid, workflow: Workflow }) },
    handler: async ({ actor, body }) => {
      const row = await rules.create(actor, body);
      return reply(201, { workflow_id: row.id, workflow: workflowOf(row) }, { location: `/api/workflows/${row.id}` });
    },
  }),
  route({
    id: 'getWorkflow',
    method: 'GET',
    path: '/api/workflows/{id}',
    summary: 'Get a workflow',
    description: 'With its steps as they are stored: each field under one name.',
    params: WorkflowPath,
    errors: [404],
    responses: { 200: Workflow },
    handler: async ({ actor, params }) => reply(200, workflowOf(await rules.get(actor, params.id))),
  }),
  route({
    id: 'updateWorkflow',
    method: 'PUT',
    path: '/api/workflows/{id}',
    summary: 'Change a workflow',
    description: 'Fields that are left out stay; `null` removes `total_timeout_secs`, `input_schema` or `layout`. Runs that go on keep the definition that they began with.',
    audit: 'workflow_updated',
    params: WorkflowPath,
    body: DefinitionChange,
    examples: { 'another name': { name: 'Weekly newsletter' }, 'no limit of time': { total_timeout_secs: null }, 'other steps': { steps: [{ name: 'one', agent: 'assistant', input: '{{input}}' }] } },
    errors: [404, 409],
    responses: { 200: Workflow },
    handler: async ({ actor, params, body }) => reply(200, workflowOf(await rules.update(actor, params.id, body))),
  }),
  route({
    id: 'deleteWorkflow',
    method: 'DELETE',
    path: '/api/workflows/{id}',
    summary: 'Delete a workflow',
    description: 'Its runs stay readable, and those under way go on.',
    audit: 'workflow_deleted',
    params: WorkflowPath,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['removed']), workflow_id: Uuid }) },
    handler: async ({ actor, params }) => {
      await rules.remove(actor, params.id);
      return reply(200, { status: 'removed' as const, workflow_id: params.id });
    },
  }),
];

type RunOfList = Pick<WorkflowRunRow, 'workflow_id' | 'state' | 'started_at' | 'completed_at'>;
const MAX_RUNS = 5_000;

/** The newest of all of them. */
const runsOf = async (db: Db, rows: readonly WorkflowRow[]): Promise<RunOfList[]> => {
  if (rows.length === 0) return [];
  const columns = ['workflow_id', 'state', 'started_at', 'completed_at'];
  return db
    .system('runs of listed workflows')
    .select<RunOfList>({ from: WorkflowRunRows.name, columns, where: { workflow_id: rows.map(({ id }) => id) }, order: [{ column: 'started_at', descending: true }], limit: MAX_RUNS });
};

const summaryOf = (row: WorkflowRow, runs: readonly RunOfList[]) => {
  const count = (wanted: string): number => runs.filter(({ state }) => state === wanted).length;
  const [completed, failed] = [count('completed'), count('failed')];
  const [last] = runs;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    steps: jsonOf<unknown[]>(row.steps).length,
    created_at: row.created_at,
    updated_at: row.updated_at,
    run_count: runs.length,
    cancelled_count: count('cancelled'),
    success_rate: completed + failed === 0 ? null : completed / (completed + failed),
    last_run: last ? { state: last.state as 'completed', started_at: last.started_at, completed_at: last.completed_at } : null,
  };
};
