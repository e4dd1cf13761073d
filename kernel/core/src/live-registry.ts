/** Contributions that do something while they are visible: timers that tick, listeners that hear. */
import type { Disposable } from '@svc/api';
import { type Contribution, ContributionRegistry } from './contribution-registry.js';
import type { Owner } from './owner.js';

export interface LiveContribution {
  readonly label: string;
  /** Called when it becomes visible; the result is disposed when it no longer is. */
  begin(owner: Owner): Disposable;
}

export class LiveRegistry extends ContributionRegistry<LiveContribution> {
  constructor(name: string) {
    const running = new Map<LiveContribution, Disposable>();
    super(name, {
      describe: ({ label }) => label,
      changed: (active) => follow(running, active),
    });
  }
}

function follow(running: Map<LiveContribution, Disposable>, active: ReadonlyArray<Contribution<LiveContribution>>): void {
  const wanted = new Set(active.map((row) => row.value));
  for (const [value, handle] of running) {
    if (wanted.has(value)) continue;
    running.delete(value);
    void handle.dispose();
  }
  for (const { owner, value } of active) {
    if (!running.has(value)) running.set(value, value.begin(owner));
  }
}
