/** Events at the access check: said and received are those that the manifest names. */
import { AuditRecorded, type EventDecl, type Events, PageChanged, type Write } from '@svc/api';
import type { GrantName, Manifest } from '@svc/api/internal';
import type { EventHub, Contributor } from '@svc/core';
import { requireDeclared, still } from './grants-policy.js';

/** `seal` makes the write of an event, as its owner's. */
export const eventsAccess = (hub: EventHub, owner: Contributor, manifest: Manifest, seal: (event: string, data: unknown) => Write, need: (grant: GrantName) => void): Events => {
  const { publishes = [], listens = [] } = manifest.events ?? {};
  const checked = (decl: EventDecl, data: unknown): { readonly name: string; readonly data: unknown } => {
    const event = still(decl);
    if (event.name !== AuditRecorded.name || owner.build === undefined) requireDeclared(manifest, 'events.publishes', publishes, event.name);
    return { name: event.name, data: hub.validated(owner, event, data) };
  };
  const received = <E extends EventDecl>(decl: E): E => {
    const event = still(decl);
    requireDeclared(manifest, 'events.listens', listens, event.name);
    if (event.name === PageChanged.name) need('kernel:panels');
    if (event.name === AuditRecorded.name) need('kernel:audit');
    return event;
  };
  return {
    event: (event, data) => {
      const reported = checked(event, data);
      return seal(reported.name, reported.data);
    },
    publish: (event, data) => {
      const reported = checked(event, data);
      hub.deliver(reported.name, reported.data);
    },
    on: (decl, fn) => hub.on(owner, received(decl), fn),
    onBatch: (decl, fn) => hub.onBatch(owner, received(decl), fn),
  };
};
