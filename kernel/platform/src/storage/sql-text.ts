/**
 * Values and statements as SQL text. A batch of many callers travels as one
 * text, because one trip to the thread pool costs more than parsing literals.
 */
import type { Scalar } from '@svc/api';
import { storageErrors } from './errors.js';

const MAX_TEMPLATES = 500;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A literal of exactly this value. Text with a NUL cannot stand in a C string, so it travels as hex. */
export const literal = (value: unknown): string => {
  if (value === null) return 'NULL';
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'string') {
    if (value.includes('\0')) return `CAST(X'${Buffer.from(value).toString('hex')}' AS TEXT)`;
    return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`;
  }
  throw storageErrors.bad_write(`a value is ${typeof value === 'number' ? String(value) : typeof value}; only text, finite numbers and null are stored`);
};

/** Backticks, because SQLite takes a double-quoted name that does not exist for a text. */
export const identifier = (name: string): string => {
  if (!IDENTIFIER.test(name)) throw storageErrors.bad_write(`"${name}" is not a column or table name`);
  return `\`${name}\``;
};

export interface Template {
  /** The text around the placeholders: one more piece than there are arguments. */
  readonly pieces: readonly string[];
  /** The table the statement changes. */
  readonly target: string;
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
    if (match[0] === ';' && sql.slice(match.index + 1).trim() !== '') throw storageErrors.bad_write('it holds more than one statement');
    if (match[0] !== '?') continue;
    pieces.push(sql.slice(from, match.index));
    from = match.index + 1;
  }
  pieces.push(sql.slice(from).replace(/;\s*$/, ''));
  // Words inside text values name no table.
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, "''");
  const target = (/^\s*with\b/i.test(bare) ? LATER_TARGET : TARGET).exec(bare)?.[1];
  if (target === undefined) throw storageErrors.bad_write('only INSERT, UPDATE, DELETE and REPLACE are writes');
  return { pieces, target };
};

/** The statement with its arguments in place. */
export const fill = (template: Template, args: readonly Scalar[]): string => {
  const { pieces } = template;
  if (pieces.length !== args.length + 1) throw storageErrors.bad_write(`it has ${pieces.length - 1} placeholders and ${args.length} arguments`);
  let text = pieces[0] ?? '';
  for (let i = 0; i < args.length; i += 1) text += literal(args[i]) + (pieces[i + 1] ?? '');
  return text;
};
