/**
 * Hooks are inside an operation and may change or refuse it. The kind, the
 * failure policy and the time budget belong to the hook, not to who taps it.
 *
 * An area declares the types of its hooks in its contract:
 * `declare module '@svc/api' { interface HookMap { 'run.start': VetoHook<RunDraft> } }`.
 */
import type { Disposable } from './disposable.js';

export type HookKind = 'veto' | 'pipe' | 'step' | 'ask' | 'gather' | 'note';

/** What a failing, late or missing tap means: closed = refuse, open = warn and go on, observe = only counted. */
export type HookPolicy = 'closed' | 'open' | 'observe';

export interface HookSpec {
  readonly kind: HookKind;
  readonly policy: HookPolicy;
  /** Time each tap has. */
  readonly budgetMs: number;
}

/** A veto's answer. Nobody can allow; silence is no objection. `suspend` lets the work wait for a person. */
export type Verdict =
  | {
      readonly deny: string;
      readonly code?: string;
      /** How an HTTP answer looks: default 403, or 429 for the code `rate_limited`. */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly suspend: { readonly reason: string; readonly wakeKey: string; readonly until?: string; readonly data?: unknown } };

export interface TapControl {
  /** Aborted when the tap's budget is used up. */
  readonly signal: AbortSignal;
}

export interface VetoHook<T> {
  kind: 'veto';
  tap: (subject: T, control: TapControl) => Verdict | undefined | Promise<Verdict | undefined>;
  call: (subject: T) => Promise<Verdict | undefined>;
}
/** Each tap gets the value and may return another; undefined keeps it. */
export interface PipeHook<V, C = undefined> {
  kind: 'pipe';
  tap: (value: V, context: C, control: TapControl) => V | undefined | Promise<V | undefined>;
  call: (value: V, context: C) => Promise<V>;
}
export interface StepHook<T> {
  kind: 'step';
  tap: (subject: T, control: TapControl) => void | Promise<void>;
  call: (subject: T) => Promise<void>;
}
/** Who can answer? The first tap that returns something does. */
export interface AskHook<T, R> {
  kind: 'ask';
  tap: (question: T, control: TapControl) => R | undefined | Promise<R | undefined>;
  call: (question: T) => Promise<R | undefined>;
}
export interface GatherHook<T, R> {
  kind: 'gather';
  tap: (question: T, control: TapControl) => R | Promise<R>;
  call: (question: T) => Promise<ReadonlyArray<{ owner: string; value?: R; error?: string }>>;
}
/** For deltas only: synchronous, may not block, cannot change anything. */
export interface NoteHook<T> {
  kind: 'note';
  tap: (fact: T) => void;
  call: (fact: T) => void;
}
// biome-ignore lint/suspicious/noExplicitAny: the union of all hook shapes, for plumbing only
export type AnyHook = VetoHook<any> | PipeHook<any, any> | StepHook<any> | AskHook<any, any> | GatherHook<any, any> | NoteHook<any>;

/** Filled by declaration merging: the kernel's hooks in kernel-hooks.ts, an area's in its contract. */
// biome-ignore lint/suspicious/noEmptyInterface: merged into by contracts
export interface HookMap {}
export type HookName = keyof HookMap & string;

/** Order of taps: by stage (a name or a number), then before/after, then extension id. */
export type Stage = 'first' | 'policy' | 'normal' | 'late' | 'last' | number;

export interface TapOptions {
  stage?: Stage;
  /** Extension ids this tap runs before / after. */
  before?: readonly string[];
  after?: readonly string[];
}

export interface HookHandle<H extends AnyHook> {
  readonly call: H['call'];
  /** True when nobody taps: lets a hot path skip building its argument. */
  readonly isEmpty: () => boolean;
}

export interface Hooks {
  tap<N extends HookName>(name: N, fn: HookMap[N] extends AnyHook ? HookMap[N]['tap'] : never, options?: TapOptions): Disposable;
  /** Creates a hook this extension owns; switching the extension off removes it, and its taps sleep. */
  define<N extends HookName>(
    name: N,
    spec: HookMap[N] extends AnyHook ? { kind: HookMap[N]['kind']; policy: HookPolicy; budgetMs: number } : never,
  ): HookHandle<HookMap[N] extends AnyHook ? HookMap[N] : never>;
  /** A hook of the kernel, to call it. */
  use<N extends HookName>(name: N): HookHandle<HookMap[N] extends AnyHook ? HookMap[N] : never>;
}
