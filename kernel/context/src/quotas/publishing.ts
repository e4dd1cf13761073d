/** How much a third-party extension may publish: events that are kept push out older ones, whoever published those. */
import type { Clock, Events } from '@svc/api';
import { contextErrors } from '../errors.js';

const WINDOW_MS = 60_000;
const MAX_EVENTS = 1_000;
const MAX_BYTES = 5 * 1_048_576;

/** At most 1,000 events and 5 MB in a minute. */
export const countedEvents = (events: Events, id: string, clock: Pick<Clock, 'mono'>): Events => {
  let window = { from: clock.mono(), count: 0, bytes: 0 };
  const count = (data: unknown): void => {
    const now = clock.mono();
    if (now - window.from >= WINDOW_MS) window = { from: now, count: 0, bytes: 0 };
    window.count += 1;
    window.bytes += Buffer.byteLength(JSON.stringify(data) ?? '');
    if (window.count > MAX_EVENTS || window.bytes > MAX_BYTES) throw contextErrors.quota_events(id, MAX_EVENTS, MAX_BYTES);
  };
  return {
    on: events.on,
    onBatch: events.onBatch,
    event: (event, data) => {
      count(data);
      return events.event(event, data);
    },
    publish: (event, data) => {
      count(data);
      events.publish(event, data);
    },
  };
};
