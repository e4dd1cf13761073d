/**
 * The tap of tool.before: whether a call runs, waits or is refused.
 *
 * A1  A call has one request, made once: by its run and call id, and not before the call is stored. What was decided holds for those arguments alone, by their digest.
 * A2  A call that waits costs nothing: the run sleeps in the journal. After each wake the rules and the request are asked anew.
 * A3  A direct call without a run waits for nobody, and leaves no request.
 */
import type { Clock, ExtensionContext, ToolRequest, Verdict } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import type { Approval } from '../config.js';
import { ApprovalRequested, type RequestRow } from '../contract.js';
import { riskOf } from '../policy/risk.js';
import { isAskedOf, rulingOn } from '../policy/agent-rules.js';
import { commandOf } from '../policy/rules.js';
import { isRemembered, MAX_COMMAND_CHARS } from './remembered.js';
import type { Reviews } from '../review/reviews.js';
import { pendingFor, type RequestStore } from './store.js';
import { factOf, type Timeouts } from './timeouts.js';

export interface AskingDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events' | 'ids' | 'actors'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  readonly store: RequestStore;
  readonly timeouts: Timeouts;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly tools: Pick<ToolsService, 'preview'>;
  readonly settings: () => Approval;
  readonly reviews: Pick<Reviews, 'columnsFor' | 'begin'>;
}

/** In the place of whoever decided. */
export const BY_REMEMBERED = 'remembered approval';
const REVIEWER = 'reviewer:';
const MAX_PENDING_OF_AGENT = 100;
const MAX_PAYLOAD_CHARS = 64_000;

export const createAsking =
  (deps: AskingDeps) =>
  async (request: ToolRequest): Promise<Verdict | undefined> => {
    const agent = await agentOf(deps, request);
    return isAskedOf(deps.settings(), agent) ? verdictOn(deps, request, agent) : undefined;
  };

/** Undefined for a call without one. */
export const agentOf = async ({ agents }: Pick<AskingDeps, 'agents'>, { call }: Pick<ToolRequest, 'call'>): Promise<Agent | undefined> =>
  call.agentId === '' ? undefined : agents.get(call.actor, call.agentId);

const verdictOn = async (deps: AskingDeps, request: ToolRequest, agent: Agent | undefined): Promise<Verdict | undefined> => {
  const settings = deps.settings();
  const { tool } = request;
  const agentName = agent?.name ?? '';
  const risk = riskOf(tool.name, tool.risk);
  const ruling = rulingOn(settings, agent, { request, risk, agentName });
  if (ruling.action === 'run') return undefined;
  if (ruling.action === 'deny') return { deny: `This call is refused: ${ruling.why}.`, code: 'approval_denied' };
  return ask(deps, request, { agentName, risk, why: ruling.why });
};

/** The service: another policy wants a person to decide. Rules of [approval] are not asked, and no reviewer: what talked one model into a call may talk to the next. */
export const askFor = async (deps: AskingDeps, request: ToolRequest, why: string): Promise<Verdict | undefined> =>
  ask(deps, request, { agentName: (await agentOf(deps, request))?.name ?? '', risk: riskOf(request.tool.name, request.tool.risk), why }, true);

interface Asked {
  readonly agentName: string;
  readonly risk: string;
  readonly why: string;
}

const ask = async (deps: AskingDeps, request: ToolRequest, { agentName, risk, why }: Asked, isForPerson = false): Promise<Verdict | undefined> => {
  const { tool, call } = request;
  const known = call.runId === '' ? undefined : await deps.store.ofCall(call.runId, call.callId);
  if (known) return answerOf(deps, known, request);
  if (isRemembered(await deps.store.grantsFor(call.agentId, tool.name), request, deps.clock.iso())) return undefined;
  if (call.runId === '' || request.isProvisional) return { suspend: { reason: why, wakeKey: '' } };
  if ((await deps.store.openOfAgent(call.agentId)) >= MAX_PENDING_OF_AGENT)
    return { deny: `This call is refused: ${MAX_PENDING_OF_AGENT} calls of this agent already wait for approval.`, code: 'approval_too_many' };
  const row = await rowOf(deps, request, { agentName, risk, why }, isForPerson);
  // A person hears of it when the reviewer leaves it to them.
  const announced = row.review_until === null ? [deps.ctx.events.event(ApprovalRequested, { ...factOf(row), risk: row.risk, description: row.description })] : [];
  await deps.ctx.db.commit([deps.store.insert(row), ...announced]);
  deps.reviews.begin(row);
  return waitFor(row);
};

