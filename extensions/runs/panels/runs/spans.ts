/** The steps of a run with the waits between them, as stretches of its time. */
import type { Run, Step } from './run-state.js';

/** Shorter than this, and than this share of all, is no wait that anybody would look for. */
const LEAST_WAIT_MS = 250;
const LEAST_SHARE = 0.02;

export interface Span {
  readonly kind: 'step' | 'wait';
  /** Undefined of a wait. */
  readonly step?: Step;
  /** Before the first step: other runs of its conversation went before it. */
  readonly isFirst: boolean;
  /** From the beginning of the run. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly goesOn: boolean;
}

export const spansOf = (run: Run, now: number): { spans: readonly Span[]; totalMs: number } => {
  const begin = Date.parse(run.started_at);
  const since = (iso: string | null): number => Math.max(0, (iso === null ? now : Date.parse(iso)) - begin);
  const totalMs = Math.max(1, since(run.ended_at), ...run.steps.map(({ ended_at }) => since(ended_at)));
  const spans: Span[] = [];
  let reached = 0;
  const wait = (toMs: number, goesOn: boolean): void => {
    if (toMs - reached >= Math.max(LEAST_WAIT_MS, totalMs * LEAST_SHARE)) spans.push({ kind: 'wait', isFirst: spans.length === 0, fromMs: reached, toMs, goesOn });
  };
  for (const step of run.steps) {
    const fromMs = since(step.started_at);
    wait(fromMs, false);
    const toMs = Math.max(fromMs, since(step.ended_at));
    spans.push({ kind: 'step', step, isFirst: false, fromMs, toMs, goesOn: step.ended_at === null });
    reached = Math.max(reached, toMs);
  }
  const isWaiting = run.status === 'waiting' || run.status === 'queued';
  if (isWaiting) wait(totalMs, true);
  return { spans, totalMs };
};
