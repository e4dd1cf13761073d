/**
 * Reads the patch text that models write:
 *
 *   *** Begin Patch
 *   *** Add File: notes.md          every line begins with +
 *   *** Update File: app.ts         hunks: lines that begin with space (stays), - (goes), + (comes)
 *   *** Move to: src/app.ts         optional, straight after Update File
 *   @@ function start               optional text of a line that stands before the hunk
 *   *** End of File                 optional: the hunk's lines are the file's last ones
 *   *** Delete File: old.txt
 *   *** End Patch
 */
import { toolErrors } from '../errors.js';

export interface Hunk {
  /** A line that stands somewhere before the hunk; empty when none is named. */
  readonly anchor: string;
  readonly lines: ReadonlyArray<{ readonly kind: 'keep' | 'remove' | 'add'; readonly text: string }>;
  readonly atEnd: boolean;
}

export type PatchSection =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo: string | null; readonly hunks: readonly Hunk[] };

const MAX_SECTIONS = 200;
const KINDS: Readonly<Record<string, Hunk['lines'][number]['kind']>> = { '+': 'add', '-': 'remove', ' ': 'keep' };

interface Cursor {
  readonly lines: readonly string[];
  at: number;
  /** The first line at or after `at` that is not blank, when it was looked for: thousands of blank lines are passed once. */
  textAt: number;
}

/** Throws `tools_patch_invalid` with the line, counted from one. */
export const parsePatch = (text: string): PatchSection[] => {
  const cursor: Cursor = { lines: text.replace(/\r\n/g, '\n').split('\n'), at: 0, textAt: -1 };
  while (cursor.lines[cursor.at]?.trim() === '') cursor.at += 1;
  if (peek(cursor)?.trim() !== '*** Begin Patch') return fail(cursor, '"*** Begin Patch" was expected');
  cursor.at += 1;
  const sections: PatchSection[] = [];
  for (;;) {
    const line = peek(cursor);
    if (line === undefined) return fail(cursor, '"*** End Patch" is missing');
    if (line.trim() === '*** End Patch') break;
    if (line.trim() === '') cursor.at += 1;
    else sections.push(readSection(cursor));
    if (sections.length > MAX_SECTIONS) return fail(cursor, `it changes more than ${MAX_SECTIONS} files`);
  }
  return sections.length === 0 ? fail(cursor, 'it changes nothing') : sections;
};

const peek = (cursor: Cursor): string | undefined => cursor.lines[cursor.at];

const fail = (cursor: Cursor, what: string): never => {
  throw toolErrors.patch_invalid(what, cursor.at + 1);
};

const readSection = (cursor: Cursor): PatchSection => {
  const header = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(peek(cursor) ?? '');
  const path = header?.[2]?.trim();
  if (!header || !path) return fail(cursor, '"*** Add File: path", "*** Update File: path" or "*** Delete File: path" was expected');
  cursor.at += 1;
  if (header[1] === 'Delete') return { kind: 'delete', path };
  return header[1] === 'Add' ? { kind: 'add', path, content: readAdded(cursor) } : readUpdate(cursor, path);
};

const readAdded = (cursor: Cursor): string => {
  const lines: string[] = [];
  for (let line = peek(cursor); line !== undefined && !line.startsWith('*** '); line = peek(cursor)) {
    if (!line.startsWith('+')) {
      if (line.trim() !== '') return fail(cursor, 'each line of an added file begins with +');
    } else lines.push(line.slice(1));
    cursor.at += 1;
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
};

const readUpdate = (cursor: Cursor, path: string): PatchSection => {
  const moveTo = /^\*\*\* Move to: (.+)$/.exec(peek(cursor) ?? '')?.[1]?.trim() ?? null;
  if (moveTo !== null) cursor.at += 1;
  const hunks: Hunk[] = [];
  for (let line = peek(cursor); line !== undefined && !line.startsWith('*** '); line = peek(cursor)) {
    if (line.trim() === '' && isBetweenSections(cursor)) cursor.at += 1;
    else hunks.push(readHunk(cursor));
  }
  return hunks.length === 0 && moveTo === null ? fail(cursor, `the update of ${path} has no hunk`) : { kind: 'update', path, moveTo, hunks };
};

/** Blank lines before the next section are nobody's; elsewhere a blank line stands for an empty line that stays. */
const isBetweenSections = (cursor: Cursor): boolean => {
  if (cursor.textAt < cursor.at) {
    cursor.textAt = cursor.at;
    while (cursor.lines[cursor.textAt]?.trim() === '') cursor.textAt += 1;
  }
  return cursor.lines[cursor.textAt]?.startsWith('*** ') ?? true;
};

const readHunk = (cursor: Cursor): Hunk => {
  const header = /^@@ ?(.*)$/.exec(peek(cursor) ?? '');
  if (header) cursor.at += 1;
  // Some models write `@@ text @@`, or line numbers as diff does: numbers are no line of the file.
  const named = (header?.[1] ?? '').replace(/ ?@@$/, '').trim();
  const anchor = /^-\d+(,\d+)? \+\d+(,\d+)?$/.test(named) ? '' : named;
  const lines: Array<Hunk['lines'][number]> = [];
  for (let line = peek(cursor); line !== undefined && !line.startsWith('*** ') && !line.startsWith('@@'); line = peek(cursor)) {
    if (line === '' && isBetweenSections(cursor)) break;
    const kind = line === '' ? 'keep' : KINDS[line.charAt(0)];
    if (kind === undefined) return fail(cursor, 'each line of a hunk begins with a space, - or +');
    lines.push({ kind, text: line.slice(1) });
    cursor.at += 1;
  }
  if (!lines.some(({ kind }) => kind !== 'keep')) return fail(cursor, 'this hunk changes no line');
  const atEnd = peek(cursor)?.trim() === '*** End of File';
  if (atEnd) cursor.at += 1;
  return { anchor, lines, atEnd };
};
