/** Requests: listed, made by hand, and decided. */
import { type Actor, anyOfFields, type Clock, type ExtensionContext, Field, isSvcError, NOT_BLANK, OneOf, reply, type RouteDecl, routeGroup, TextOf, Type, Uuid } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { ApprovalRequested, type RequestRow } from '../contract.js';
import { approvalErrors } from '../errors.js';
import { riskOf } from '../policy/risk.js';
import { type DecisionDeps, decideMany, decideOne } from '../requests/decisions.js';
import { grantOfRequest, Remember } from '../requests/remembered.js';
import { pendingFor } from '../requests/store.js';
import { factOf } from '../requests/timeouts.js';
import { Approval, approvalOf, Grant, grantShown } from './shapes.js';
import { Code } from './totp-routes.js';

export interface RouteDeps extends DecisionDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  readonly agents: Pick<AgentsService, 'get'>;
  /** Whether the settings make any call wait. */
  readonly isAsking: () => boolean;
  readonly timeoutSecs: () => number;
}

const route = routeGroup({ area: 'approvals' });
const MAX_PENDING_BY_HAND = 5;
const MAX_PAYLOAD_BYTES = 64_000;
const MAX_FEEDBACK = 4_096;
const MAX_BATCH = 100;

const Limit = Type.Integer({ minimum: 1, maximum: 500, default: 50 });
const Offset = Type.Integer({ minimum: 0, default: 0 });
const Id = Type.Object({ id: Uuid });
const Action = (description: string) => Type.Optional(TextOf(NOT_BLANK, { maxLength: 200, description }));
const Text = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }));
const Listed = { total: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() };

const shown = (deps: RouteDeps, row: RequestRow): Approval => approvalOf(row, deps.needsCode, canRemember);

const canRemember = (row: RequestRow): boolean => {
  try {
    grantOfRequest(row, { what: 'call', for: 'always' }, '', '', 0);
    return true;
  } catch (error) {
    if (isSvcError(error)) return false;
    throw error;
  }
};

export const requestRoutes = (deps: RouteDeps): RouteDecl[] => [listRoute(deps), createRoute(deps), auditRoute(deps), countRoute(deps), batchRoute(deps), ...grantRoutes(deps), ...oneRoutes(deps)];

const listRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'listApprovals',
    method: 'GET',
    path: '/api/approvals',
    summary: 'List approval requests',
    description: 'Pending ones first, then those that were decided, newest first.',
    query: Type.Object({
      limit: Limit,
      offset: Offset,
      status: Type.Optional(OneOf(['pending', 'approved', 'rejected', 'expired', 'skipped'])),
      agent_id: Type.Optional(Field.reference('agents', { description: 'Of this agent alone' })),
      run_id: Type.Optional(Uuid),
    }),
    responses: {
      200: Type.Object({ approvals: Type.Array(Approval), ...Listed, asking: Type.Boolean({ description: 'Whether [approval] of config.toml makes any tool call wait for a person' }) }),
    },
    handler: async ({ actor, query: { limit, offset, status, agent_id, run_id } }) => {
      const where = { ...(status ? { state: status } : {}), ...(agent_id ? { agent_id } : {}), ...(run_id ? { run_id } : {}) };
      const { rows, total } = await deps.store.list(actor, where, { limit, offset });
      return reply(200, { approvals: rows.map((row) => shown(deps, row)), total, offset, limit, asking: deps.isAsking() });
    },
  });

const createRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'createApproval',
    method: 'POST',
    path: '/api/approvals',
    summary: 'Create an approval request',
    description: `For programs that act for an agent and want a person's decision: they read it with \`GET /api/approvals/{id}\`. Tool calls of agents make theirs by themselves. An agent has ${MAX_PENDING_BY_HAND} of these pending at most.`,
    audit: 'approval_requested',
    body: Type.Object(
      {
        agent_id: Uuid,
        action: Action('What is to be done, such as the name of a tool'),
        tool_name: Action('The same as action'),
        description: Text(MAX_FEEDBACK, 'Why'),
        action_summary: Text(MAX_FEEDBACK, 'The same as description'),
        payload: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'What exactly' })),
        session_id: Type.Optional(Uuid),
      },
      anyOfFields('action', 'tool_name'),
    ),
    examples: {
      'a payment': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', action: 'pay', description: 'Invoice 4711', payload: { amount_eur: 120 } },
      'a tool': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', tool_name: 'deploy', description: 'Release 1.4 to production' },
      'without details': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', action: 'restart' },
    },
    errors: [404, 429],
    responses: { 200: Type.Object({ id: Uuid, status: Type.Literal('pending'), expires_at: Type.String({ format: 'date-time' }) }) },
    handler: async ({ actor, body }) => {
      const row = await handMade(deps, actor, body);
      await deps.ctx.db.commit([deps.store.insert(row), deps.ctx.events.event(ApprovalRequested, { ...factOf(row), risk: row.risk, description: row.description })]);
      return reply(200, { id: row.id, status: 'pending' as const, expires_at: row.expires_at });
    },
  });

