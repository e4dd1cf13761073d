/** Applies the hunks of one file to its text. */
import type { Hunk } from './patch-format.js';

export type Patched = { readonly text: string } | { readonly problem: string };

/** Hunks apply from top to bottom. Line ends and a missing last line end stay as the file has them. */
export const applyHunks = (text: string, hunks: readonly Hunk[]): Patched => {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const endsWithEol = text === '' || text.endsWith(eol);
  const lines = text === '' ? [] : (endsWithEol ? text.slice(0, -eol.length) : text).split(eol);
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const before = hunk.lines.filter(({ kind }) => kind !== 'add').map((line) => line.text);
    const at = place(lines, hunk, before, from);
    if (typeof at === 'string') return { problem: `hunk ${index + 1} of ${hunks.length}: ${at}` };
    const after = replacement(lines.slice(at, at + before.length), hunk);
    lines.splice(at, before.length, ...after);
    from = at + after.length;
  }
  return { text: lines.length === 0 ? '' : lines.join(eol) + (endsWithEol ? eol : '') };
};

/** Lines that stay keep the file's own text, which may differ from the hunk's in spaces at the end. */
const replacement = (current: readonly string[], hunk: Hunk): string[] => {
  let position = 0;
  const result: string[] = [];
  for (const { kind, text } of hunk.lines) {
    if (kind === 'add') result.push(text);
    else {
      if (kind === 'keep') result.push(current[position] ?? text);
      position += 1;
    }
  }
  return result;
};

/** Index of the hunk's first line in the file, or why it has no place. */
const place = (lines: readonly string[], hunk: Hunk, before: readonly string[], from: number): number | string => {
  let start = from;
  if (hunk.anchor !== '') {
    const anchor = findLines(lines, [hunk.anchor], from, [exact, trimmed]);
    if (anchor < 0) return `the line "${shown(hunk.anchor)}" was not found`;
    start = anchor + 1;
    // The anchor is often the hunk's own first line as well.
    if (before.length > 0 && before[0]?.trim() === hunk.anchor && findLines(lines, before, anchor, [exact, spacesAtEnd]) === anchor) return anchor;
  }
  // Only additions: after the anchor, or at the end of the file.
  if (before.length === 0) return hunk.anchor === '' || hunk.atEnd ? lines.length : start;
  if (hunk.atEnd) {
    const at = lines.length - before.length;
    return at >= start && findLines(lines, before, at, [exact, spacesAtEnd]) === at ? at : `its lines are not the last ones of the file, beginning with "${shown(before[0] ?? '')}"`;
  }
  const at = findLines(lines, before, start, [exact, spacesAtEnd]);
  return at >= 0 ? at : `its lines were not found${start > 0 ? ` after line ${start}` : ''}, beginning with "${shown(before.find((line) => line.trim() !== '') ?? '')}"`;
};

type Same = (a: string, b: string) => boolean;
const exact: Same = (a, b) => a === b;
const spacesAtEnd: Same = (a, b) => a.trimEnd() === b.trimEnd();
const trimmed: Same = (a, b) => a.trim() === b.trim();

/** The first place where all of `wanted` stands, trying the strictest comparison over the whole file before the next. */
const findLines = (lines: readonly string[], wanted: readonly string[], from: number, ways: readonly Same[]): number => {
  for (const same of ways) {
    for (let at = from; at + wanted.length <= lines.length; at++) {
      if (wanted.every((line, offset) => same(lines[at + offset] ?? '', line))) return at;
    }
  }
  return -1;
};

const shown = (line: string): string => line.trim().slice(0, 120);
