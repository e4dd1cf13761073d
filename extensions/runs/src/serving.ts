/** What runs answers to the areas below it, which do not know it. */
import type { Actor, AtOnceService, Clock, ExtensionContext } from '@svc/api';
import { AgentHalt, type AgentsService } from '@svc/ext-agents/contract';
import { SessionActive, SessionClosing, SessionSent } from '@svc/ext-sessions/contract';
import type { Sent, SentTokens } from './loop/sent.js';
import { RunStarted, type RunsService } from './contract.js';

/** Runs that are looked at to tell which sessions are at work. */
const MAX_ACTIVE_RUNS = 1_000;
/** How long a run that was stopped may take to end; its session goes then all the same. */
const STOP_WAIT_MS = 5_000;
const POLL_MS = 25;

interface ServingDeps {
  readonly sent: Pick<Sent, 'of'>;
  /** Before the first message of an agent since the start. */
  readonly wouldSend: (agentId: string) => Promise<SentTokens | undefined>;
  readonly runs: Pick<RunsService, 'list' | 'stop'>;
  readonly agents: Pick<AtOnceService<AgentsService>, 'touch'>;
}

export const serveAreasBelow = ({ hooks, events, clock }: Pick<ExtensionContext, 'hooks' | 'events' | 'clock'>, { runs, agents, sent, wouldSend }: ServingDeps): void => {
  hooks.tap(SessionSent, async ({ agentId }) => sent.of(agentId) ?? (await wouldSend(agentId)) ?? null);
  events.on(RunStarted, ({ agentId }) => agents.touch(agentId));
  hooks.tap(AgentHalt, ({ actor, agentId, why }) => runs.stop(actor, { agentId }, why));
  hooks.tap(SessionActive, async ({ actor, agentId }) => {
    const going = await runs.list(actor, { active: true, limit: MAX_ACTIVE_RUNS, ...(agentId === undefined ? {} : { agentId }) });
    return going.map(({ id, sessionId }) => ({ runId: id, sessionId }));
  });
  hooks.tap(SessionClosing, ({ actor, agentId, sessionIds }) => stopIn({ runs, clock }, actor, agentId, new Set(sessionIds)));
};

/** Resolves when nothing runs there any more, or after a while. */
async function stopIn({ runs, clock }: Pick<ServingDeps, 'runs'> & { readonly clock: Pick<Clock, 'mono' | 'sleep'> }, actor: Actor, agentId: string, sessionIds: ReadonlySet<string>): Promise<void> {
  const going = async (): Promise<readonly { readonly id: string }[]> => (await runs.list(actor, { agentId, active: true, limit: MAX_ACTIVE_RUNS })).filter((run) => sessionIds.has(run.sessionId));
  for (const run of await going()) await runs.stop(actor, { runId: run.id }, 'its session was deleted');
  const until = clock.mono() + STOP_WAIT_MS;
  while ((await going()).length > 0 && clock.mono() < until) await clock.sleep(POLL_MS);
}
