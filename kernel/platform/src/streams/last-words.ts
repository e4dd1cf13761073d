/** What a reader is told when the service stops before its topic has ended. It is no frame of the topic: the work goes on. */
import type { Frame } from '@svc/api';
import type { Cursor } from './cursor.js';
import { streamErrors } from './errors.js';

/** Has the id of the frame that was read last, so that a client which comes back with it misses nothing. */
export const lastWords = (place: Pick<Cursor, 'lastRead'>): Frame => {
  const { message, code, status, hint } = streamErrors.stopping();
  return { ...place.lastRead(), type: 'error', data: { error: message, code, status, hint }, final: true };
};
