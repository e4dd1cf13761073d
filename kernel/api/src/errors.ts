/**
 * Errors are a table per area. The code is the identity: it survives a process
 * boundary, is never renamed and never used again for another thing.
 */

export interface ErrorSpec<A extends readonly never[] = readonly never[]> {
  /** HTTP status of the answer. */
  status: number;
  /** Whether the same call can succeed later. */
  retry: boolean;
  message: (...args: A) => string;
  /** What to do about it, as one sentence. */
  hint?: string;
}

export interface SvcErrorInit {
  status: number;
  retry?: boolean;
  hint?: string | undefined;
  details?: unknown;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that may be shown: its message holds no secret and no internals. `cause` goes to the log only. */
export class SvcError extends Error {
  readonly code: string;
  readonly status: number;
  readonly retry: boolean;
  readonly hint: string | undefined;
  readonly details: unknown;
  readonly headers: Record<string, string>;

  constructor(code: string, message: string, init: SvcErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'SvcError';
    this.code = code;
    this.status = init.status;
    this.retry = init.retry ?? false;
    this.hint = init.hint;
    this.details = init.details;
    this.headers = init.headers ?? {};
  }

  /** The same error with what it carries beside its text: headers such as Retry-After, details, the cause for the log, and `retry` where this case is known better than its kind. */
  with(extra: { retry?: boolean; headers?: Record<string, string>; details?: unknown; cause?: unknown }): SvcError {
    return new SvcError(this.code, this.message, {
      status: this.status,
      retry: extra.retry ?? this.retry,
      hint: this.hint,
      details: extra.details ?? this.details,
      headers: { ...this.headers, ...extra.headers },
      cause: extra.cause ?? this.cause,
    });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the table's message functions keep their own argument types
type AnySpec = ErrorSpec<any>;
export type ErrorTable<T extends Record<string, AnySpec>> = {
  readonly [K in keyof T]: (...args: Parameters<T[K]['message']>) => SvcError;
} & { readonly table: ReadonlyArray<{ code: string; status: number; retry: boolean }> };

/**
 * `defineErrors('memory', { entry_too_large: {...} })` gives `memoryErrors.entry_too_large(size)`
 * with the wire code `memory_entry_too_large`. A key that already begins with the area keeps its name.
 */
export const defineErrors = <const T extends Record<string, AnySpec>>(area: string, specs: T): ErrorTable<T> => {
  const factories: Record<string, unknown> = {};
  const table: Array<{ code: string; status: number; retry: boolean }> = [];
  for (const [key, spec] of Object.entries(specs)) {
    const code = key.startsWith(`${area}_`) || area === '' ? key : `${area}_${key}`;
    table.push({ code, status: spec.status, retry: spec.retry });
    factories[key] = (...args: unknown[]) => new SvcError(code, (spec.message as (...a: unknown[]) => string)(...args), { status: spec.status, retry: spec.retry, hint: spec.hint });
  }
  factories.table = table;
  // The loop above fills exactly the keys of T.
  return factories as ErrorTable<T>;
};

/** `instanceof` does not survive two copies of this package or a process boundary; the shape does. */
export const isSvcError = (value: unknown): value is SvcError =>
  value instanceof Error && 'code' in value && typeof value.code === 'string' && 'status' in value && typeof value.status === 'number' && 'retry' in value;
