/** What a change does to the files of a skill. */
import { createTwoFilesPatch } from 'diff';
import { skillErrors } from '../errors.js';
import type { PackFile } from '../install/pack.js';

/** `text` null: the file goes. */
export interface FileChange {
  readonly path: string;
  readonly text: string | null;
}

const MAX_DIFF_CHARS = 100_000;
const FENCE = /^---[ \t]*$/;
const VERSION = /^version[ \t]*:[ \t]*["']?(\d+)\.(\d+)\.(\d+)[^\n]*$/m;

const textOf = (files: readonly PackFile[], path: string): string | undefined => {
  const found = files.find((file) => file.path === path);
  return found && Buffer.from(found.bytes).toString('utf8');
};

/** The file of its instructions, which alone is changed here. */
export const instructionsIn = (name: string, file: string, files: readonly PackFile[]): string => {
  const text = file.toLowerCase().endsWith('.md') ? textOf(files, file) : undefined;
  if (text === undefined) throw skillErrors.not_changeable(name);
  return text;
};

/** Front matter stays; its version goes up by one patch. */
export const withBody = (text: string, body: string): string => {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  const start = lines.findIndex((line) => line.trim() !== '');
  const end = FENCE.test(lines[start] ?? '') ? lines.findIndex((line, index) => index > start && FENCE.test(line)) : -1;
  if (end < 0) return `${body.trim()}\n`;
  const before = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  if (before === body.trim()) return text;
  return `${bumped(lines.slice(0, end + 1).join('\n'))}\n\n${body.trim()}\n`;
};

/** `count`: how often the old text was there. */
export const withPatch = (text: string, old: string, next: string, all: boolean): { text: string; count: number } => {
  const count = text.split(old).length - 1;
  if (count === 0) throw skillErrors.no_match(nearest(text, old));
  if (count > 1 && !all) throw skillErrors.many_matches(count);
  const changed = all ? text.replaceAll(old, () => next) : text.replace(old, () => next);
  if (changed === text) return { text, count };
  const before = VERSION.exec(text)?.[0];
  return { text: before !== undefined && VERSION.exec(changed)?.[0] === before ? bumped(changed) : changed, count };
};

const bumped = (front: string): string => {
  const found = VERSION.exec(front);
  if (found) return front.replace(VERSION, () => `version: "${found[1]}.${found[2]}.${Number(found[3]) + 1}"`);
  return /^version[ \t]*:/m.test(front) ? front : front.replace(/\n---[ \t]*$/, '\nversion: "0.1.1"\n---');
};

/** The line of the text that begins like the text that was looked for. */
const nearest = (text: string, old: string): string => {
  const words = new Set(old.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);
  const score = (line: string): number => (line.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []).filter((word) => words.has(word)).length;
  const [best = ''] = text.split('\n').sort((a, b) => score(b) - score(a));
  return score(best) > 0 ? best.trim().slice(0, 200) : '';
};

export const changedFiles = (files: readonly PackFile[], changes: readonly FileChange[]): PackFile[] => {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const kept = files.filter(({ path }) => !byPath.has(path));
  const written = changes.flatMap(({ path, text }) => (text === null ? [] : [{ path, bytes: Buffer.from(text, 'utf8'), isProgram: files.find((file) => file.path === path)?.isProgram ?? false }]));
  return [...kept, ...written].sort((a, b) => (a.path < b.path ? -1 : 1));
};

const isText = (bytes: Uint8Array): boolean => !bytes.subarray(0, 8_192).includes(0);

/** Of all files that differ, in the form of `diff -u`. */
export const diffOf = (before: readonly PackFile[], after: readonly PackFile[]): string => {
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].sort();
  const parts = paths.flatMap((path) => {
    const [old, next] = [before, after].map((files) => files.find((file) => file.path === path));
    if (old && next && Buffer.compare(Buffer.from(old.bytes), Buffer.from(next.bytes)) === 0) return [];
    if ([old, next].some((file) => file && !isText(file.bytes))) return [`${path}: ${old ? (next ? 'changed' : 'removed') : 'added'}, and no text\n`];
    return [createTwoFilesPatch(old ? path : '/dev/null', next ? path : '/dev/null', textOf(before, path) ?? '', textOf(after, path) ?? '')];
  });
  const whole = parts.join('');
  return whole.length > MAX_DIFF_CHARS ? `${whole.slice(0, MAX_DIFF_CHARS)}\n[It is longer.]\n` : whole;
};

const COMMON = new Set('the and for with this that use when from your you are each all one its into not has have'.split(' '));
const wordsOf = (text: string): Set<string> => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => !COMMON.has(word)));
const ALIKE = 0.5;

/** Names of skills whose description says nearly the same. */
export const alikeTo = (description: string, skills: ReadonlyArray<{ readonly name: string; readonly description: string }>): string[] => {
  const words = wordsOf(description);
  return skills
    .filter((skill) => {
      const other = wordsOf(skill.description);
      const common = [...words].filter((word) => other.has(word)).length;
      return common > 0 && common / (words.size + other.size - common) >= ALIKE;
    })
    .map(({ name }) => name)
    .slice(0, 10);
};
