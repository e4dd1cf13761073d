/** Contributions that do something while they are visible: timers that tick, listeners that hear. */
import type { Disposable } from '@svc/api';
import { type Contribution, ContributionRegistry } from './contribution-registry.js';
import type { Contributor } from './owner.js';

export interface LiveContribution {
  readonly label: string;
  /** Where it has a name, no other of its owner has it at the same time. */
  readonly name?: string;
  /** Called when it becomes visible; the result is disposed when it no longer is. */
  begin(owner: Contributor): Disposable;
}

export interface LiveOptions {
  readonly refuse?: (owner: string, name: string) => Error;
  /** What is visible begins no earlier than `open` says so. */
  readonly isHeld?: boolean;
}

export class LiveRegistry extends ContributionRegistry<LiveContribution> {
  readonly #latch: { isOpen: boolean };
  readonly #running: Map<LiveContribution, Disposable>;

  constructor(name: string, { refuse = sameName, isHeld = false }: LiveOptions = {}) {
    const running = new Map<LiveContribution, Disposable>();
    const latch = { isOpen: !isHeld };
    super(name, {
      describe: ({ label }) => label,
      check: (candidate, others) => {
        const other = others.find((row) => row.owner.id === candidate.owner.id && row.value.name !== undefined && row.value.name === candidate.value.name);
        if (other) throw refuse(candidate.owner.id, other.value.name ?? '');
      },
      changed: (active) => {
        if (latch.isOpen) follow(running, active);
      },
    });
    this.#latch = latch;
    this.#running = running;
  }

  /** Begins what is visible; from now on, whatever becomes so begins at once. */
  open(): void {
    this.#latch.isOpen = true;
    follow(this.#running, this.active());
  }
}

const sameName = (owner: string, name: string): Error => new Error(`${owner} has two called ${name}`);

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
