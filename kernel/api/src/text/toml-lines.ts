/**
 * Finds where things stand in a TOML text: headers, assignments, their lines
 * and spans. It validates nothing; whether the text is valid is the parser's word.
 */

export interface TomlEntry {
  readonly kind: 'table' | 'tables' | 'assign';
  /** Full path; an element of an array of tables has its number in it: `['mcp_servers', '0', 'name']`. */
  readonly path: readonly string[];
  /** The table of the preceding header. */
  readonly table: readonly string[];
  /** One-based. */
  readonly line: number;
  /** Offsets of the whole statement, without its line end. */
  readonly start: number;
  readonly end: number;
  /** Offsets of the value of an assignment, without a comment after it. */
  readonly valueStart: number;
  readonly valueEnd: number;
}

export const scanToml = (text: string): TomlEntry[] => {
  const entries: TomlEntry[] = [];
  const counts = new Map<string, number>();
  const lineOf = lineCounter(text);
  let table: readonly string[] = [];
  let at = 0;
  while (at < text.length) {
    at = skipBlank(text, at);
    if (at >= text.length) break;
    const start = at;
    if (text[at] === '[') {
      const isList = text[at + 1] === '[';
      const key = readKey(text, at + (isList ? 2 : 1), ']');
      table = numbered(key.path, isList, counts);
      at = lineEnd(text, key.end);
      entries.push({ kind: isList ? 'tables' : 'table', path: table, table, line: lineOf(start), start, end: at, valueStart: at, valueEnd: at });
      continue;
    }
    const key = readKey(text, at, '=');
    const valueStart = skipSpaces(text, key.end + 1);
    const valueEnd = skipValue(text, valueStart);
    at = lineEnd(text, valueEnd);
    entries.push({ kind: 'assign', path: [...table, ...key.path], table, line: lineOf(start), start, end: at, valueStart, valueEnd });
  }
  return entries;
};

export interface InlineMember {
  /** Below the table that it stands in. */
  readonly path: readonly string[];
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** What stands between the braces of an inline table that begins at `from` and ends before `to`. */
export const inlineMembers = (text: string, from: number, to: number): InlineMember[] => {
  const members: InlineMember[] = [];
  for (let at = skipSpaces(text, from + 1); at < to - 1; at = skipSpaces(text, at + 1)) {
    const start = at;
    const key = readKey(text, at, '=');
    const valueStart = skipSpaces(text, key.end + 1);
    const valueEnd = skipValue(text, valueStart, ',');
    members.push({ path: key.path, start, valueStart, valueEnd });
    at = skipSpaces(text, valueEnd);
  }
  return members;
};

/** The line that says most about `path`: of itself, else of the nearest thing around it. */
export const lineOfPath = (entries: readonly TomlEntry[], path: readonly string[]): number | null => {
  let best: TomlEntry | undefined;
  for (const entry of entries) {
    if (entry.path.every((name, index) => name === path[index]) && entry.path.length > (best?.path.length ?? 0)) best = entry;
  }
  if (best) return best.line;
  return entries.find((entry) => path.every((name, index) => name === entry.path[index]))?.line ?? null;
};

/** Names the element of an array of tables that a header opens, or stands in. */
const numbered = (path: readonly string[], isList: boolean, counts: Map<string, number>): string[] => {
  const out: string[] = [];
  path.forEach((name, index) => {
    out.push(name);
    const id = JSON.stringify(out);
    const isLast = index === path.length - 1;
    if (isLast && isList) counts.set(id, (counts.get(id) ?? -1) + 1);
    const count = counts.get(id);
    if (count !== undefined) out.push(String(count));
  });
  return out;
};

const lineCounter = (text: string): ((offset: number) => number) => {
  let line = 1;
  let seen = 0;
  // Offsets only grow, so each character is looked at once.
  return (offset) => {
    for (; seen < offset; seen++) if (text[seen] === '\n') line++;
    return line;
  };
};

const skipBlank = (text: string, from: number): number => {
  let at = from;
  for (; at < text.length; at++) {
    if (text[at] === '#') at = lineEnd(text, at) - 1;
    else if (!/\s/.test(text[at] ?? '') && text[at] !== '\ufeff') break;
  }
  return at;
};

const skipSpaces = (text: string, from: number): number => {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
};

const lineEnd = (text: string, from: number): number => {
  const at = text.indexOf('\n', from);
  if (at < 0) return text.length;
  return text[at - 1] === '\r' && at > from ? at - 1 : at;
};

const readKey = (text: string, from: number, stop: string): { path: string[]; end: number } => {
  const path: string[] = [];
  let at = from;
  let name = '';
  for (; at < text.length && text[at] !== stop && text[at] !== '\n'; at++) {
    const c = text[at] ?? '';
    if (c === '"' || c === "'") {
      const end = stringEnd(text, at);
      name += unquote(text.slice(at, end));
      at = end - 1;
    } else if (c === '.') {
      path.push(name);
      name = '';
    } else if (!/\s/.test(c)) name += c;
  }
  path.push(name);
  return { path, end: at };
};

const unquote = (quoted: string): string => {
  if (quoted.startsWith("'")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    // TOML knows escapes that JSON does not (\UXXXXXXXX): such a key is then simply not found.
    return quoted.slice(1, -1);
  }
};

/** The offset after a string that begins at `from`, of any of the four kinds. */
const stringEnd = (text: string, from: number): number => {
  const quote = text[from] ?? '"';
  const isLong = text.startsWith(quote.repeat(3), from);
  const close = isLong ? quote.repeat(3) : quote;
  for (let at = from + close.length; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++;
    else if (!isLong && text[at] === '\n') return at;
    else if (text.startsWith(close, at)) {
      let end = at + close.length;
      // Up to two quotes may stand right before the closing three.
      while (isLong && text[end] === quote) end++;
      return end;
    }
  }
  return text.length;
};

/** The offset after a value: lists and tables may span lines, with comments in them. `until`: what ends it beside the end of the line, and of the table around it. */
const skipValue = (text: string, from: number, until?: string): number => {
  let depth = 0;
  let end = from;
  for (let at = from; at < text.length; at++) {
    const c = text[at] ?? '';
    if (c === '"' || c === "'") at = stringEnd(text, at) - 1;
    else if (c === '#') {
      if (depth === 0) break;
      at = lineEnd(text, at) - 1;
      continue;
    } else if (c === '[' || c === '{') depth++;
    else if (until !== undefined && depth === 0 && (c === until || c === '}')) break;
    else if (c === ']' || c === '}') depth--;
    else if (c === '\n' && depth <= 0) break;
    if (!/\s/.test(c)) end = at + 1;
  }
  return end;
};
