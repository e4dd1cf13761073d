/** Events at the gate: said and heard are those that the manifest names. */
import type { EventDecl, Events, Manifest, Write } from '@svc/api';
import type { EventHub, Owner } from '@svc/core';
import { requireDeclared } from './declared.js';

/** `seal` makes the write of an event, as its owner's. */
export const eventsGate = (hub: EventHub, owner: Owner, manifest: Manifest, seal: (event: string, data: unknown) => Write): Events => {
  const { publishes = [], listens = [] } = manifest.events ?? {};
  const check = (event: EventDecl, data: unknown): void => {
    requireDeclared(manifest, 'events.publishes', publishes, event.name);
    hub.judge(owner, event, data);
  };
  return {
    event: (event, data) => {
      check(event, data);
      return seal(event.name, data);
    },
    publish: (event, data) => {
      check(event, data);
      hub.emit(event.name, data);
    },
    on: (event, fn) => {
      requireDeclared(manifest, 'events.listens', listens, event.name);
      return hub.on(owner, event, fn);
    },
  };
};
