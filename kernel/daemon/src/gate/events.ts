/** Events at the gate: said and heard are those that the manifest names. */
import { type EventDecl, type Events, type GrantName, type Manifest, PageChanged, type Write } from '@svc/api';
import type { EventHub, Owner } from '@svc/core';
import { requireDeclared, still } from './declared.js';

/** `seal` makes the write of an event, as its owner's. */
export const eventsGate = (hub: EventHub, owner: Owner, manifest: Manifest, seal: (event: string, data: unknown) => Write, need: (grant: GrantName) => void): Events => {
  const { publishes = [], listens = [] } = manifest.events ?? {};
  const checked = (decl: EventDecl, data: unknown): { readonly name: string; readonly data: unknown } => {
    const event = still(decl);
    requireDeclared(manifest, 'events.publishes', publishes, event.name);
    return { name: event.name, data: hub.judged(owner, event, data) };
  };
  return {
    event: (event, data) => {
      const told = checked(event, data);
      return seal(told.name, told.data);
    },
    publish: (event, data) => {
      const told = checked(event, data);
      hub.tell(told.name, told.data);
    },
    on: (decl, fn) => {
      const event = still(decl);
      requireDeclared(manifest, 'events.listens', listens, event.name);
      if (event.name === PageChanged.name) need('kernel:panels');
      return hub.on(owner, event, fn);
    },
  };
};
