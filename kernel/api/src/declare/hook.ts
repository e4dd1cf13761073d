/**
 * Hooks are inside an operation and may change or refuse it. Kind, failure policy and time budget belong to the
 * hook, not to who taps it; each is declared once, as a value, by the area that owns it.
 */
import type { TSchema } from '@sinclair/typebox';
import type { AtOnce } from '../at-once.js';
import type { Disposable } from '../disposable.js';
import { type Declared, frozen, type Plain } from './plain.js';

export type HookKind = 'veto' | 'pipe' | 'step' | 'ask' | 'gather';

/** The effect of a failing, late or missing tap: closed = refuse, open = warn and continue, observe = only count. */
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
      /** Of a tool call: what a person could grant, as `[capabilities]` has it. */
      readonly missing?: ReadonlyArray<{ readonly capability: string; readonly target?: string }>;
      /** How an HTTP answer looks: default 403, or 429 for the code `rate_limited`. */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly suspend: { readonly reason: string; readonly wakeKey: string; readonly until?: string; readonly data?: unknown } };

export interface TapControl {
  /** Aborted when the tap's budget is used up. */
  readonly signal: AbortSignal;
}

interface HookOf<K extends HookKind, S extends TSchema, C extends TSchema, R extends TSchema> extends Declared, HookSpec {
  readonly declares: 'hook';
  readonly kind: K;
  /** What is looked at: the subject of a veto or step, the question of an ask or gather, the value of a pipe. */
  readonly subject: S;
  /** pipe: what stands beside the value. */
  readonly context?: C;
  /** ask, gather: what a tap answers. */
  readonly answer?: R;
  /** Others than the owner may call it. Default false. */
  readonly callable?: boolean;
  /** Code in another process may tap it, whose answer takes longer and may not come. Default false. */
  readonly remote?: boolean;
}

export type VetoHook<S extends TSchema = TSchema> = HookOf<'veto', S, TSchema, TSchema>;
export type PipeHook<S extends TSchema = TSchema, C extends TSchema = TSchema> = HookOf<'pipe', S, C, TSchema>;
export type StepHook<S extends TSchema = TSchema> = HookOf<'step', S, TSchema, TSchema>;
export type AskHook<S extends TSchema = TSchema, R extends TSchema = TSchema> = HookOf<'ask', S, TSchema, R>;
export type GatherHook<S extends TSchema = TSchema, R extends TSchema = TSchema> = HookOf<'gather', S, TSchema, R>;
export type HookDecl = VetoHook | PipeHook | StepHook | AskHook | GatherHook;

interface Rest {
  readonly policy: HookPolicy;
  readonly budgetMs: number;
  readonly callable?: boolean;
  readonly remote?: boolean;
}

/** May object. */
export const defineVeto = <S extends TSchema>(name: string, version: string, spec: Rest & { readonly subject: S }): VetoHook<S> => frozen({ declares: 'hook', name, version, kind: 'veto', ...spec });

/** Each tap gets the value and may return another; undefined keeps it. */
export const definePipe = <S extends TSchema, C extends TSchema>(name: string, version: string, { value, ...spec }: Rest & { readonly value: S; readonly context: C }): PipeHook<S, C> =>
  frozen({
    declares: 'hook',
    name,
    version,
    kind: 'pipe',
    subject: value,
    ...spec,
  });

/** Takes part; answers nothing. */
export const defineStep = <S extends TSchema>(name: string, version: string, spec: Rest & { readonly subject: S }): StepHook<S> => frozen({ declares: 'hook', name, version, kind: 'step', ...spec });

/** Who can answer? The first tap that returns something does. */
export const defineAsk = <S extends TSchema, R extends TSchema>(name: string, version: string, spec: Rest & { readonly subject: S; readonly answer: R }): AskHook<S, R> =>
  frozen({
    declares: 'hook',
    name,
    version,
    kind: 'ask',
    ...spec,
  });

/** All who tap it answer, side by side. Where one fails, its row says so; of a closed hook the call fails with its error. */
export const defineGather = <S extends TSchema, R extends TSchema>(name: string, version: string, spec: Rest & { readonly subject: S; readonly answer: R }): GatherHook<S, R> =>
  frozen({
    declares: 'hook',
    name,
    version,
    kind: 'gather',
    ...spec,
  });

type Answer<T> = T | undefined | Promise<T | undefined>;

export type TapOf<H extends HookDecl> =
  H extends VetoHook<infer S>
    ? (subject: Plain<S>, control: TapControl) => Answer<Verdict>
    : H extends PipeHook<infer S, infer C>
      ? (value: Plain<S>, context: Plain<C>, control: TapControl) => Answer<Plain<S>>
      : H extends StepHook<infer S>
        ? (subject: Plain<S>, control: TapControl) => void | Promise<void>
        : H extends AskHook<infer S, infer R>
          ? (question: Plain<S>, control: TapControl) => Answer<Plain<R>>
          : H extends GatherHook<infer S, infer R>
            ? (question: Plain<S>, control: TapControl) => Plain<R> | Promise<Plain<R>>
            : never;

/** What one tap of a gathering hook brought, or why it did not. */
export interface Gathered<T> {
  readonly owner: string;
  readonly value?: T;
  readonly error?: string;
}

export type CallOf<H extends HookDecl> =
  H extends VetoHook<infer S>
    ? (subject: Plain<S>) => Promise<Verdict | undefined>
    : H extends PipeHook<infer S, infer C>
      ? (value: Plain<S>, context: Plain<C>) => Promise<Plain<S>>
      : H extends StepHook<infer S>
        ? (subject: Plain<S>) => Promise<void>
        : H extends AskHook<infer S, infer R>
          ? (question: Plain<S>) => Promise<Plain<R> | undefined>
          : H extends GatherHook<infer S, infer R>
            ? (question: Plain<S>) => Promise<readonly Gathered<Plain<R>>[]>
            : never;

/** Order of taps: by stage (a name or a number), then before/after, then extension id. */
export type Stage = 'first' | 'policy' | 'normal' | 'late' | 'last' | number;

export interface TapOptions {
  stage?: Stage;
  /** Extension ids this tap runs before / after. */
  before?: readonly string[];
  after?: readonly string[];
}

export interface HookHandle<H extends HookDecl> {
  readonly call: CallOf<H>;
  /** True when nobody taps: lets a hot path skip building its argument. */
  readonly isEmpty: () => boolean;
}

/** A hook as its owner holds it. */
export interface OwnHook<H extends HookDecl> extends HookHandle<H> {
  /** The same call without a promise where nobody taps, one tap answers at once, or all of a gather do. What fails rejects. */
  readonly atOnce: (...args: Parameters<CallOf<H>>) => AtOnce<Awaited<ReturnType<CallOf<H>>>>;
}

export interface Hooks {
  /** Only hooks that the manifest names under `hooks`. */
  tap<H extends HookDecl>(hook: H, fn: TapOf<H>, options?: TapOptions): Disposable;
  /** Creates a hook this extension owns; switching the extension off removes it, and its taps sleep. */
  define<H extends HookDecl>(hook: H): OwnHook<H>;
  /** A hook of somebody else that is declared `callable`, to call it. */
  use<H extends HookDecl>(hook: H): HookHandle<H>;
}