interface HandMade {
  readonly agent_id: string;
  readonly action?: string;
  readonly tool_name?: string;
  readonly description?: string;
  readonly action_summary?: string;
  readonly payload?: Record<string, unknown>;
  readonly session_id?: string;
}

const handMade = async ({ agents, store, ids, clock, timeoutSecs }: RouteDeps, actor: Actor, body: HandMade): Promise<RequestRow> => {
  const action = (body.action ?? body.tool_name ?? '').trim();
  if (action === '') throw approvalErrors.no_action();
  const agent = await agents.get(actor, body.agent_id);
  if ((await store.openOfAgent(agent.id)) >= MAX_PENDING_BY_HAND) throw approvalErrors.too_many(agent.name, MAX_PENDING_BY_HAND);
  const payload = JSON.stringify(body.payload ?? {});
  if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) throw approvalErrors.payload_too_large(MAX_PAYLOAD_BYTES);
  const id = ids.uuid();
  const seconds = timeoutSecs();
  return {
    id,
    owner_id: agent.ownerId,
    agent_id: agent.id,
    agent_name: agent.name,
    tool: action,
    description: body.description ?? body.action_summary ?? '',
    risk: riskOf(action, undefined),
    payload,
    preview: JSON.stringify({ kind: 'arguments', text: JSON.stringify(body.payload ?? {}, null, 2), truncated: false }),
    digest: '',
    command: null,
    call_id: id,
    run_id: '',
    parent_run_id: null,
    session_id: body.session_id ?? '',
    ...pendingFor(clock, seconds),
    on_timeout: 'deny',
    is_woken: 1,
    review: null,
    review_until: null,
  };
};

const auditRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'listApprovalDecisions',
    method: 'GET',
    path: '/api/approvals/audit',
    summary: 'List decisions about approval requests',
    description: 'Newest first, as long as `[approval] audit_retention_days` says.',
    cost: 5,
    query: Type.Object({
      limit: Limit,
      offset: Offset,
      agent_id: Type.Optional(Field.reference('agents', { description: 'Of this agent alone' })),
      tool_name: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    responses: {
      200: Type.Object({
        items: Type.Array(
          Type.Object(
            {
              ...Type.Pick(Approval, ['id', 'agent_id', 'tool_name', 'description', 'action_summary', 'risk_level', 'decided_by', 'requested_at', 'decided_at', 'feedback', 'second_factor_used'])
                .properties,
              request_id: Uuid,
              decision: OneOf(['approved', 'rejected', 'expired', 'skipped']),
            },
            { 'x-name': 'ApprovalDecision' },
          ),
        ),
        ...Listed,
      }),
    },
    handler: async ({ actor, query: { limit, offset, agent_id, tool_name } }) => {
      const { rows, total } = await deps.store.decided(actor, { ...(agent_id ? { agent_id } : {}), ...(tool_name ? { tool: tool_name } : {}) }, { limit, offset });
      const items = rows.map((row) => {
        const { id, agent_id, tool_name, description, action_summary, risk_level, decided_by, requested_at, decided_at, feedback, second_factor_used, status } = shown(deps, row);
        // Only decided ones were read.
        return {
          id,
          request_id: id,
          agent_id,
          tool_name,
          description,
          action_summary,
          risk_level,
          decision: status as Exclude<typeof status, 'pending'>,
          decided_by,
          requested_at,
          decided_at,
          feedback,
          second_factor_used,
        };
      });
      return reply(200, { items, total, offset, limit });
    },
  });

const countRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'countApprovals',
    method: 'GET',
    path: '/api/approvals/count',
    summary: 'Count approval requests',
    description: 'Of those that you can see: how many wait, and how many there are, decided ones included.',
    responses: { 200: Type.Object({ pending: Type.Integer(), total: Type.Integer() }) },
    handler: async ({ actor }) => reply(200, { pending: await deps.store.count(actor, { is_open: 1 }), total: await deps.store.count(actor) }),
  });

const Decision = Type.Object({ id: Uuid, status: OneOf(['approved', 'rejected']), decided_at: Type.String({ format: 'date-time' }) });

const batchRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'resolveApprovals',
    method: 'POST',
    path: '/api/approvals/batch',
    summary: 'Decide several approval requests',
    description: 'All or none: if one of them is missing, was decided already or needs a code, none is changed.',
    audit: 'approvals_decided',
    body: Type.Object(
      {
        ids: Type.Array(Uuid, { minItems: 1, maxItems: MAX_BATCH, uniqueItems: true }),
        decision: OneOf(['approve', 'reject']),
        feedback: Text(MAX_FEEDBACK, 'With `reject`: what the agents are told'),
      },
      { additionalProperties: false },
    ),
    examples: {
      approve: { ids: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e'], decision: 'approve' },
      reject: { ids: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', '0b9d7c6a-1e2f-4a3b-8c4d-5e6f7a8b9c0d'], decision: 'reject' },
      'reject with a reason': { ids: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e'], decision: 'reject', feedback: 'Not before Monday.' },
    },
    errors: [404, 409],
    responses: {
      200: Type.Object({ results: Type.Array(Type.Object({ id: Uuid, status: Type.Literal('ok'), decision: OneOf(['approved', 'rejected']), decided_at: Type.String({ format: 'date-time' }) })) }),
    },
    handler: async ({ actor, body: { ids, decision, feedback } }) => {
      const done = await decideMany(deps, actor, ids, { decision, ...(feedback === undefined ? {} : { feedback }) });
      return reply(200, { results: done.map(({ id, state, at }) => ({ id, status: 'ok' as const, decision: state, decided_at: at })) });
    },
  });

const grantRoutes = (deps: RouteDeps): RouteDecl[] => [
  route({
    id: 'listApprovalGrants',
    method: 'GET',
    path: '/api/approval-grants',
    summary: 'List remembered approvals',
    description: 'Calls that run without asking, because somebody chose `remember` when they approved one. The newest 500.',
    responses: { 200: Type.Object({ grants: Type.Array(Grant) }) },
    handler: async ({ actor }) => reply(200, { grants: (await deps.store.grants(actor)).map(grantShown) }),
  }),
  route({
    id: 'deleteApprovalGrant',
    method: 'DELETE',
    path: '/api/approval-grants/{id}',
    summary: 'Forget a remembered approval',
    description: 'Later calls wait for a person again.',
    audit: 'approval_grant_deleted',
    params: Id,
    errors: [404],
    responses: { 200: Type.Object({ status: Type.Literal('deleted'), id: Uuid }) },
    handler: async ({ actor, params: { id } }) => {
      if (!(await deps.store.findGrant(actor, id))) throw approvalErrors.grant_not_found(id);
      await deps.ctx.db.commit([deps.store.removeGrant(id)]);
      return reply(200, { status: 'deleted' as const, id });
    },
  }),
];

const oneRoutes = (deps: RouteDeps): RouteDecl[] => [
  route({
    id: 'getApproval',
    method: 'GET',
    path: '/api/approvals/{id}',
    summary: 'Get an approval request',
    description: 'What `preview` shows is made from the arguments of the call: the command, the changes of files, the address.',
    params: Id,
    errors: [404],
    responses: { 200: Approval },
    handler: async ({ actor, params: { id } }) => {
      const row = await deps.store.find(actor, id);
      if (!row) throw approvalErrors.not_found(id);
      return reply(200, shown(deps, row));
    },
  }),
  route({
    id: 'approveApproval',
    method: 'POST',
    path: '/api/approvals/{id}/approve',
    summary: 'Approve a request',
    description:
      'The run goes on and the call runs with exactly the arguments that were shown. Where `second_factor` is `totp` it needs `totp_code`: a code from your authenticator, or a recovery code. `remember` also approves such calls of this agent later.',
    audit: 'approval_approved',
    params: Id,
    bodyRule: 'optional',
    body: Type.Object({ totp_code: Type.Optional(Code('Six digits, or a recovery code')), remember: Type.Optional(Remember) }),
    examples: { once: {}, 'with a code': { totp_code: '492039' }, 'and the same call for an hour': { remember: { what: 'call', for: 'hour' } } },
    errors: [404, 409, 503],
    responses: { 200: Decision },
    handler: async ({ actor, params: { id }, body: { totp_code: code, remember } }) => {
      const done = await decideOne(deps, actor, id, { decision: 'approve', ...(code === undefined ? {} : { code }), ...(remember ? { remember } : {}) });
      return reply(200, { id, status: done.state, decided_at: done.at });
    },
  }),
  route({
    id: 'rejectApproval',
    method: 'POST',
    path: '/api/approvals/{id}/reject',
    summary: 'Reject a request',
    description: 'The call does not run, and the agent is told. It needs no code.',
    audit: 'approval_rejected',
    params: Id,
    bodyRule: 'optional',
    body: Type.Object({ feedback: Text(MAX_FEEDBACK, 'What the agent is told') }),
    examples: { 'without a reason': {}, 'with a reason': { feedback: 'Use the staging server.' }, 'what to do instead': { feedback: 'Write it to drafts/ first.' } },
    errors: [404, 409],
    responses: { 200: Decision },
    handler: async ({ actor, params: { id }, body: { feedback } }) => {
      const done = await decideOne(deps, actor, id, { decision: 'reject', ...(feedback === undefined ? {} : { feedback }) });
      return reply(200, { id, status: done.state, decided_at: done.at });
    },
  }),
];
