/** Events: facts after commit, each declared once as a value. What only wants to know listens here and taps no hook. */
import type { TSchema } from '@sinclair/typebox';
import type { Disposable } from '../disposable.js';
import { Type } from '../schema/schema.js';
import type { Write } from '../storage.js';
import { type Declared, frozen, type Plain } from './plain.js';

/**
 * How pages hear of an event: that something changed, and nothing of what it is. Its fields are names of fields of the
 * event's data that hold texts.
 */
export interface LiveSpec<Field extends string = string> {
  /** The word for what changed: `run`. Default: the event's name, which it always is for extensions from elsewhere. */
  readonly what?: string;
  /** Whoever may not do this does not hear of it: the permission to read the same. */
  readonly permission: string;
  /** The owner's id: only they, and people who can see all rows, receive the event. Omit it if there is no owner. */
  readonly owner?: Field;
  readonly id?: Field;
  /** A list of ids: one change for each. */
  readonly ids?: Field;
  readonly agent?: Field;
  readonly session?: Field;
  readonly state?: Field;
  /** The state that the event itself means. */
  readonly is?: string;
}

export interface EventDecl<S extends TSchema = TSchema> extends Declared {
  readonly declares: 'event';
  readonly data: S;
  readonly live?: LiveSpec;
}

/** `live`: pages hear of it too. */
export const defineEvent = <S extends TSchema>(name: string, version: string, data: S, live?: LiveSpec<keyof Plain<S> & string>): EventDecl<S> =>
  frozen({ declares: 'event', name, version, data, ...(live === undefined ? {} : { live }) });

const Nothing = Type.Object({});

export const ExtensionChanged = defineEvent('extension.changed', '1.0.0', Type.Object({ id: Type.String(), state: Type.String() }), {
  what: 'extension',
  permission: 'extensions.read',
  id: 'id',
  state: 'state',
});

export const ConfigChanged = defineEvent('config.changed', '1.0.0', Type.Object({ sections: Type.Array(Type.String()) }), {
  what: 'config',
  permission: 'config.read',
  ids: 'sections',
});

/** Keys, people or roles have changed: open connections are checked again. Emitted by the extension that taps `http.authenticate`. */
export const AuthChanged = defineEvent('auth.changed', '1.0.0', Nothing, { what: 'auth', permission: 'webchat.read' });

/** The events that are declared as live, each as what pages hear of it. It tells of every owner, so it needs the grant `kernel:panels`. */
export const PageChanged = defineEvent(
  'page.changed',
  '1.0.0',
  Type.Object({
    what: Type.String(),
    permission: Type.String(),
    ownerId: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    agent_id: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
  }),
);
export type PageChanged = Plain<(typeof PageChanged)['data']>;

/** To a durable listener that fell so far behind that events were removed: those with a number above `after` and below `before` it never gets. */
export const EventsGap = defineEvent('events.gap', '1.0.0', Type.Object({ after: Type.Integer(), before: Type.Integer() }));

export interface Events {
  /** A write that joins the commit that causes the fact: heard only if, and after, that commit succeeds. Only what the manifest says it publishes. */
  event<E extends EventDecl>(event: E, data: Plain<E['data']>): Write;
  /** For facts that no commit causes: heard live, never stored. */
  publish<E extends EventDecl>(event: E, data: Plain<E['data']>): void;
  on<E extends EventDecl>(event: E, fn: (data: Plain<E['data']>) => void | Promise<void>): Disposable;
  /** For an event that the manifest names under `events.durable`: those that wait come together, oldest first, at least once. */
  onBatch<E extends EventDecl>(event: E, fn: (batch: ReadonlyArray<Plain<E['data']>>) => void | Promise<void>): Disposable;
}
