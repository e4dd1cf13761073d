/** Templates of workflows over HTTP. */
import { OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import { CATEGORIES, Template } from '../templates/shape.js';
import type { Templates } from '../templates/templates.js';
import { WorkflowPath } from './workflows.js';

const route = routeGroup({ area: 'workflows' });
const TemplatePath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100, description: 'Template id', examples: ['summarize'] }) });
const Value = Type.Union([Type.String({ maxLength: 100_000 }), Type.Number(), Type.Boolean()]);

export const templateRoutes = (templates: Templates): RouteDecl[] => [
  route({
    id: 'listWorkflowTemplates',
    method: 'GET',
    path: '/api/workflow-templates',
    summary: 'List templates of workflows',
    description: 'Those that you saved, newest first, then those that come with svc.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name or the description' })), category: Type.Optional(OneOf(CATEGORIES)) }),
    responses: { 200: Type.Object({ templates: Type.Array(Template), total: Type.Integer() }) },
    handler: async ({ actor, query }) => {
      const found = await templates.list(actor, query);
      return reply(200, { templates: found, total: found.length });
    },
  }),
  route({
    id: 'getWorkflowTemplate',
    method: 'GET',
    path: '/api/workflow-templates/{id}',
    summary: 'Get a template of a workflow',
    description: 'With its parameters and steps.',
    params: TemplatePath,
    errors: [404],
    responses: { 200: Template },
    handler: async ({ actor, params }) => reply(200, await templates.get(actor, params.id)),
  }),
  route({
    id: 'instantiateWorkflowTemplate',
    method: 'POST',
    path: '/api/workflow-templates/{id}/instantiate',
    summary: 'Create a workflow from a template',
    description: 'With a value for each parameter by its name. `agent` names the agent of its steps, by default one called "default", else your first. Values that no parameter has are left out.',
    audit: 'workflow_created',
    params: TemplatePath,
    body: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Value),
    examples: {
      'a blog post': { topic: 'solar power', audience: 'home owners' },
      'by one agent': { topic: 'solar power', agent: 'assistant' },
      'a decision': { decision: 'Which database?', options: 'SQLite, PostgreSQL' },
    },
    errors: [404],
    responses: { 201: Type.Object({ workflow_id: Uuid, template_id: Type.String(), status: OneOf(['instantiated']) }) },
    handler: async ({ actor, params, body }) => {
      const { id } = await templates.instantiate(actor, params.id, body);
      return reply(201, { workflow_id: id, template_id: params.id, status: 'instantiated' as const }, { location: `/api/workflows/${id}` });
    },
  }),
  route({
    id: 'saveWorkflowTemplate',
    method: 'POST',
    path: '/api/workflows/{id}/save-as-template',
    summary: 'Save a workflow as a template',
    description: 'Each `{{name}}` in its prompts that is no step and not `input` becomes a parameter.',
    audit: 'workflow_template_saved',
    params: WorkflowPath,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['created']), template: Template }) },
    handler: async ({ actor, params }) => reply(200, { status: 'created' as const, template: await templates.save(actor, params.id) }),
  }),
];
