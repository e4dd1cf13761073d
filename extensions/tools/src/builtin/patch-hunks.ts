/** Applies the hunks of one file to its text. */
import { type Budget, createLineSearch, type LineSearch, type Sameness, spend } from './line-search.js';
import type { Hunk } from './patch-format.js';

export type Patched = { readonly text: string } | { readonly problem: string };

/** To split and to join a text costs less than to compare its lines. */
const CHARS_PER_STEP = 8;

/** Hunks apply from top to bottom. Line ends and a missing last line end stay as the file has them. Throws `tools_patch_too_costly`. */
export const applyHunks = (text: string, hunks: readonly Hunk[], budget: Budget): Patched => {
  spend(budget, Math.ceil(text.length / CHARS_PER_STEP));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const endsWithEol = text === '' || text.endsWith(eol);
  const lines = text === '' ? [] : (endsWithEol ? text.slice(0, -eol.length) : text).split(eol);
  const search = createLineSearch(lines, budget);
  // What stands before the last hunk is made; what stands after it is the file as it was.
  const made: string[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const before = hunk.lines.filter(({ kind }) => kind !== 'add').map((line) => line.text);
    const at = place({ lines, search, from, made: made.length }, hunk, before);
    if (typeof at === 'string') return { problem: `hunk ${index + 1} of ${hunks.length}: ${at}` };
    for (let kept = from; kept < at; kept++) made.push(lines[kept] ?? '');
    appendReplacement(made, lines, at, hunk);
    from = at + before.length;
  }
  for (let kept = from; kept < lines.length; kept++) made.push(lines[kept] ?? '');
  return { text: made.length === 0 ? '' : made.join(eol) + (endsWithEol ? eol : '') };
};

/** Lines that stay keep the file's own text, which may differ from the hunk's in spaces at the end. */
const appendReplacement = (made: string[], lines: readonly string[], at: number, hunk: Hunk): void => {
  let position = at;
  for (const { kind, text } of hunk.lines) {
    if (kind === 'add') made.push(text);
    else {
      if (kind === 'keep') made.push(lines[position] ?? text);
      position += 1;
    }
  }
};

interface Place {
  readonly lines: readonly string[];
  readonly search: LineSearch;
  /** The first line that no hunk has touched. */
  readonly from: number;
  /** How many lines the ones before it have become. */
  readonly made: number;
}

/** Index of the hunk's first line in the file, or why it has no place. */
const place = ({ lines, search, from, made }: Place, hunk: Hunk, before: readonly string[]): number | string => {
  let start = from;
  if (hunk.anchor !== '') {
    const anchor = findLines(search, [hunk.anchor], from, ['exact', 'spaces around']);
    if (anchor < 0) return `the line "${shown(hunk.anchor)}" was not found`;
    start = anchor + 1;
    // The anchor is often the hunk's own first line as well.
    if (before.length > 0 && before[0]?.trim() === hunk.anchor && findLines(search, before, anchor, ['exact', 'spaces at end']) === anchor) return anchor;
  }
  // Only additions: after the anchor, or at the end of the file.
  if (before.length === 0) return hunk.anchor === '' || hunk.atEnd ? lines.length : start;
  if (hunk.atEnd) {
    const at = lines.length - before.length;
    return at >= start && findLines(search, before, at, ['exact', 'spaces at end']) === at ? at : `its lines are not the last ones of the file, beginning with "${shown(before[0] ?? '')}"`;
  }
  const at = findLines(search, before, start, ['exact', 'spaces at end']);
  const seen = start - from + made;
  return at >= 0 ? at : `its lines were not found${seen > 0 ? ` after line ${seen}` : ''}, beginning with "${shown(before.find((line) => line.trim() !== '') ?? '')}"`;
};

/** The first place where all of `wanted` stands, trying the strictest comparison over the whole file before the next. */
const findLines = (search: LineSearch, wanted: readonly string[], from: number, ways: readonly Sameness[]): number => {
  for (const sameness of ways) {
    const at = search.find(wanted, from, sameness);
    if (at >= 0) return at;
  }
  return -1;
};

const shown = (line: string): string => line.trim().slice(0, 120);
