/**
 * Blanks comments, and the insides of strings, out of a source text; every line and column stays where it was.
 *
 * A scanner, not a parser: it knows strings, templates, comments, and regular expressions by what stands before them.
 */

const BEFORE_A_REGEX = /(^|[=(,:;!&|?{}[\n+]|=>|\b(?:return|typeof|case|in|of|throw|new|else|await))\s*$/;
const blank = (text) => text.replace(/[^\n]/g, ' ');

/** The end of a string that begins at `from`; templates are taken whole, with what they compute. */
const stringEnd = (text, from) => {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
    else if (quote === '`' && text[at] === '$' && text[at + 1] === '{') at = computedEnd(text, at + 2) - 1;
    else if (quote !== '`' && text[at] === '\n') return at;
  }
  return text.length;
};

/** The end of `${ … }`, whose opening brace has just been passed. */
const computedEnd = (text, from) => {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "'" || text[at] === '"' || text[at] === '`') at = stringEnd(text, at) - 1;
    else if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
};

const regexEnd = (text, from) => {
  let inClass = false;
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
    else if (text[at] === '/' && !inClass) return at + 1;
  }
  return from + 1;
};

const endOr = (text, index) => (index < 0 ? text.length : index);

/** What begins at `at` and where it ends; undefined for plain code. */
const pieceAt = (text, at, code) => {
  const two = text.slice(at, at + 2);
  if (two === '//') return { kind: 'comment', end: endOr(text, text.indexOf('\n', at)) };
  if (two === '/*') return { kind: 'comment', end: endOr(text, text.indexOf('*/', at + 2) + 1 || -1) + (text.includes('*/', at + 2) ? 1 : 0) };
  if (text[at] === "'" || text[at] === '"' || text[at] === '`') return { kind: 'string', end: stringEnd(text, at) };
  if (text[at] === '/' && BEFORE_A_REGEX.test(code.slice(-40))) return { kind: 'regex', end: regexEnd(text, at) };
  return undefined;
};

/** The insides of a string; a template keeps what it computes, because that is code like any other. */
const withoutInside = (part) => {
  if (part.length < 2) return part;
  let inside = '';
  for (let at = 1; at < part.length - 1; ) {
    const isComputed = part[0] === '`' && part.startsWith('${', at) && part[at - 1] !== '\\';
    const end = isComputed ? computedEnd(part, at + 2) : at + 1;
    inside += isComputed ? `  ${blankOut(part.slice(at + 2, end - 1)).bare} ` : blank(part[at]);
    at = end;
  }
  return part[0] + inside + part.at(-1);
};

export const blankOut = (text) => {
  let code = '';
  let bare = '';
  let at = 0;
  while (at < text.length) {
    const piece = pieceAt(text, at, code);
    const end = piece?.end ?? at + 1;
    const part = text.slice(at, end);
    const isComment = piece?.kind === 'comment';
    code += isComment ? blank(part) : part;
    if (isComment) bare += blank(part);
    else bare += piece ? withoutInside(part) : part;
    at = end;
  }
  return { code, bare };
};
