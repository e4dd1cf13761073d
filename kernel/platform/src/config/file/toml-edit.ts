/**
 * Changes one setting in a TOML text and nothing else: comments, order and
 * spelling of the rest stay. A library's own printer is not used because it
 * corrupts small floats and loses comments.
 *
 * E1  The result parses to exactly the old content with that one change, or nothing is returned.
 */
import { isDeepStrictEqual } from 'node:util';
import { isTable, scanToml } from '@svc/api';
import { type InlineMember, inlineMembers, type TomlEntry } from '@svc/api/internal';
import { configErrors } from '../errors.js';
import { printKey, printValue } from './toml-print.js';

type Tree = Record<string, unknown>;

/** `value` undefined removes the key. Throws `config_edit_refused` or `config_value_unwritable`. `parse` must throw on invalid text. */
export const editToml = (text: string, path: readonly string[], value: unknown, parse: (text: string) => Tree): string =>
  proven(path.join('.'), edit(text, path, value), changed(parse(text), path, value), parse);

/** Gives a key of the top level another name and value, in its place and with its comment. */
export const renameToml = (text: string, from: string, to: string, value: unknown, parse: (text: string) => Tree): string => {
  const own = scanToml(text).find((entry) => entry.kind === 'assign' && samePath(entry.path, [from]));
  if (!own) throw configErrors.edit_refused(from, 'it is not in the file');
  const edited = splice(text, own.start, own.valueEnd, `${printKey([to])} = ${printValue(value, [to])}`);
  return proven(from, edited, changed(changed(parse(text), [from], undefined), [to], value), parse);
};

const proven = (name: string, edited: string, intended: Tree, parse: (text: string) => Tree): string => {
  let got: Tree;
  try {
    got = parse(edited);
  } catch (cause) {
    throw configErrors.edit_refused(name, 'the place where it stands is written in a way that cannot be changed safely').with({ cause });
  }
  if (!isDeepStrictEqual(plainCopy(got), plainCopy(intended))) throw configErrors.edit_refused(name, 'the change would touch more than this one setting');
  return edited;
};

const edit = (text: string, path: readonly string[], value: unknown): string => {
  const entries = scanToml(text);
  const own = entries.find((entry) => entry.kind === 'assign' && samePath(entry.path, path));
  if (own) return value === undefined ? cut(text, own) : splice(text, own.valueStart, own.valueEnd, printValue(value, path));
  const around = entries.find((entry) => entry.kind === 'assign' && entry.path.length < path.length && samePath(entry.path, path.slice(0, entry.path.length)));
  if (around) return editInline(text, around, path, path.slice(around.path.length), value);
  if (entries.some((entry) => samePath(entry.path.slice(0, path.length), path))) throw configErrors.edit_refused(path.join('.'), 'it is written as a section of its own, or as several');
  return value === undefined ? text : insert(text, entries, path, printValue(value, path));
};

/** `span` is the inline table that holds the setting, or is to hold it; `rest` its path in there. */
const editInline = (text: string, span: Pick<InlineMember, 'valueStart' | 'valueEnd'>, path: readonly string[], rest: readonly string[], value: unknown): string => {
  if (text[span.valueStart] !== '{') throw configErrors.edit_refused(path.join('.'), 'what is written around it is no table');
  const members = inlineMembers(text, span.valueStart, span.valueEnd);
  const at = members.findIndex((member) => samePath(member.path, rest));
  const own = members[at];
  if (own && value !== undefined) return splice(text, own.valueStart, own.valueEnd, printValue(value, path));
  if (own) return cutMember(text, span, members, at);
  const around = members.find((member) => samePath(member.path, rest.slice(0, member.path.length)));
  if (around) return editInline(text, around, path, rest.slice(around.path.length), value);
  if (value === undefined) return text;
  const last = members.at(-1);
  const printed = `${printKey(rest)} = ${printValue(value, path)}`;
  return last ? splice(text, last.valueEnd, last.valueEnd, `, ${printed}`) : splice(text, span.valueStart, span.valueEnd, `{ ${printed} }`);
};

/** With the comma that stood before it, or behind the first. */
const cutMember = (text: string, span: Pick<InlineMember, 'valueStart' | 'valueEnd'>, members: readonly InlineMember[], at: number): string => {
  const [own, before, after] = [members[at], members[at - 1], members[at + 1]];
  if (!own || (!before && !after)) return splice(text, span.valueStart, span.valueEnd, '{}');
  return before ? splice(text, before.valueEnd, own.valueEnd, '') : splice(text, own.start, after?.start ?? own.valueEnd, '');
};

const insert = (text: string, entries: readonly TomlEntry[], path: readonly string[], printed: string): string => {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const parent = path.slice(0, -1);
  const leaf = printKey(path.slice(-1));
  const header = parent.length === 0 ? undefined : entries.find((entry) => entry.kind === 'table' && samePath(entry.path, parent));
  const siblings = entries.filter((entry) => entry.kind === 'assign' && samePath(entry.path.slice(0, -1), parent));
  const last = siblings.at(-1);
  // Beside its siblings, spelt as they are: `b = 2` under the header, `a.b = 2` where dotted keys are used.
  if (last) return splice(text, last.end, last.end, `${newline}${printKey(path.slice(last.table.length))} = ${printed}`);
  if (header) return splice(text, header.end, header.end, `${newline}${leaf} = ${printed}`);
  if (parent.length === 0) {
    const first = entries.find((entry) => entry.kind !== 'assign');
    const at = first ? text.lastIndexOf('\n', first.start - 1) + 1 : text.length;
    return first ? splice(text, at, at, `${leaf} = ${printed}${newline}${newline}`) : append(text, `${leaf} = ${printed}`, newline);
  }
  const gap = text.trim() === '' ? '' : newline;
  return append(text, `${gap}[${printKey(parent)}]${newline}${leaf} = ${printed}`, newline);
};

const append = (text: string, addition: string, newline: string): string => `${text}${text === '' || text.endsWith('\n') ? '' : newline}${addition}${newline}`;

const splice = (text: string, start: number, end: number, replacement: string): string => text.slice(0, start) + replacement + text.slice(end);

/** Takes out the statement with its line end, and a comment behind it, which spoke of it. */
const cut = (text: string, entry: TomlEntry): string => {
  const lineStart = text.lastIndexOf('\n', entry.start - 1) + 1;
  const next = text.indexOf('\n', entry.end);
  return text.slice(0, lineStart) + (next < 0 ? '' : text.slice(next + 1));
};

const samePath = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((name, index) => name === b[index]);

const changed = (tree: Tree, path: readonly string[], value: unknown): Tree => {
  const [head, ...rest] = path;
  if (head === undefined) return tree;
  const out = { ...tree };
  if (rest.length > 0) {
    const inner = out[head];
    if (inner !== undefined && !isTable(inner)) throw configErrors.edit_refused(path.join('.'), `${head} is not a section`);
    if (inner === undefined && value === undefined) return out;
    out[head] = changed(inner ?? {}, rest, value);
  } else if (value === undefined) delete out[head];
  else out[head] = value;
  return out;
};

/** The same without prototypes and the parser's hidden marks; -0 and 0 stay apart, as do 1 and 1n. */
const plainCopy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plainCopy);
  if (!isTable(value)) return value instanceof Date ? value.toISOString() : value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainCopy(inner)]));
};
