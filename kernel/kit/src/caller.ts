/** Who looks at this page, and what they may do. The daemon validates each call again; this only keeps buttons from promising more. */
import { batch, signal } from '@preact/signals';
import { daemon } from './daemon.js';
import { kitWords } from './kit-words.js';

export interface Caller {
  readonly isKnown: boolean;
  readonly name: string;
  readonly role: string;
  /** Whether they came in with a key, and can leave. */
  readonly hasSession: boolean;
}

const NOBODY: Caller = { isKnown: false, name: '', role: 'public', hasSession: false };

/** Undefined until the daemon has said who it is. */
export const caller = signal<Caller | undefined>(undefined);

/** Set when the daemon no longer knows the caller: the page asks for the key, and keeps what it shows behind that. */
export const mustLogIn = signal(false);

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  owner: ['read', 'send', 'write', 'admin', 'own'],
  system: ['read', 'send', 'write', 'admin', 'own'],
  admin: ['read', 'send', 'write', 'admin'],
  user: ['read', 'send', 'write'],
  viewer: ['read'],
};

/** Whether the caller's role has this verb: `agents.write`. */
export const may = (permission: string): boolean => (ALLOWED[caller.value?.role ?? ''] ?? []).includes(permission.slice(permission.lastIndexOf('.') + 1));

/** Why a button is disabled; undefined where it need not be. */
export const whyNot = (permission: string): string | undefined => (may(permission) ? undefined : kitWords('not_allowed', { role: caller.value?.role ?? 'public' }));

/** For the button of what needs this permission: disabled where the caller's role has it not, and saying so. */
export const needs = (permission: string): { disabled: boolean; title: string | undefined } => ({ disabled: !may(permission), title: whyNot(permission) });

/** How often the daemon was asked who this is, and the question that was answered last. */
let asked = 0;

/** An answer that comes after the answer to a later question says who this was before a login. */
export const loadCaller = async (): Promise<void> => {
  const own = ++asked;
  const answer = await daemon.call('getCaller');
  if (own !== asked) return;
  batch(() => {
    if (answer.authenticated && mustLogIn.peek()) logins++;
    caller.value = answer.authenticated ? { isKnown: true, name: answer.name ?? '', role: answer.role ?? 'viewer', hasSession: answer.via === 'cookie' } : NOBODY;
    mustLogIn.value = !answer.authenticated;
  });
};

let logins = 0;

/** Call it before a request, and the result when that was refused with 401: it asks for the key, unless somebody logged in meanwhile. */
export const onRefused = (): (() => void) => {
  const before = logins;
  return () => {
    if (before === logins) mustLogIn.value = true;
  };
};
