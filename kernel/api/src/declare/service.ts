/**
 * Services: what one area does for others, declared as a value that both sides import.
 *
 * What crosses is plain data. Cancelling and deadlines belong to the call, not to its arguments, and a method that
 * touches people's data takes the actor first. A method answers once, or streams declared frames.
 */
import { OptionalKind, type TOptional, type TSchema } from '@sinclair/typebox';
import type { Disposable } from '../disposable.js';
import { type Declared, frozen, type Plain } from './plain.js';

/** What an extension from elsewhere may call a method for. A method without this is for the daemon's own areas alone. */
export interface ForOthers {
  /** What the extension can do by it, in plain words and as a clause: "reads your conversations". A person reads it before they agree. */
  readonly what: string;
  /** It changes something: refused where the actor of the call may only look (viewer, public). */
  readonly changes?: boolean;
}

export interface MethodDecl<A extends readonly TSchema[] = readonly TSchema[], R extends TSchema = TSchema> {
  readonly args: A;
  readonly result: R;
  readonly others?: ForOthers;
}

/** A method that answers with one frame after another. */
export interface StreamMethodDecl<A extends readonly TSchema[] = readonly TSchema[], F extends TSchema = TSchema> {
  readonly args: A;
  readonly frame: F;
  readonly others?: ForOthers;
}

export type AnyMethodDecl = MethodDecl | StreamMethodDecl;

export interface ServiceDecl<M extends Readonly<Record<string, AnyMethodDecl>> = Readonly<Record<string, AnyMethodDecl>>> extends Declared {
  readonly declares: 'service';
  readonly methods: M;
}

/** Arguments in order; those in `Type.Optional` come last and may be left out. */
export const method = <const A extends readonly TSchema[], R extends TSchema>(args: A, result: R, others?: ForOthers): MethodDecl<A, R> => ({ args, result, ...(others ? { others } : {}) });

export const streamMethod = <const A extends readonly TSchema[], F extends TSchema>(args: A, frame: F, others?: ForOthers): StreamMethodDecl<A, F> => ({ args, frame, ...(others ? { others } : {}) });

export const defineService = <M extends Readonly<Record<string, AnyMethodDecl>>>(name: string, version: string, methods: M): ServiceDecl<M> => frozen({ declares: 'service', name, version, methods });

/** One of many that answer to the same contract, each under a name of its own: `named(ModelDriver, 'gemini')`. */
export const named = <D extends ServiceDecl>(decl: D, name: string): D => frozen({ ...decl, name: `${decl.name}:${name}` });

/** An argument that may be left out. */
export const isOptional = (schema: TSchema): boolean => OptionalKind in schema;

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds after which the caller waits no longer: the call fails with `service_deadline` and its signal is aborted. */
  readonly deadlineMs?: number;
}

/** Context of a method call, in addition to the arguments. */
export interface CallControl {
  /** Aborted when the caller cancels, or waits no longer. */
  readonly signal: AbortSignal;
}

type Given<A extends readonly TSchema[]> = A extends readonly [infer H extends TSchema, ...infer T extends readonly TSchema[]]
  ? H extends TOptional<TSchema>
    ? [value?: Plain<H> | undefined, ...rest: Given<T>]
    : [value: Plain<H>, ...rest: Given<T>]
  : [];

type Taken<A extends readonly TSchema[]> = A extends readonly [infer H extends TSchema, ...infer T extends readonly TSchema[]]
  ? [value: H extends TOptional<TSchema> ? Plain<H> | undefined : Plain<H>, ...rest: Taken<T>]
  : [];

/** A service as its callers see it. */
export type Service<D extends ServiceDecl> = {
  readonly [M in keyof D['methods']]: D['methods'][M] extends StreamMethodDecl<infer A, infer F>
    ? (...args: [...Given<A>, options?: CallOptions]) => AsyncIterable<Plain<F>>
    : D['methods'][M] extends MethodDecl<infer A, infer R>
      ? (...args: [...Given<A>, options?: CallOptions]) => Promise<Plain<R>>
      : never;
};

/** A service as its provider writes it. */
export type ServiceMethods<D extends ServiceDecl> = {
  readonly [M in keyof D['methods']]: D['methods'][M] extends StreamMethodDecl<infer A, infer F>
    ? (...args: [...Taken<A>, call: CallControl]) => AsyncIterable<Plain<F>>
    : D['methods'][M] extends MethodDecl<infer A, infer R>
      ? (...args: [...Taken<A>, call: CallControl]) => Plain<R> | Promise<Plain<R>>
      : never;
};

export interface OptionalHandle<T> {
  /** The service while somebody provides it. */
  readonly value: T | undefined;
  onChange(fn: (value: T | undefined) => void): Disposable;
}

export interface Services {
  /** Only what the manifest's `provides` names, in that version. */
  provide<D extends ServiceDecl>(decl: D, methods: ServiceMethods<D>): Disposable;
  /**
   * The service of the provider's current generation, whichever that is at the time of each call: keep it for ever.
   * Only what the manifest's `requires` names. A call while nobody provides it rejects with `service_gone`.
   */
  require<D extends ServiceDecl>(decl: D): Service<D>;
  /** Only what the manifest's `optional` (or `requires`) names. */
  optional<D extends ServiceDecl>(decl: D): OptionalHandle<Service<D>>;
}
