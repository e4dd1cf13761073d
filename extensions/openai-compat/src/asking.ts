/** One request of /v1, in whichever protocol, becomes a message to an agent or results for a run that waits. */
import type { Actor, Clock, Req } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Parameters } from '@svc/ext-llm/contract';
import type { ClientTools, RunsService, Submitted } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { uuidOf } from './conversation/derived-ids.js';
import type { Named } from './conversation/model-ids.js';
import type { People } from './conversation/people.js';
import type { Asked, AskedToGoOn } from './request/asked.js';

export interface CompatDeps {
  readonly agents: AgentsService;
  readonly runs: RunsService;
  readonly sessions: SessionsService;
  readonly people: People;
  readonly clock: Clock;
}

/** Longer than this no client is left without headers: proxies and clients give up on a server that says nothing. */
export const MAX_SILENCE_MS = 15_000;

/** What the model is asked with beside the words. */
export interface Terms {
  readonly clientTools?: ClientTools | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly parameters?: Parameters | undefined;
}

export interface Asking {
  readonly actor: Actor;
  readonly named: Named;
  readonly asked: Asked | AskedToGoOn;
  readonly terms: Terms;
  readonly headers: Req['headers'];
  /** Of a message that does not stand alone. Results find their conversation by themselves. */
  readonly sessionId: string | undefined;
}

export interface Answering extends Submitted {
  /** Of this answer: a run that waits for its client gives several, and clients tell answers apart by it. */
  readonly answerId: string;
}

export async function ask({ runs }: Pick<CompatDeps, 'runs'>, { actor, named, asked, terms, headers, sessionId }: Asking): Promise<Answering> {
  const agentId = named.agent.id;
  const said = withoutMissing(terms);
  if ('results' in asked) {
    const { results, systemExtra } = asked;
    const submitted = await runs.answerCalls(actor, { agentId, results: [...results], turn: { ...said, ...(systemExtra === undefined ? {} : { systemExtra }) } });
    return { ...submitted, answerId: uuidOf(['openai-compat.answer', submitted.runId, ...results.map(({ callId }) => callId)]) };
  }
  const submitted = await runs.submit(actor, { agentId, door: 'openai', ...asked, ...said, ...(sessionId === undefined ? {} : { sessionId }), ...askedAgain(headers) });
  return { ...submitted, answerId: submitted.runId };
}

const withoutMissing = ({ clientTools, maxTokens, temperature, parameters }: Terms) => ({
  ...(clientTools === undefined ? {} : { clientTools }),
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(parameters === undefined ? {} : { parameters }),
});

/** How a client says that it sends this again. */
const askedAgain = (headers: Req['headers']): { key?: string; isResend?: true } => {
  const key = headers['idempotency-key'];
  return { ...(key === undefined ? {} : { key }), ...(Number(headers['x-stainless-retry-count'] ?? 0) > 0 ? { isResend: true } : {}) };
};
