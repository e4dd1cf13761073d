/** An area of somebody else, for what agents may do with it: one capability of each form. */
import { type CapabilityDecl, defineCapability } from '@svc/api';
import { fixtureExtension } from '@svc/testing';

export const CALENDAR: readonly CapabilityDecl[] = [
  defineCapability('calendar_read', '1.0.0', { description: 'Read these calendars', grant: 'names' }),
  defineCapability('calendar_sync', '1.0.0', { description: 'Sync with these servers', grant: 'hosts' }),
  defineCapability('calendar_share', '1.0.0', { description: 'Share calendars with everybody', grant: 'flag' }),
];

export const calendar = () =>
  fixtureExtension({
    id: 'calendar',
    manifest: { capabilities: CALENDAR.map(({ name }) => name) },
    contributions: { capabilities: CALENDAR },
    definition: { capabilities: CALENDAR, activate: () => undefined },
  });
