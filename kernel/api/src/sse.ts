/** Server-sent events as text (HTML Living Standard, 9.2). */
import type { Frame, FrameEncoder } from './streams.js';

/** The text of one event. Data that is not text is sent as one line of JSON; line breaks inside text become several `data:` lines. */
export const sse = (event: string | undefined, data: unknown, id?: string): string => {
  let text = '';
  if (id !== undefined) text += `id: ${id}\n`;
  if (event !== undefined) text += `event: ${event}\n`;
  const body = typeof data === 'string' ? data.replaceAll(/\r\n|\r|\n/g, '\ndata: ') : JSON.stringify(data);
  return `${text}data: ${body}\n\n`;
};

/**
 * An encoder of event streams whose `id:` is the frame's, so that a client can resume with `Last-Event-ID`.
 * `shape` gives the event's name (none = unnamed) and data, or undefined to leave a frame out. It must be pure.
 */
export const sseEncoder = (shape: (frame: Frame) => { event?: string; data: unknown } | undefined): FrameEncoder => ({
  contentType: 'text/event-stream; charset=utf-8',
  encode: (frame) => {
    const event = shape(frame);
    return event === undefined ? undefined : sse(event.event, event.data, frame.id);
  },
});