const waitFor = (row: RequestRow): Verdict => ({ suspend: { reason: row.description, wakeKey: row.id, until: row.expires_at, data: { approval_id: row.id, tool: row.tool } } });

const answerOf = async (deps: AskingDeps, row: RequestRow, request: ToolRequest): Promise<Verdict | undefined> => {
  if (row.digest !== request.digest) return { deny: 'This call is refused: its arguments are not those that were shown for approval.', code: 'approval_mismatch' };
  if (row.is_woken === 0 && row.is_open === 0) await deps.ctx.db.commit([deps.store.markWoken([row.id])]);
  if (row.state === 'approved') return undefined;
  if (row.state === 'rejected') {
    const said = row.feedback ? ` They said: ${row.feedback}` : '';
    return {
      deny: `${row.decided_by?.startsWith(REVIEWER) ? 'The reviewer' : 'A person'} rejected this call of ${row.tool}.${said} Do not try the same by another way. Say what you wanted to do, and go on without it.`,
      code: 'approval_rejected',
    };
  }
  if (row.state === 'expired')
    return { deny: `Nobody approved this call of ${row.tool} within ${row.timeout_secs} s, so it was refused. Go on without it, or ask the person.`, code: 'approval_expired' };
  if (row.state === 'skipped') return { deny: `Nobody approved this call of ${row.tool} in time, so it was skipped. Go on without it.`, code: 'approval_skipped' };
  if (isRemembered(await deps.store.grantsFor(request.call.agentId, row.tool), request, deps.clock.iso())) {
    await deps.timeouts.resolve(row, 'approved', BY_REMEMBERED);
    return answerAgain(deps, row, request);
  }
  if (row.expires_at > deps.clock.iso()) return waitFor(row);
  await deps.timeouts.expire(row);
  return answerAgain(deps, row, request);
};

const answerAgain = async (deps: AskingDeps, { run_id: runId, call_id: callId }: RequestRow, request: ToolRequest): Promise<Verdict | undefined> => {
  const now = await deps.store.ofCall(runId, callId);
  return now ? answerOf(deps, now, request) : { deny: 'This call is refused: its approval request was deleted.', code: 'approval_expired' };
};

const rowOf = async ({ ctx, clock, tools, settings, reviews }: AskingDeps, request: ToolRequest, facts: Asked, isForPerson: boolean): Promise<RequestRow> => {
  const { tool, args, call, digest } = request;
  const { timeout_secs: seconds, timeout_fallback: fallback } = settings();
  const preview = await tools.preview({ name: tool.name, args, call, earlier: [] });
  const row = {
    id: ctx.ids.uuid(),
    owner_id: call.actor.ownerId,
    agent_id: call.agentId,
    agent_name: facts.agentName,
    tool: tool.name,
    description: facts.why,
    risk: facts.risk,
    payload: payloadOf(args),
    preview: JSON.stringify(preview),
    digest,
    command: commandOf(request)?.slice(0, MAX_COMMAND_CHARS + 1) ?? null,
    call_id: call.callId,
    run_id: call.runId,
    parent_run_id: call.parentRunId ?? null,
    session_id: call.sessionId,
    ...pendingFor(clock, seconds),
    on_timeout: fallback,
    is_woken: 0,
  };
  return { ...row, ...(isForPerson ? { review: null, review_until: null } : reviews.columnsFor(row)) };
};

/** What is larger is cut for the row; the digest stands for all of it. */
const payloadOf = (args: unknown): string => {
  const text = JSON.stringify(args) ?? 'null';
  return text.length <= MAX_PAYLOAD_CHARS ? text : JSON.stringify({ truncated: true, text: text.slice(0, MAX_PAYLOAD_CHARS) });
};
