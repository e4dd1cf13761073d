/**
 * Live events: facts after commit, each listener hears them in order, one at a time, and never inside the call that caused them.
 *
 * What areas say is heard in every process over the same database; what the kernel says of its own process stays there.
 * On the way to another process a live event can be lost: whoever must not miss one listens durably, or looks at rows now and then.
 */
import { type Disposable, type EventDecl, isThenable, type Plain } from '@svc/api';
import { type ContractValidator, noValidator } from './contracts/contract-validator.js';
import { plainCopy } from './contracts/crossing.js';
import { ContributionRegistry } from './contribution-registry.js';
import { type Contributor, runAs } from './owner.js';

type Listen = (data: unknown) => void | Promise<void>;

interface Listener {
  readonly event: string;
  /** True when it takes a list of data, those that wait together. */
  readonly isBatch: boolean;
  readonly fn: Listen;
}

/** Events waiting for one slow listener; the oldest go first when it falls behind. */
const MAX_BEHIND = 1_000;

export interface EventWatch {
  failed(owner: Contributor, event: string, error: unknown): void;
  dropped(owner: Contributor, event: string): void;
  /** Tells the other processes over this database; they `emit` it. */
  carry?(event: string, data: unknown): void;
  /** Said in this process, whoever listens. */
  said?(event: string, data: unknown): void;
  /** True when this listener gets the event from the durable relay instead. */
  isDurable(ownerId: string, event: string): boolean;
}

export class EventHub {
  readonly listeners: ContributionRegistry<Listener>;
  readonly #watch: EventWatch;
  readonly #validator: ContractValidator;
  #dropped = 0;
  readonly #queues = new Map<Listener, { waiting: unknown[]; busy: boolean }>();

  constructor(watch: EventWatch, validator: ContractValidator = noValidator) {
    this.#watch = watch;
    this.#validator = validator;
    this.listeners = new ContributionRegistry<Listener>('listener', {
      describe: ({ event }) => event,
      changed: (active) => {
        const kept = new Set(active.map((row) => row.value));
        for (const listener of this.#queues.keys()) if (!kept.has(listener)) this.#queues.delete(listener);
      },
    });
  }

  on<E extends EventDecl>(owner: Contributor, event: E, fn: (data: Plain<E['data']>) => void | Promise<void>): Disposable {
    // What is emitted under this name was declared under it.
    return this.listeners.add(owner, { event: event.name, isBatch: false, fn: fn as Listen });
  }

  onBatch<E extends EventDecl>(owner: Contributor, event: E, fn: (batch: ReadonlyArray<Plain<E['data']>>) => void | Promise<void>): Disposable {
    return this.listeners.add(owner, { event: event.name, isBatch: true, fn: fn as Listen });
  }

  /** Whether this extension takes several of these at once. */
  takesBatch(ownerId: string, event: string): boolean {
    return this.listeners.active().some((row) => row.owner.id === ownerId && row.value.event === event && row.value.isBatch);
  }

  /** The data as it is told. Throws `contract_mismatch` where what this owner says has to be looked at and does not fit. */
  validated(owner: Contributor, event: EventDecl, data: unknown): unknown {
    if (!this.#validator.isNeeded(owner)) return data;
    const where = `The event ${event.name} of ${owner.id}`;
    const reported = this.#validator.isForeign(owner) ? plainCopy(data, where) : data;
    this.#validator.check(event.data, reported, where);
    return reported;
  }

  /** A listener of another build gets a copy: the others hear the same. */
  #handed(owner: Contributor, event: string, data: unknown): unknown {
    return this.#validator.isForeign(owner) ? plainCopy(data, `The event ${event}`) : data;
  }

  /** Events that listeners which fell behind have lost since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** To the listeners of every process. */
  deliver(event: string, data: unknown): void {
    this.emit(event, data);
    this.#watch.carry?.(event, data);
  }

  /** To the listeners of this process. */
  emit(event: string, data: unknown): void {
    this.#watch.said?.(event, data);
    for (const { owner, value } of this.listeners.active()) {
      if (value.event !== event || this.#watch.isDurable(owner.id, event)) continue;
      const queue = this.#queues.get(value) ?? { waiting: [], busy: false };
      this.#queues.set(value, queue);
      if (queue.waiting.length >= MAX_BEHIND) {
        queue.waiting.shift();
        this.#dropped++;
        this.#watch.dropped(owner, event);
      }
      queue.waiting.push(data);
      if (!queue.busy) {
        queue.busy = true;
        queueMicrotask(() => this.#deliver(owner, value, queue));
      }
    }
  }

  /** Gives one event, or several where it `takesBatch`, to one extension and waits for it. False when it does not listen now; throws what a listener threw. */
  async deliverTo(ownerId: string, event: string, ...batch: readonly unknown[]): Promise<boolean> {
    const listeners = this.listeners.active().filter((row) => row.owner.id === ownerId && row.value.event === event);
    for (const { owner, value } of listeners) {
      const leave = owner.lifetime.enter(`event ${event}`);
      if (!leave) return false;
      try {
        if (value.isBatch) await runAs(owner, () => value.fn(batch.map((data) => this.#handed(owner, event, data))));
        else for (const data of batch) await runAs(owner, () => value.fn(this.#handed(owner, event, data)));
      } finally {
        leave();
      }
    }
    return listeners.length > 0;
  }

  /** One after the other. Most listeners are done at once, and then nothing is waited for. */
  #deliver(owner: Contributor, listener: Listener, queue: { waiting: unknown[]; busy: boolean }): void {
    const label = `event ${listener.event}`;
    while (queue.waiting.length > 0) {
      const data = queue.waiting.shift();
      if (!owner.lifetime.countIn(label)) break;
      try {
        const handed = this.#handed(owner, listener.event, data);
        const given = runAs(owner, () => listener.fn(listener.isBatch ? [handed] : handed));
        if (isThenable(given)) return void this.#finish(owner, listener, queue, given);
      } catch (error) {
        this.#watch.failed(owner, listener.event, error);
      }
      owner.lifetime.leave(label);
    }
    queue.busy = false;
  }

  async #finish(owner: Contributor, listener: Listener, queue: { waiting: unknown[]; busy: boolean }, given: PromiseLike<unknown>): Promise<void> {
    try {
      await given;
    } catch (error) {
      this.#watch.failed(owner, listener.event, error);
    } finally {
      owner.lifetime.leave(`event ${listener.event}`);
    }
    this.#deliver(owner, listener, queue);
  }
}
