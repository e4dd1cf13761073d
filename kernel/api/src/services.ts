/** Services: what one area does for others. Methods are async, take and give structured-cloneable values, and name things by id. */
import type { Disposable } from './disposable.js';

/** Filled by contracts: `declare module '@svc/api' { interface ServiceMap { memory: MemoryService } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: merged into by contracts
export interface ServiceMap {}
export type ServiceName = keyof ServiceMap & string;

export interface OptionalHandle<T> {
  /** The service while somebody provides it. */
  readonly value: T | undefined;
  onChange(fn: (value: T | undefined) => void): Disposable;
}

export interface Services {
  provide<K extends ServiceName>(name: K, impl: ServiceMap[K]): Disposable;
  /**
   * The service of the provider's current generation, whichever that is at the time of each call: keep it for ever.
   * The manifest's `requires` guarantees that it is there; a call in the moment it is not rejects with `service_gone`.
   */
  require<K extends ServiceName>(name: K): ServiceMap[K];
  optional<K extends ServiceName>(name: K): OptionalHandle<ServiceMap[K]>;
}
