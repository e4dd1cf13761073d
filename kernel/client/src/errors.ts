/** What can go wrong with a call, each kind as its own class: what happened, why, and what to do. */

export interface ErrorWords {
  /** Identity for programs: the daemon's own code, else `client_…`. */
  readonly code: string;
  readonly what: string;
  readonly why?: string | undefined;
  readonly hint?: string | undefined;
}

/** What every error of a call has. `message` is all of it in sentences. */
export class ClientError extends Error {
  readonly code: string;
  readonly what: string;
  readonly why: string | undefined;
  readonly hint: string | undefined;

  constructor({ code, what, why, hint }: ErrorWords, options?: ErrorOptions & { readonly also?: string | undefined }) {
    super([what, ...(why ? [`Why: ${why}`] : []), ...(hint ? [hint] : []), ...(options?.also ? [options.also] : [])].map((words) => (/[.!?…]$/.test(words) ? words : `${words}.`)).join(' '), options);
    this.name = new.target.name;
    this.code = code;
    this.what = what;
    this.why = why;
    this.hint = hint;
  }
}

export interface Refusal {
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly details?: unknown;
  readonly retryAfter?: number | undefined;
  readonly mayRetry: boolean;
}

/** The daemon refused, in its own words. */
export class SvcError extends ClientError {
  readonly status: number;
  /** Leads to the daemon's log lines: `svc logs --request <id>`. */
  readonly requestId: string | undefined;
  readonly details: unknown;
  /** Seconds to wait before the same request may succeed. */
  readonly retryAfter: number | undefined;
  /** False where the daemon said that the same request fails again. */
  readonly mayRetry: boolean;

  constructor(words: ErrorWords, refusal: Refusal) {
    super(words, { also: refusal.retryAfter === undefined ? undefined : `Try again in ${refusal.retryAfter} s.` });
    this.status = refusal.status;
    this.requestId = refusal.requestId;
    this.details = refusal.details;
    this.retryAfter = refusal.retryAfter;
    this.mayRetry = refusal.mayRetry;
  }
}

/** `refused`: nothing listens there. `unreachable`: the address leads nowhere. `broken`: the connection ended before the whole answer had come; whether the request had its effect is not known. */
export type ConnectionFault = 'refused' | 'unreachable' | 'broken';

const FAULTS: Readonly<Record<ConnectionFault, (url: string) => Omit<ErrorWords, 'why'>>> = {
  refused: (url) => ({ code: 'client_refused', what: `Nothing answers at ${url}.`, hint: 'Start the daemon with `svc start`, or check the address.' }),
  unreachable: (url) => ({ code: 'client_unreachable', what: `${url} cannot be reached.`, hint: 'Check the address and your network connection.' }),
  broken: (url) => ({
    code: 'client_connection_broken',
    what: `The connection to ${url} closed before the response was complete.`,
    hint: 'The request may have taken effect. Check before you send it again, or send it with the same Idempotency-Key.',
  }),
};

export class ConnectionError extends ClientError {
  readonly fault: ConnectionFault;

  constructor(fault: ConnectionFault, url: string, why: string | undefined, cause: unknown) {
    super({ ...FAULTS[fault](url), why }, { cause });
    this.fault = fault;
  }
}

export class TimeoutError extends ClientError {
  readonly timeoutMs: number;

  constructor(request: string, timeoutMs: number) {
    super({
      code: 'client_timeout',
      what: `${request} was not answered within ${timeoutMs / 1_000} s.`,
      hint: 'The daemon may still be working on it. Use a longer `timeoutMs`, or check `svc logs`.',
    });
    this.timeoutMs = timeoutMs;
  }
}

/** Whoever called took the call back, by its signal. */
export class AbortedError extends ClientError {
  constructor(request: string, cause: unknown) {
    super({ code: 'client_aborted', what: `${request} was cancelled by its caller.`, hint: 'If it changes data, it may have taken effect.' }, { cause });
  }
}

/** Something answers there, and it is not the daemon, or not one of this kind. */
export class NotSvcError extends ClientError {
  readonly status: number;

  constructor(url: string, status: number, why: string) {
    super({
      code: 'client_not_svc',
      what: `What answers at ${url} does not seem to be svc.`,
      why,
      hint: 'Check the address and any proxies in between: `svc status` shows where the daemon listens.',
    });
    this.status = status;
  }
}
