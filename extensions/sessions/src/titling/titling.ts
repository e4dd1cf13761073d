/**
 * Titles: after the first answer a model names the conversation, where somebody asks for that.
 *
 * L1  It is one small call of a model within the agent's budget, and a run of its own in the journal: no message waits for it.
 * L2  What a person called the conversation stands before it, whichever comes first.
 * L3  A conversation is named once. Where no model answers, it has no title, and shows how it began.
 * L4  What is not stored (incognito messages, side questions) is not read: there is no title of it.
 */
import type { Actors, Journal, LeasedRun, Logger, OptionalHandle, Write } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { SessionConfig } from '../config.js';
import { type Entry, Titling } from '../contract.js';
import { orEnd } from '../ended-work.js';
import type { ListedSession } from '../listing.js';
import type { ChangeEvents } from '../service.js';
import { beginningOf, titleOf, titleRequest } from './title-text.js';

export interface TitlingDeps {
  readonly journal: Journal;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly llm: OptionalHandle<LlmService>;
  readonly log: Logger;
  /** Aborted when this generation has no more time: its calls go on in the next. */
  readonly closing: AbortSignal;
  config(): SessionConfig;
  /** The first entries of a session. */
  beginning(sessionId: string): Promise<readonly Entry[]>;
  /** Names it and all versions of its conversation that have no title yet. */
  setTitle(sessionId: string, title: string): Write;
  titleOf(sessionId: string): Promise<string | null>;
  changeEvents: ChangeEvents;
}

export interface Titler {
  /** The title that it has then; null where it has none. */
  name(session: ListedSession): Promise<string | null>;
}

interface TitlingInput {
  readonly agentId: string;
  readonly sessionId: string;
}

const AT_ONCE = 4;

/** What `name` stored. */
const inputOf = ({ input }: LeasedRun): TitlingInput => input as TitlingInput;

export const createTitler = (deps: TitlingDeps): Titler => {
  const worker = deps.journal.worker(Titling, { concurrency: AT_ONCE, drive: (run) => nameOrEnd(deps, run) });
  return {
    name: async ({ id, agentId, ownerId, title, label }) => {
      if (title !== null || label !== null || !deps.config().titles || beginningOf(await deps.beginning(id)) === undefined) return title;
      const input: TitlingInput = { agentId, sessionId: id };
      const { leased } = await deps.journal.open({ kind: Titling.name, actor: deps.actors.of(ownerId), lane: `title:${id}`, subject: agentId, session: id, input });
      // Where another call is under way, its title is told by an event.
      if (leased) await worker.take(leased);
      return deps.titleOf(id);
    },
  };
};

const nameOrEnd = (deps: TitlingDeps, run: LeasedRun): Promise<void> =>
  orEnd(deps, run, () => name(deps, run), {
    code: 'sessions_not_named',
    message: 'The conversation could not be named.',
    unstored: 'the end of a call for a title could not be stored; it will be claimed again',
    note: (cause) => deps.log.debug('a conversation has no title: no model named it', { session: inputOf(run).sessionId, cause }),
  });

async function name(deps: TitlingDeps, run: LeasedRun): Promise<void> {
  const { agentId, sessionId } = inputOf(run);
  // Another call, which this one waited for, has named it.
  if ((await deps.titleOf(sessionId)) !== null) return deps.journal.advance(run, { finish: { status: 'done' } });
  const title = await deps.journal.step(run, { seq: 1, kind: 'model', key: run.id, replay: 'safe', intent: {} }, async () => {
    const { text, settle } = await ask(deps, run);
    return { value: text, outcome: text, also: settle };
  });
  const writes = title === '' ? [] : [deps.setTitle(sessionId, title), ...deps.changeEvents({ id: sessionId, agentId, ownerId: run.ownerId }, 'changed')];
  await deps.journal.advance(run, { finish: { status: 'done' }, also: writes });
}

async function ask(deps: TitlingDeps, run: LeasedRun): Promise<{ text: string; settle: readonly Write[] }> {
  const nothing = { text: '', settle: [] };
  const { agentId, sessionId } = inputOf(run);
  const llm = deps.llm.value;
  const beginning = beginningOf(await deps.beginning(sessionId));
  if (!llm || beginning === undefined) return nothing;
  const actor = deps.actors.of(run.ownerId);
  const agent = await deps.agents.get(actor, agentId);
  const request = titleRequest(agent, deps.config().title_model, beginning);
  // The mock provider names nothing.
  if ((await llm.resolve(request)).provider === 'builtin') return nothing;
  const { text, settle } = await llm.complete(request, { actor, agentId, runId: run.id, purpose: 'title' }, { signal: run.signal });
  return { text: titleOf(text) ?? '', settle };
}
