/**
 * A session that goes on from a place in another one.
 *
 * Z1  It has what was said until there, entry by entry under the same numbers, in one commit. The other session stays as it is.
 * Z2  An answer stands in it with its calls and all their results, or not at all.
 * Z3  Nothing that still goes on stands in it.
 * Z4  What was said and spent in the other session is found and counted there.
 */
import type { Actor, Db, HookHandle, Write } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionActive, SessionRef, SessionsService } from '../contract.js';
import { sessionsErrors } from '../errors.js';
import { type ListedSession, runsGoingOn } from '../listing.js';
import type { BranchStore } from './branch-store.js';
import { type Outlined, wholeTurns } from './turns.js';

export interface BranchingDeps {
  readonly store: BranchStore;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly goingOn: HookHandle<typeof SessionActive>;
  readonly sessions: Pick<SessionsService, 'create' | 'get' | 'setThinking'>;
  commit: Db['commit'];
  /** Something stands there that lists and searches show. */
  said(): void;
}

/** Entries that are looked at on each side of the cut: an answer has as many calls at most. */
const REACH = 1_000;

/** Behind which entry, or before which one; both left out, behind the newest. */
export interface BranchPlace {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

export interface Branch {
  readonly ref: SessionRef;
  /** The last entry that both have; 0 where it begins empty. */
  readonly through: number;
}

export type Branching = (actor: Actor, from: ListedSession, place: BranchPlace, options: { readonly label?: string; also(branch: Branch): readonly Write[] }) => Promise<Branch>;

/** Throws `sessions_two_places`, `sessions_no_such_entry`, `sessions_run_going_on`. */
export const createBranching =
  (deps: BranchingDeps): Branching =>
  async (actor, from, place, { label, also }) => {
    if (place.after !== undefined && place.before !== undefined) throw sessionsErrors.two_places();
    const agent = await deps.agents.get(actor, from.agentId);
    const source = await deps.sessions.get(actor, from.id);
    const asked = place.after ?? place.before ?? source.seq;
    // Read before the log: a run that ends meanwhile is refused once more than needed, and none is overlooked.
    const active = await activeRuns(deps, actor, from);
    const near = await deps.store.outline(from.id, Math.max(0, asked - REACH), 2 * REACH);
    if (asked !== 0 && (asked > source.seq || !near.some(({ seq }) => seq === asked))) throw sessionsErrors.no_such_entry(asked, source.seq);
    const through = place.before === undefined ? wholeTurns(near, asked, 'all') : wholeTurns(near, asked - 1, 'none');
    if (near.some((entry) => entry.seq <= through && isOf(active, entry))) throw sessionsErrors.run_going_on();
    const { ref, writes } = await deps.sessions.create({ ...actor, ownerId: from.ownerId }, agent.id, label === undefined ? {} : { label });
    const branch: Branch = { ref, through };
    await deps.commit([...writes, ...(await deps.store.copy(from.id, ref.id, through)), ...(await thinkingOf(deps, actor, source, ref)), ...also(branch)]);
    deps.said();
    return branch;
  };

const activeRuns = async ({ goingOn }: BranchingDeps, actor: Actor, { id, agentId }: ListedSession): Promise<ReadonlySet<string>> =>
  new Set((await runsGoingOn(goingOn, actor, agentId)).flatMap(({ runId, sessionId }) => (sessionId === id ? [runId] : [])));

const isOf = (active: ReadonlySet<string>, { runId }: Outlined): boolean => runId !== null && active.has(runId);

const thinkingOf = async ({ sessions }: BranchingDeps, actor: Actor, { thinking }: SessionRef, ref: SessionRef): Promise<readonly Write[]> =>
  thinking === undefined ? [] : sessions.setThinking(actor, ref, thinking);
