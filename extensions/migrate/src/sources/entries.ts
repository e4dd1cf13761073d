/**
 * From messages of other programs to entries.
 *
 * E1  A message of a person or model is one entry, each of its tool calls another one, and so each result.
 * E2  Times are those of the source. A message without one has that of the message before it.
 * E3  Text is taken as it is, but for NUL, which no database here stores.
 */
import type { Part, Via } from '@svc/ext-sessions/contract';
import { isTable, listOf, type SourceMessage, type Table, tableOf, textOf, type TimedDraft } from './model.js';

/** Of one picture; a larger one is named instead. */
const MAX_IMAGE_CHARS = 8_000_000;
const MAX_TEXT_CHARS = 2_000_000;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;

export interface Origin {
  readonly at: string;
  readonly via: Via;
}

export const clean = (text: string): string => {
  const whole = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return whole.length > MAX_TEXT_CHARS ? `${whole.slice(0, MAX_TEXT_CHARS)}\n[${whole.length - MAX_TEXT_CHARS} more characters were left out by the import]` : whole;
};

const image = (mediaType: unknown, data: unknown): Part | undefined => {
  if (typeof data !== 'string' || typeof mediaType !== 'string' || !IMAGE_TYPE.test(mediaType)) return undefined;
  return data.length > MAX_IMAGE_CHARS ? { type: 'text', text: `[a picture of ${data.length} characters was left out by the import]` } : { type: 'image', mediaType, data };
};

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? {}).replaceAll('\\u0000', '')) as unknown;

export const userEntry = ({ at, via }: Origin, parts: readonly Part[]): TimedDraft => ({ kind: 'user', runId: null, parts: [...parts], via, at });
export const assistantEntry = ({ at }: Origin, parts: readonly Part[], thoughts?: string, used?: TimedDraft['used']): TimedDraft => ({
  kind: 'assistant',
  runId: null,
  parts: [...parts],
  ...(thoughts === undefined || thoughts === '' ? {} : { thoughts: clean(thoughts) }),
  ...(used === undefined ? {} : { used }),
  at,
});
export const callEntry = ({ at }: Origin, id: string, name: string, args: unknown): TimedDraft => ({ kind: 'tool_call', runId: null, callId: id, tool: name, args: plain(args), at });
export const resultEntry = ({ at }: Origin, id: string, name: string, content: string, isError: boolean): TimedDraft => ({
  kind: 'tool_result',
  runId: null,
  callId: id,
  tool: name,
  content: clean(content),
  isError,
  status: isError ? 'error' : 'ok',
  at,
});
export const noteEntry = ({ at }: Origin, content: string): TimedDraft => ({ kind: 'note', runId: null, parts: [{ type: 'text', text: clean(content) }], at });

/** Arguments as text, as the chat-completions protocol has them. */
export const argsOf = (value: unknown): unknown => {
  if (typeof value !== 'string') return value ?? {};
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return { text: value };
  }
};

interface Read {
  parts: Part[];
  thoughts: string;
  calls: Array<{ id: string; name: string; args: unknown }>;
  results: Array<{ id: string; name: string; content: string; isError: boolean }>;
}

/** Content parts of any of the programs: by their type, and the names that each gives to its fields. */
export const readContent = (content: unknown): Read => {
  const read: Read = { parts: [], thoughts: '', calls: [], results: [] };
  if (typeof content === 'string') {
    if (content !== '') read.parts.push({ type: 'text', text: clean(content) });
    return read;
  }
  for (const part of listOf(content)) if (isTable(part)) readPart(read, part);
  return read;
};

const readPart = (read: Read, part: Table): void => {
  const { type } = part;
  if (type === 'text' || type === 'input_text' || type === 'output_text') {
    const text = textOf(part.text);
    if (text !== undefined) read.parts.push({ type: 'text', text: clean(text) });
  } else if (type === 'thinking' || type === 'reasoning') read.thoughts += textOf(part.thinking) ?? textOf(part.text) ?? textOf(part.reasoning) ?? '';
  else if (type === 'toolCall' || type === 'tool_use' || type === 'tool_call')
    read.calls.push({ id: textOf(part.id) ?? '', name: textOf(part.name) ?? 'unknown', args: argsOf(part.arguments ?? part.input ?? part.args) });
  else if (type === 'toolResult' || type === 'tool_result')
    read.results.push({
      id: textOf(part.tool_use_id) ?? textOf(part.toolCallId) ?? '',
      name: textOf(part.tool_name) ?? textOf(part.toolName) ?? 'unknown',
      content: flatText(part.content),
      isError: part.is_error === true || part.isError === true,
    });
  else if (type === 'image') {
    const source = tableOf(part.source);
    const found = image(part.mimeType ?? part.media_type ?? source.media_type, part.data ?? source.data);
    if (found) read.parts.push(found);
  } else if (type === 'image_url') {
    const [, mediaType, data] = /^data:(image\/[a-z]+);base64,(.+)$/s.exec(textOf(tableOf(part.image_url).url) ?? '') ?? [];
    const found = image(mediaType, data);
    if (found) read.parts.push(found);
  }
};

/** Text of content of any form. */
export const flatText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part) => (isTable(part) ? (textOf(part.text) ?? (part.type === 'image' ? '[a picture]' : '')) : String(part))).join('\n');
  return content === undefined || content === null ? '' : JSON.stringify(content);
};

/** A message whose content has parts of all kinds, as Anthropic's protocol has them. */
export const messageEntries = (origin: Origin, role: string, content: unknown, used?: TimedDraft['used']): SourceMessage => {
  const { parts, thoughts, calls, results } = readContent(content);
  const entries: TimedDraft[] = results.map(({ id, name, content: text, isError }) => resultEntry(origin, id, name, text, isError));
  if (role === 'assistant') {
    if (parts.length > 0 || thoughts !== '' || calls.length === 0) entries.push(assistantEntry(origin, parts, thoughts, used));
    entries.push(...calls.map(({ id, name, args }) => callEntry(origin, id, name, args)));
  } else if (parts.length > 0) entries.push(role === 'system' ? noteEntry(origin, parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')) : userEntry(origin, parts));
  return { entries };
};
