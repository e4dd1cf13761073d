/**
 * What changes at the daemon, as it changes, over the page's one socket.
 *
 * L1  Who shows something loads it anew when it changed, and when it cannot be known whether it did.
 * L2  Whether the page is in touch is one signal, for all who show it.
 */
import { effect, signal } from '@preact/signals';
import { followChanges, type LiveChange } from '@svc/client/live';
import { useEffect, useRef } from 'preact/hooks';
import { caller, loadCaller, mustLogIn, onRefused } from './caller.js';
import { daemon } from './daemon.js';

export type Connection = 'connecting' | 'live' | 'offline';
export type ChangeKind = LiveChange['what'];

export const connection = signal<Connection>('connecting');

type Listener = (change: LiveChange | undefined) => void;
const listeners = new Map<Listener, ReadonlySet<string>>();

const notify = (change: LiveChange): void => {
  for (const [listener, kinds] of [...listeners]) if (kinds.has(change.what)) listener(change);
};

const notifyAll = (): void => {
  for (const listener of [...listeners.keys()]) listener(undefined);
};

/** Called once, by the page, when it knows its caller. `after` is where everything that is shown was read, or later. */
export const startLive = (after?: string): (() => void) => {
  const askForKey = onRefused();
  const live = followChanges({
    client: daemon,
    after,
    onChange: (change) => {
      if (change.what === 'auth') void loadCaller();
      notify(change);
    },
    onGap: notifyAll,
    onState: (state) => {
      // What was loaded while nobody listened may have changed since; with a place that is told.
      if (state === 'live' && connection.peek() === 'connecting' && after === undefined) notifyAll();
      if (state === 'refused') askForKey();
      connection.value = state === 'refused' ? 'offline' : state;
    },
  });
  return () => live.close();
};

/** Calls `fn` with each change of these kinds, and without one when changes were missed. */
export const useChanges = (kinds: readonly ChangeKind[], fn: Listener): void => {
  const latest = useRef(fn);
  latest.current = fn;
  const key = kinds.join();
  useEffect(() => {
    const listener: Listener = (change) => latest.current(change);
    listeners.set(listener, new Set(key.split(',')));
    return () => void listeners.delete(listener);
  }, [key]);
};

/** A change of the caller is a change of everything they see, and so is a login: what was asked for before it may have been refused. */
let known: string | undefined;
let wasAsked = false;
effect(() => {
  const asks = mustLogIn.value;
  const now = caller.value?.isKnown ? `${caller.value.role} ${caller.value.name}` : undefined;
  if (!asks && now !== undefined && known !== undefined && (wasAsked || now !== known)) notifyAll();
  wasAsked = asks;
  known = now ?? known;
});
