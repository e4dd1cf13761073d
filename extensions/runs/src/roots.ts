/**
 * What a run inherits from the run at the beginning of all that led to it.
 *
 * X1  Runs below one root are counted together, over all kinds of work, in the commit that accepts each: none is too many.
 * X2  What no person began ends after [roots] max_hours, and spends max_cost_usd at most, whoever of its runs spends it.
 * X3  A run is one deeper than the run that began it, whatever its sender says.
 * X4  What no person began waits in the queue for room of its own ([queue.concurrency]), so that people's messages go first. What an agent waits for does not: the agent would hold that room meanwhile.
 */
import type { Clock, Journal } from '@svc/api';
import type { Pool, RootsConfig } from './config.js';
import type { Cause, RunDraft } from './contract.js';
import { runErrors } from './errors.js';
import { inputOf } from './run-input.js';

export interface Draft extends RunDraft {
  /** When its root began, where no person began that. */
  readonly rootSince?: string;
  /** Whose room it waits for, where no person and no agent waits for its answer. */
  readonly pool?: Pool;
}

export interface RootDeps {
  readonly journal: Pick<Journal, 'get' | 'root'>;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly actors: { system(why: string): Parameters<Journal['get']>[0] };
  roots(): RootsConfig;
}

const HOUR_MS = 3_600_000;

/** Nobody waits for an answer of these. */
const PATIENT: ReadonlySet<Cause['kind']> = new Set(['cron', 'schedule', 'trigger', 'webhook', 'workflow', 'task', 'goal']);
/** A person wrote; in a channel, in their words. */
const BY_PERSON: ReadonlySet<Cause['kind']> = new Set(['message', 'channel']);

/** A message of a person, as nearly all are, is returned as it is. Throws `run_root_too_long`. */
export const belowItsRoot = (deps: RootDeps, draft: RunDraft): Draft | Promise<Draft> => {
  if (draft.parentRunId === undefined && draft.cause === undefined) return draft;
  return placed(deps, draft);
};

const placed = async (deps: RootDeps, draft: RunDraft): Promise<Draft> => {
  const { parentRunId, cause } = draft;
  const isPatient = draft.isPatient ?? (cause !== undefined && PATIENT.has(cause.kind));
  if (parentRunId === undefined) return { ...draft, isPatient, ...(cause === undefined || BY_PERSON.has(cause.kind) ? {} : { rootSince: deps.clock.iso(), ...poolOf(cause, isPatient, draft.depth) }) };
  const [root, parent] = await Promise.all([deps.journal.root(parentRunId), deps.journal.get(deps.actors.system('depth of runs'), parentRunId)]);
  // Work of another kind says by itself how deep it is.
  const depth = parent ? Math.max(draft.depth ?? 0, (inputOf(parent).depth ?? 0) + 1) : (draft.depth ?? 0);
  const rootSince = root && root.cause !== null && !BY_PERSON.has(root.cause.kind) ? root.createdAt : undefined;
  refuseTooLong(deps, rootSince);
  return { ...draft, isPatient, depth, ...(rootSince === undefined || !root?.cause ? {} : { rootSince, ...poolOf(root.cause, isPatient, depth) }) };
};

const poolOf = ({ kind }: Pick<Cause, 'kind'>, isPatient: boolean, depth = 0): { readonly pool?: Pool } =>
  isPatient && depth === 0 ? { pool: kind === 'cron' || kind === 'schedule' ? 'cron' : 'trigger' } : {};

/** X2. Throws `run_root_too_long`. */
export const refuseTooLong = ({ clock, roots }: { readonly clock: Pick<Clock, 'now'> } & Pick<RootDeps, 'roots'>, rootSince: string | undefined): void => {
  const { max_hours: hours } = roots();
  if (rootSince !== undefined && hours > 0 && clock.now() - Date.parse(rootSince) > hours * HOUR_MS) throw runErrors.root_too_long(hours);
};
