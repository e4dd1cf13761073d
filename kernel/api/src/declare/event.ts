/** Events: facts after commit, each declared once as a value. What only wants to know listens here and taps no hook. */
import type { TSchema } from '@sinclair/typebox';
import type { Disposable } from '../disposable.js';
import { Type } from '../schema/schema.js';
import type { Write } from '../storage.js';
import { type Declared, frozen, type Plain } from './plain.js';

export interface EventDecl<S extends TSchema = TSchema> extends Declared {
  readonly declares: 'event';
  readonly data: S;
}

export const defineEvent = <S extends TSchema>(name: string, version: string, data: S): EventDecl<S> => frozen({ declares: 'event', name, version, data });

const Nothing = Type.Object({});

export const ExtensionChanged = defineEvent('extension.changed', '1.0.0', Type.Object({ id: Type.String(), state: Type.String() }));

export const ConfigChanged = defineEvent('config.changed', '1.0.0', Type.Object({ sections: Type.Array(Type.String()) }));

/** Keys, people or roles have changed: whoever stays connected is judged again. Said by whoever taps `http.authenticate`. */
export const AuthChanged = defineEvent('auth.changed', '1.0.0', Nothing);

/** To a durable listener that fell so far behind that events were removed: these it never gets. */
export const EventsGap = defineEvent('events.gap', '1.0.0', Type.Object({ after: Type.Integer(), before: Type.Integer() }));

export interface Events {
  /** A write that joins the commit that causes the fact: heard only if, and after, that commit succeeds. Only what the manifest says it publishes. */
  event<E extends EventDecl>(event: E, data: Plain<E['data']>): Write;
  /** For facts that no commit causes: heard live, never stored. */
  publish<E extends EventDecl>(event: E, data: Plain<E['data']>): void;
  on<E extends EventDecl>(event: E, fn: (data: Plain<E['data']>) => void | Promise<void>): Disposable;
}
