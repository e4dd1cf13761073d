/**
 * Values that are mostly known already. A promise costs every caller a turn of the queue, and a request asks a dozen
 * questions: what is at hand goes on at once, the rest when it comes.
 */

export type AtOnce<T> = T | Promise<T>;

/** What `await` waits for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** Goes on with the value: now where it is known, else when it comes. What `next` throws is thrown in the first case, and rejects in the second. */
export const whenKnown = <T, R>(value: AtOnce<T>, next: (value: T) => AtOnce<R>): AtOnce<R> => (isThenable(value) ? Promise.resolve(value).then(next) : next(value));

/** All values in order; synchronous if all are known. */
export const allKnown = <const T extends readonly unknown[]>(values: T): AtOnce<{ -readonly [K in keyof T]: Awaited<T[K]> }> =>
  // Without a promise among them the values are what they would be awaited as.
  values.some(isThenable) ? Promise.all(values) : (values as { -readonly [K in keyof T]: Awaited<T[K]> });

/** Names the second face of a service's facade. */
export const AT_ONCE = Symbol.for('svc.at-once');

/** A service whose methods answer without a promise where the provider does. */
export type AtOnceService<S> = { readonly [M in keyof S]: S[M] extends (...args: infer A) => Promise<infer R> ? (...args: A) => AtOnce<R> : S[M] };

/** The same service. Its methods never throw: what fails rejects. */
export const atOnce = <S extends object>(service: S): AtOnceService<S> =>
  // Whoever writes a service by hand answers with promises, which are as good.
  (Reflect.get(service, AT_ONCE) ?? service) as AtOnceService<S>;
