/**
 * The first step of a message that begins at once: found before the message is accepted, so that one commit holds both.
 *
 * F1  Nothing happens outside and nothing is kept: until the commit there is no run.
 * F2  Whatever fails or takes long here is left to the loop, which finds it again and says what is wrong.
 */
import type { FirstStep, LeasedRun } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { inputOf } from '../run-input.js';
import { type BegunRun, type LoopDeps, systemFor, toolsOf } from './agent-loop.js';
import { buildRequest, intentOf } from './model-phase.js';
import { asFirstStep, beginProgress } from './progress.js';

/** Whoever sent the message waits for it to be accepted. */
const PATIENCE_MS = 100;
/** Nobody reads it: without a reason of ours, each end would make one with a stack. */
const FOUND = new Error('the first step was found');

export interface FirstSteps {
  /** Undefined when there is none yet. */
  find(run: LeasedRun, agent: Agent): Promise<FirstStep | undefined>;
  /** What was found for this run, once. */
  take(run: LeasedRun): BegunRun | undefined;
}

export const createFirstSteps = (deps: LoopDeps): FirstSteps => {
  const begun = new WeakMap<LeasedRun, BegunRun>();
  return {
    find: async (run, agent) => {
      const looking = firstOf(deps, run, agent);
      // Only other areas can take long, and most messages ask none: those need no timer.
      const found = await (deps.prompts.areOwn() && !bringsPicture(run) ? looking : within(deps, looking));
      if (!found) return undefined;
      begun.set(run, found.begun);
      return found.step;
    },
    take: (run) => {
      const found = begun.get(run);
      begun.delete(run);
      return found;
    },
  };
};

/** It is read from a disk. */
const bringsPicture = (run: LeasedRun): boolean => inputOf(run).parts?.some((part) => part.type === 'image' && part.file !== undefined) ?? false;

async function within<T>(deps: Pick<LoopDeps, 'clock'>, looking: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([looking, deps.clock.sleep(PATIENCE_MS, over.signal).then(() => undefined)]);
  } finally {
    over.abort(FOUND);
  }
}

async function firstOf(deps: LoopDeps, run: LeasedRun, agent: Agent): Promise<{ step: FirstStep; begun: BegunRun }> {
  const session = await deps.sessions.ensure(systemFor(deps, run), agent.id, inputOf(run).sessionId);
  const progress = beginProgress(deps.actors, run, agent, { ...session, ownerId: run.ownerId }, run.signal);
  const tools = await toolsOf(deps, progress);
  const request = await buildRequest(deps, progress, tools);
  const { spec, writes, reservation } = await intentOf(deps, progress, request);
  return { step: asFirstStep(progress, spec, writes), begun: { progress, tools, call: { request, seq: spec.seq, reservation } } };
}
