/** What handlers of a resource are given, and what they may answer. */
import type { Actor } from '../actor.js';
import type { AtOnce } from '../at-once.js';
import type { BodyOf, Req } from '../http/http.js';
import type { Reply } from '../http/reply.js';
import type { Static, TObject, TSchema } from '../schema/schema.js';
import type { Write } from '../storage.js';
import type { ActionSpec } from './actions.js';
import type { Found, ListQuery } from './list.js';
import type { ResourceSpec, Verb } from './spec.js';

/** One call of an operation or an action. */
export interface Call<Q = unknown, B = unknown, I = unknown> {
  readonly actor: Actor;
  /** Of the item, as the path gives it. Empty for what is done with the list. */
  readonly key: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** As `get` gave it: the caller may see it. */
  readonly item: I;
  readonly req: Req;
  /** Writes that keep this answer for a repeated request, to be committed with the effect; none where the operation is not `idempotent`. */
  receipt(answer: unknown): readonly Write[];
}

type Properties<T> = T extends TObject ? Static<T> : unknown;
type Hidden<S> = S extends { readonly writeOnly: infer W } ? keyof W : never;
type Shown<S> = S extends { readonly writeOnly: infer W extends Readonly<Record<string, string>> } ? { readonly [N in W[keyof W]]: boolean } : unknown;

/** An item of a resource, as it is answered. */
export type ItemOf<S extends ResourceSpec> = S extends { readonly item: infer I extends TSchema } ? Static<I> : Omit<DraftOf<S>, Hidden<S>> & Properties<S['computed']> & Shown<S>;

/** The body of a new item. What may be left out has its default. */
export type DraftOf<S extends ResourceSpec> = S extends { readonly fields: infer F extends TObject } ? Static<F> : object;

type AnswerOf<S extends ResourceSpec, V extends Verb, Usual> = S extends { readonly operations: { readonly [N in V]: { readonly answer: infer A extends TSchema } } } ? Static<A> : Usual;

type QueryOf<S extends ResourceSpec> = S extends { readonly operations: { readonly list: { readonly query: infer Q extends TObject } } } ? Static<Q> : ListQuery & Readonly<Record<string, unknown>>;

type Answered<T> = AtOnce<BodyOf<T> | Reply>;

type ListAnswer<S extends ResourceSpec> = AnswerOf<S, 'list', never> extends infer A ? ([A] extends [never] ? readonly BodyOf<ItemOf<S>>[] | Found<BodyOf<ItemOf<S>>> : BodyOf<A> | Reply) : never;

/** Where items come from. `list` gives all of them, or a page; without `get` an item is found among those of `list`. */
export interface SourceOf<S extends ResourceSpec> {
  list?(call: Call<QueryOf<S>, unknown, undefined>): AtOnce<ListAnswer<S>>;
  /** Undefined where there is none that the actor may see. */
  get?(call: Call<unknown, unknown, undefined>): AtOnce<BodyOf<AnswerOf<S, 'get', ItemOf<S>>> | undefined>;
  create?(call: Call<unknown, DraftOf<S>, undefined>): Answered<AnswerOf<S, 'create', ItemOf<S>>>;
  update?(call: Call<unknown, Partial<DraftOf<S>>, BodyOf<AnswerOf<S, 'get', ItemOf<S>>>>): Answered<AnswerOf<S, 'update', ItemOf<S>>>;
  replace?(call: Call<unknown, DraftOf<S>, BodyOf<AnswerOf<S, 'get', ItemOf<S>>>>): Answered<AnswerOf<S, 'replace', ItemOf<S>>>;
  delete?(call: Call<unknown, unknown, BodyOf<AnswerOf<S, 'get', ItemOf<S>>>>): AtOnce<AnswerOf<S, 'delete', void> | Reply>;
  /** Throws where the actor may not see what the items stand below. */
  parent?(actor: Actor, id: string): AtOnce<unknown>;
}

type Taken<T> = T extends TSchema ? Static<T> : unknown;

export type ActionCall<A extends ActionSpec, I> = Call<Taken<A['query']>, Taken<A['body']>, A extends { readonly on: 'list' } | { readonly isBlind: true } ? undefined : I>;

type ActionsFor<A, I> = { readonly [N in keyof A]: A[N] extends ActionSpec ? (call: ActionCall<A[N], I>) => Answered<Static<A[N]['answer']>> : never };

/** One handler for each action. It answers with the body, or with a reply of its own. */
export type ActionsOf<A, I> = ActionsFor<NonNullable<A>, I>;

/** Without the types of a declaration: what routes are made of. */
export interface Handlers {
  readonly list: (call: Call) => AtOnce<unknown>;
  readonly get: (call: Call) => AtOnce<unknown>;
  readonly create: (call: Call) => AtOnce<unknown>;
  readonly update: (call: Call) => AtOnce<unknown>;
  readonly replace: (call: Call) => AtOnce<unknown>;
  readonly delete: (call: Call) => AtOnce<unknown>;
  readonly parent: (actor: Actor, id: string) => AtOnce<unknown>;
}
