/** What `await` waits for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
