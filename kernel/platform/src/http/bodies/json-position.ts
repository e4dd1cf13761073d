/** Where a text stops being JSON. Only run on texts that JSON.parse refused: its own message does not always say where. */

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

type Expect = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or ]' | ', or }' | 'the end';

/** `expected a value at line 1, column 6`. */
export const describeJsonFault = (text: string): string => {
  const open: Array<'[' | '{'> = [];
  let expect: Expect = 'value';
  let at = 0;
  while (true) {
    const start = after(SPACE, text, at) ?? at;
    const end = endOfToken(text, start);
    const next: Expect | undefined = end === undefined ? undefined : step(expect, kindOf(text, start), open);
    if (end === undefined || next === undefined) return `expected ${NAMES[expect]} at ${place(text, start)}`;
    expect = next;
    at = end;
  }
};

/** Where the token that begins at `start` ends; undefined when none does. */
const endOfToken = (text: string, start: number): number | undefined => {
  const first = text.charAt(start);
  if (first === '') return undefined;
  if ('[]{},:'.includes(first)) return start + 1;
  return first === '"' ? endOfString(text, start + 1) : after(SCALAR, text, start);
};

/** A loop, not a pattern: a text of megabytes would use up the pattern's stack. */
const endOfString = (text: string, start: number): number | undefined => {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code !== 0x5c) continue;
    const next = after(ESCAPE, text, at);
    if (next === undefined) return undefined;
    at = next - 1;
  }
  return undefined;
};

const kindOf = (text: string, start: number): string => {
  const first = text.charAt(start);
  return first === '"' ? 'string' : '[]{},:'.includes(first) ? first : 'scalar';
};

const after = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
};

const NAMES: Record<Expect, string> = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  key: 'a name in double quotes',
  'key or }': 'a name in double quotes or "}"',
  ':': '":"',
  ', or ]': '"," or "]"',
  ', or }': '"," or "}"',
  'the end': 'nothing more',
};

/** What may follow the token, or undefined when the token may not stand here. */
const step = (expect: Expect, token: string, open: Array<'[' | '{'>): Expect | undefined => {
  const closed = (): Expect => {
    const inside = open.at(-1);
    return inside === undefined ? 'the end' : inside === '[' ? ', or ]' : ', or }';
  };
  const close = (): Expect => {
    open.pop();
    return closed();
  };
  if (expect === ':') return token === ':' ? 'value' : undefined;
  if (expect === 'key' || expect === 'key or }') return token === 'string' ? ':' : token === '}' && expect === 'key or }' ? close() : undefined;
  if (expect === ', or ]') return token === ',' ? 'value' : token === ']' ? close() : undefined;
  if (expect === ', or }') return token === ',' ? 'key' : token === '}' ? close() : undefined;
  if (expect === 'the end') return undefined;
  if (token === 'string' || token === 'scalar') return closed();
  if (token === '[' || token === '{') {
    open.push(token);
    return token === '[' ? 'value or ]' : 'key or }';
  }
  return token === ']' && expect === 'value or ]' ? close() : undefined;
};

const place = (text: string, at: number): string => {
  let line = 1;
  let begin = 0;
  // Counted, not split: a text of line ends would become millions of strings.
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', begin)) {
    line++;
    begin = end + 1;
  }
  return `line ${line}, column ${at - begin + 1}`;
};
