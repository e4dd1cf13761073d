/** What a person sees of a call that they have to approve: made from its arguments and the files as they are. */
import { createHash } from 'node:crypto';
import { type Dir, type FileChange, isSvcError, parseCommandLine, type ToolPreview, parsedUrl } from '@svc/api';
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { toolErrors } from '../errors.js';
import type { Change } from './patch-plan.js';
import { readText } from './workspace.js';

const MAX_LINE_CHARS = 16_000;
const MAX_DIFF_CHARS = 48_000;
const MAX_FILES = 50;
const MAX_HASHED_BYTES = 64 * 1_048_576;
/** A comparison that takes longer is given up: the file is then shown as replaced. */
const MAX_COMPARE_MS = 150;
const MAX_EDITS = 4_000;

export const commandPreview = (command: string): ToolPreview => {
  const line = parseCommandLine(command);
  return { kind: 'command', line: command.slice(0, MAX_LINE_CHARS), argv: 'words' in line && command.length <= MAX_LINE_CHARS ? line.words : null, truncated: command.length > MAX_LINE_CHARS };
};

/** Throws `tools_bad_arguments` for what is no address. */
export const requestPreview = (url: string): ToolPreview => {
  const { host } = parsedUrl(url) ?? {};
  if (host === undefined) throw toolErrors.bad_arguments('web_fetch', `url is not an address: ${url.slice(0, 200)}`);
  // As the adapter reads it: what stands before an @ is no host.
  return { kind: 'request', method: 'GET', host, url };
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Of a file's bytes where it is no text that can be shown: `before` is then a note, and not what is in the file. */
interface Shown extends Change {
  readonly hash?: string;
}

export const diffPreview = (changes: readonly Shown[]): ToolPreview => {
  let left = MAX_DIFF_CHARS;
  const files = changes.slice(0, MAX_FILES).map((change) => {
    const shown = fileChange(change, left);
    left = Math.max(0, left - shown.diff.length);
    return shown;
  });
  const rest = changes.slice(MAX_FILES);
  if (rest.length === 0) return { kind: 'diff', files };
  const before = hashOf(JSON.stringify(rest.map((change) => [change.path, stateOf(change)])));
  return { kind: 'diff', files: [...files, { path: `(${rest.length} more files)`, change: 'update', before, diff: '', added: 0, removed: 0, truncated: true }] };
};

const stateOf = ({ before, hash }: Shown): string | null => hash ?? (before === null ? null : hashOf(before));

/** What a file is before it is replaced: null where there is none. One that is no text is told by its size, and known by its bytes. */
export const stateBefore = async (dir: Dir, path: string): Promise<Pick<Shown, 'before' | 'hash'>> => {
  try {
    return { before: (await readText(dir, path)) ?? null };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const found = await dir.stat(path);
    if (found?.kind !== 'file') return { before: '[not a file]\n', hash: found?.kind ?? 'none' };
    const note = `[${found.sizeBytes} bytes that cannot be shown as text]\n`;
    // Nobody waits for gigabytes: of a larger one, size and time are what it is known by.
    if (found.sizeBytes > MAX_HASHED_BYTES) return { before: note, hash: hashOf(`${found.sizeBytes} ${found.modifiedAt}`) };
    const hash = createHash('sha256');
    for await (const piece of dir.readStream(path)) hash.update(piece);
    return { before: note, hash: hash.digest('hex') };
  }
};

const fileChange = (shown: Shown, room: number): FileChange => {
  const { path, before, after } = shown;
  const whole = unified(before ?? '', after ?? '') ?? replaced(before ?? '', after ?? '');
  const lines = whole.split('\n');
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return {
    path,
    change: before === null ? 'create' : after === null ? 'delete' : 'update',
    before: stateOf(shown),
    diff: whole.slice(0, room),
    added: count('+'),
    removed: count('-'),
    truncated: whole.length > room,
  };
};

const unified = (before: string, after: string): string | undefined => {
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, maxEditLength: MAX_EDITS, timeout: MAX_COMPARE_MS });
  if (!patch) return undefined;
  const text = formatPatch(patch, FILE_HEADERS_ONLY);
  const at = text.indexOf('@@');
  return at < 0 ? '' : text.slice(at);
};

const replaced = (before: string, after: string): string => [...signed('-', before), ...signed('+', after)].join('\n');

const signed = (sign: string, text: string): string[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `${sign}${line}`);
