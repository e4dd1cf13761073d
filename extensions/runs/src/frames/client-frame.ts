/** What clients send over the WebSocket: a message, a ping or a request to resume. Text that is no JSON is a message. */
import { framedAttachments } from '../attachments.js';
import type { RunDraft } from '../contract.js';

export interface ClientFrame {
  readonly type: 'message' | 'ping' | 'resume';
  /** message: what is said. resume: the id of the last frame that came. */
  readonly content: string;
  /** Echoed on the frame that ends the exchange. */
  readonly messageId?: string;
  /** What a message may say besides, as on other channels. */
  readonly extras: Pick<RunDraft, 'key' | 'sessionId' | 'ephemeral' | 'incognito' | 'thinking' | 'showThinking' | 'attachments'>;
}

const MAX_MESSAGE_ID_CHARS = 128;

/** Plain text that is not JSON is a message. */
export function parseClientFrame(text: string): ClientFrame | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { type: 'message', content: clean(text), extras: {} };
  }
  if (typeof value !== 'object' || value === null) return { type: 'message', content: clean(text), extras: {} };
  const frame = value as Record<string, unknown>;
  const { type, message_id: messageId, last_event_id: lastFrame } = frame;
  const named = typeof messageId === 'string' ? { messageId: messageId.slice(0, MAX_MESSAGE_ID_CHARS) } : {};
  switch (type) {
    case 'ping':
      return { type, content: '', extras: {} };
    case 'resume':
      return typeof lastFrame === 'string' ? { type, content: lastFrame, ...named, extras: {} } : 'A resume frame needs "last_event_id", the id of the last frame that came.';
    case 'command':
      return commandFrame(frame, named);
    case 'message':
      return messageFrame(frame, named);
    default:
      return `Unknown frame type ${JSON.stringify(type ?? null)}: send {"type":"message","content":"…"}, {"type":"command","command":"help"}, {"type":"resume","last_event_id":"…"} or {"type":"ping"}.`;
  }
}

function messageFrame(frame: Record<string, unknown>, named: { messageId?: string }): ClientFrame | string {
  const { content = '' } = frame;
  const extras = extrasOf(frame);
  if (typeof extras === 'string') return extras;
  // A file may say it all.
  if (typeof content !== 'string' || (content.trim() === '' && !extras.attachments)) return 'A message frame needs a non-empty "content".';
  return { type: 'message', content: clean(content), ...named, extras };
}

/** The same as a message that begins with a slash. */
function commandFrame({ command, args }: Record<string, unknown>, named: { messageId?: string }): ClientFrame | string {
  if (typeof command !== 'string' || !/^\/?[a-z][a-z-]{0,63}$/i.test(command)) return 'A command frame needs "command", the name of one.';
  if (args !== undefined && typeof args !== 'string') return 'The "args" of a command frame are one string.';
  return { type: 'message', content: clean(`/${command.replace(/^\//, '')} ${args ?? ''}`.trim()), ...named, extras: {} };
}

const FLAGS = [
  ['ephemeral', 'ephemeral'],
  ['incognito', 'incognito'],
  ['thinking', 'thinking'],
  ['show_thinking', 'showThinking'],
] as const;

/** What is not understood is said: a flag of a wrong type must not become a message that is kept. */
function extrasOf(frame: Record<string, unknown>): ClientFrame['extras'] | string {
  const extras: Record<string, unknown> = {};
  for (const [flag, name] of FLAGS) {
    if (frame[flag] === undefined) continue;
    if (typeof frame[flag] !== 'boolean') return `"${flag}" of a message frame is true or false.`;
    extras[name] = frame[flag];
  }
  for (const [field, name] of [
    ['idempotency_key', 'key'],
    ['session_id', 'sessionId'],
  ] as const) {
    if (frame[field] === undefined) continue;
    if (typeof frame[field] !== 'string') return `"${field}" of a message frame is a string.`;
    extras[name] = frame[field];
  }
  const attachments = frame.attachments === undefined ? [] : framedAttachments(frame.attachments);
  if (typeof attachments === 'string') return attachments;
  return attachments === undefined || attachments.length === 0 ? extras : { ...extras, attachments };
}

/** Control characters but for line breaks and tabs have no place in a message. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point
const clean = (text: string): string => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '');
