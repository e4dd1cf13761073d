/** Waits for a topic's final frame, or an earlier one that the caller accepts. */
import type { Frame } from '@svc/api';
import { streamErrors } from '../../streams/errors.js';
import type { Cursor } from '../../streams/cursor.js';
import type { StreamsAdmin } from '../../streams/streams.js';

/**
 * Looks at the newest frame that is there, then at those that come: what an older frame
 * said (that a run waits for a person, say) may be over by now. With `after`, only at those that follow that frame.
 * Resolves with nothing when none came within `lateMs`.
 * Rejects with the signal's reason when it aborts, and when the service stops.
 */
export const waitForFrame = (
  streams: Pick<StreamsAdmin, 'cursor' | 'newest'>,
  topic: string,
  accepts: (frame: Frame) => boolean,
  signal: AbortSignal,
  { lateMs, after }: { lateMs?: number | undefined; after?: string | undefined } = {},
): Promise<Frame | undefined> =>
  new Promise((resolve, reject) => {
    const newest = streams.newest(topic);
    const placeAt = (from: number | string): Cursor => {
      const found = streams.cursor(topic, from, () => look());
      if (!found) throw streamErrors.not_found(topic);
      return found;
    };
    let place = placeAt(after ?? (newest ? newest.seq - 1 : 0));
    let timer: NodeJS.Timeout | undefined;
    const leave = () => {
      clearTimeout(timer);
      place.close();
      signal.removeEventListener('abort', gone);
    };
    const gone = () => {
      leave();
      reject(signal.reason);
    };
    const look = () => {
      let found = nextAccepted(place, accepts);
      // What was missed on the way does not matter to whoever waits for the end.
      while (!found && (place.state === 'moved' || place.state === 'lost')) {
        place = placeAt(0);
        found = nextAccepted(place, accepts);
      }
      if (!found && place.state === 'live') return;
      leave();
      if (found) resolve(found);
      else reject(streamErrors.stopping());
    };
    signal.addEventListener('abort', gone);
    if (signal.aborted) return gone();
    // How long a client is left without a header is a matter of the wire, not of the work: no virtual clock.
    if (lateMs !== undefined)
      timer = setTimeout(() => {
        leave();
        resolve(undefined);
      }, lateMs);
    look();
  });

const nextAccepted = (place: Cursor, accepts: (frame: Frame) => boolean): Frame | undefined => {
  for (let frame = place.read(); frame; frame = place.read()) if (frame.final || accepts(frame)) return frame;
  return undefined;
};
