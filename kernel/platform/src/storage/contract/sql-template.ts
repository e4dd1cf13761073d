/** Statements with `?` placeholders, taken apart once: their texts are constants of the code. */
import type { Scalar } from '@svc/api';
import { storageErrors } from './errors.js';

const MAX_TEMPLATES = 500;

export interface Template {
  /** The text around the placeholders: one more piece than there are arguments. */
  readonly pieces: readonly string[];
  /** The table the statement changes; undefined for one that is no single INSERT, UPDATE, DELETE or REPLACE. */
  readonly target: string | undefined;
}

/** Splits a statement at its `?`, outside quotes and comments. Results are kept: the texts are constants of the code. */
export const createTemplates = (): ((sql: string) => Template) => {
  const known = new Map<string, Template>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    const made = parse(sql);
    // A text built anew for each call would fill the map: start over rather than grow.
    if (known.size >= MAX_TEMPLATES) known.clear();
    known.set(sql, made);
    return made;
  };
};

const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?|;/g;
const TARGET = /^\s*(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|delete\s+from|update(?:\s+or\s+\w+)?)\s+[`"[]?([A-Za-z_]\w*)/i;
const LATER_TARGET = /\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|delete\s+from|update(?:\s+or\s+\w+)?)\s+[`"[]?([A-Za-z_]\w*)/i;

const parse = (sql: string): Template => {
  const pieces: string[] = [];
  let from = 0;
  for (const match of sql.matchAll(TOKEN)) {
    if (match[0] === ';' && sql.slice(match.index + 1).trim() !== '') throw storageErrors.bad_write('it contains more than one statement');
    if (match[0] !== '?') continue;
    pieces.push(sql.slice(from, match.index));
    from = match.index + 1;
  }
  pieces.push(sql.slice(from).replace(/;\s*$/, ''));
  // Words inside text values name no table.
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, "''");
  const target = (/^\s*with\b/i.test(bare) ? LATER_TARGET : TARGET).exec(bare)?.[1];
  return { pieces, target };
};

/** The statement with its arguments in place. */
export const fill = (template: Template, args: readonly Scalar[], literal: (value: Scalar) => string): string => {
  const { pieces } = template;
  if (pieces.length !== args.length + 1) throw storageErrors.bad_write(`it has ${pieces.length - 1} placeholders and ${args.length} arguments`);
  let text = pieces[0] ?? '';
  for (let i = 0; i < args.length; i += 1) text += literal(args[i] ?? null) + (pieces[i + 1] ?? '');
  return text;
};

export const targetOf = (template: Template): string => {
  if (template.target === undefined) throw storageErrors.bad_write('only INSERT, UPDATE, DELETE and REPLACE are writes');
  return template.target;
};
