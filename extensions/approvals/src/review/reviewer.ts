/** Asks the model of `[approval.reviewer]` about one request. Rejects with a reason for the person where it gives no decision. */
import { type Actor, isSvcError, type Write } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { choiceNamed, type LlmService, type ModelRequest } from '@svc/ext-llm/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { Reviewer } from '../config.js';
import type { RequestRow } from '../contract.js';
import { readAnswer, REVIEW_INSTRUCTION, type ReviewAnswer, reviewQuestion } from './review-text.js';

export interface ReviewerDeps {
  readonly agents: Pick<AgentsService, 'find'>;
  readonly llm: () => Pick<LlmService, 'complete'> | undefined;
  readonly sessions: () => Pick<SessionsService, 'get' | 'entries'> | undefined;
}

export interface Reviewed extends ReviewAnswer {
  readonly by: string;
  /** What the call cost; belongs into the commit of the decision. */
  readonly settle: readonly Write[];
}

const MAX_ANSWER_TOKENS = 400;
const LAST_ENTRIES = 50;

/** Why there is no decision, for the person who is asked instead. `settle` is what was spent all the same. */
export class NoReview extends Error {
  readonly settle: readonly Write[];
  /** The reviewer answered, and said nothing that can be read: a person is not shown a line about it. The audit trail has the reason. */
  readonly saysNothing: boolean;

  constructor(why: string, settle: readonly Write[] = [], saysNothing = false) {
    super(why);
    this.settle = settle;
    this.saysNothing = saysNothing;
  }
}

export const reviewerName = ({ agent, model = 'default' }: Reviewer): string => `reviewer:${agent ?? model}`;

export const askReviewer = async (deps: ReviewerDeps, actor: Actor, row: RequestRow, reviewer: Reviewer, signal: AbortSignal): Promise<Reviewed> => {
  const llm = deps.llm();
  if (!llm) throw new NoReview('no model can be asked');
  const agent = reviewer.agent === undefined ? undefined : await agentNamed(deps, actor, reviewer.agent, row);
  const request: ModelRequest = {
    ...modelOf(reviewer, agent),
    system: agent ? `${agent.manifest.model.system_prompt}\n\n${REVIEW_INSTRUCTION}` : REVIEW_INSTRUCTION,
    messages: [{ role: 'user', parts: [{ type: 'text', text: reviewQuestion(row, await lastSaid(deps, actor, row)) }] }],
    tools: [],
    maxTokens: MAX_ANSWER_TOKENS,
    temperature: 0,
    timeoutMs: reviewer.timeout_secs * 1_000,
  };
  // Without an agent of its own, the agent whose call it is pays: within its budget, and shown with its run.
  const context = { actor, agentId: agent?.id ?? row.agent_id, runId: row.run_id, purpose: 'review' as const };
  const { text, calls, stop, settle } = await llm.complete(request, context, { signal }).catch((error: unknown) => {
    throw new NoReview(signal.aborted ? `it did not answer within ${reviewer.timeout_secs} s` : `its model failed${isSvcError(error) ? ` (${error.code})` : ''}`);
  });
  const answer = calls.length === 0 && stop === 'end' ? readAnswer(text) : undefined;
  if (!answer) throw new NoReview('its answer was not in the form that is required', settle, true);
  return { ...answer, by: reviewerName(reviewer), settle };
};

/** An agent that a person made, and not the one whose call it is: no agent spawns its own reviewer. */
const agentNamed = async ({ agents }: ReviewerDeps, actor: Actor, name: string, row: RequestRow): Promise<Agent> => {
  const agent = await agents.find(actor, name);
  if (!agent) throw new NoReview(`there is no agent "${name}"`);
  if (agent.state !== 'Running') throw new NoReview(`the agent "${name}" is not running`);
  if (agent.parentId !== null) throw new NoReview(`the agent "${name}" was spawned by another agent`);
  if (agent.id === row.agent_id) throw new NoReview('an agent does not review its own calls');
  return agent;
};

const modelOf = ({ model = 'default' }: Reviewer, agent: Agent | undefined): Pick<ModelRequest, 'provider' | 'model' | 'fallbacks'> => {
  if (agent) return { provider: agent.manifest.model.provider, model: agent.manifest.model.model, fallbacks: agent.manifest.fallback_models };
  return { ...choiceNamed(model), fallbacks: [] };
};

/** Empty where nobody can tell. */
const lastSaid = async ({ sessions }: ReviewerDeps, actor: Actor, row: RequestRow): Promise<string> => {
  const service = sessions();
  if (!service || row.session_id === '') return '';
  const { seq } = await service.get(actor, row.session_id);
  const entries = await service.entries(actor, row.session_id, { after: Math.max(0, seq - LAST_ENTRIES), limit: LAST_ENTRIES });
  const last = entries.filter(({ kind }) => kind === 'user').at(-1);
  return (last?.parts ?? []).flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');
};
