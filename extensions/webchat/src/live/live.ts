/** Puts the parts of the live socket together. */
import { AuthChanged, type ExtensionContext, HttpAuthorize, type Metric, MetricsCollect } from '@svc/api';
import { listenForChanges } from './changes.js';
import { createFeed } from './feed.js';
import { createRecipients } from './recipients.js';
import { createRingBuffer } from './ring-buffer.js';
import { liveSocket, SOCKET_ID } from './socket.js';

const HELD_CHANGES = 1_000;
const EPOCH_BYTES = 8;
const PING_MS = 15_000;

/** Returns a function that says where the changes stand now, as the socket takes it for `after`. */
export const serveLive = (ctx: ExtensionContext): (() => string) => {
  const ringBuffer = createRingBuffer(ctx.ids.hex(EPOCH_BYTES), HELD_CHANGES);
  const recipients = createRecipients(ctx.hooks.use(HttpAuthorize), SOCKET_ID);
  const connections = () => ctx.sockets.connections(SOCKET_ID);
  const feed = createFeed({
    ringBuffer,
    recipients,
    log: ctx.log,
    connections,
    later: (ms, fn) => {
      if (!ctx.signal.aborted) ctx.timers.after('tell-changes', ms, fn);
    },
  });
  ctx.events.on(AuthChanged, () => recipients.forget());
  listenForChanges(ctx.events, (change) => {
    ringBuffer.add(change);
    feed.changed();
  });
  ctx.sockets.add(liveSocket(ringBuffer, feed));
  ctx.timers.every('ping-pages', PING_MS, () => feed.ping());
  // Sockets that an earlier generation opened learn at once that numbers begin anew.
  ctx.timers.after('greet-again', 0, () => feed.ping());
  ctx.hooks.tap(MetricsCollect, (): Metric[] => [
    { name: 'svc_live_sockets', help: 'Pages that are connected to live changes', type: 'gauge', value: connections().length },
    { name: 'svc_live_gaps_total', help: 'Times that a page had to reload because the changes it missed were no longer buffered', type: 'counter', value: feed.gaps() },
  ]);
  return () => `${ringBuffer.epoch}.${ringBuffer.newest()}`;
};
