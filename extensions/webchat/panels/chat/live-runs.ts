/** The runs that this tab watches, drawn once a frame however fast they speak. */
import { signal } from '@svc/kit';
import type { LiveRun } from './live-run.js';

export interface LiveRuns {
  readonly all: { readonly value: readonly LiveRun[]; peek(): readonly LiveRun[] };
  add(live: LiveRun): void;
  change(id: string, make: (live: LiveRun) => LiveRun): void;
  /** As it is by now, drawn or not. */
  now(id: string): LiveRun | undefined;
  /** Shows what was heard, without waiting for the next frame. */
  draw(): void;
  drop(id: string): void;
  close(): void;
}

export const createLiveRuns = (): LiveRuns => {
  const all = signal<readonly LiveRun[]>([]);
  /** What was heard since the last frame was drawn. */
  const received = new Map<string, LiveRun>();
  let frame = 0;
  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    all.value = all.peek().map((live) => received.get(live.id) ?? live);
    received.clear();
  };
  const now = (id: string): LiveRun | undefined => received.get(id) ?? all.peek().find((one) => one.id === id);
  return {
    all,
    now,
    draw,
    add: (live) => {
      all.value = [...all.peek(), live];
    },
    change: (id, make) => {
      const live = now(id);
      if (!live) return;
      received.set(id, make(live));
      // A tab that is not seen draws no frames; what it heard must not wait for one without end.
      if (document.hidden) draw();
      else if (frame === 0) frame = requestAnimationFrame(draw);
    },
    drop: (id) => {
      received.delete(id);
      all.value = all.peek().filter((live) => live.id !== id);
    },
    close: () => cancelAnimationFrame(frame),
  };
};
