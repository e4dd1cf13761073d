/** The wire code of an error is its identity: one code, one place, in all areas together. */
import { lineAt } from './sources.mjs';

const RULE = 'error-code';
const TABLE = /\bdefineErrors\(\s*(['"])([a-z0-9_-]*)\1\s*,\s*\{/g;

/** Names at the first level of the table that opens at `from`, with their positions. */
const keysAt = (bare, from) => {
  const keys = [];
  let depth = 1;
  for (let at = from; at < bare.length && depth > 0; at += 1) {
    if ('{(['.includes(bare[at])) depth += 1;
    else if ('})]'.includes(bare[at])) depth -= 1;
    else if (depth === 1 && /[a-z]/i.test(bare[at]) && /[\s,{]/.test(bare[at - 1])) {
      const key = /^([a-zA-Z_]\w*)\s*:/.exec(bare.slice(at, at + 80));
      if (key) keys.push({ key: key[1], index: at });
    }
  }
  return keys;
};

/** Mirrors defineErrors: the area goes before the key, unless it stands there already. */
const wireCode = (area, key) => (area === '' || key.startsWith(`${area}_`) ? key : `${area}_${key}`);

export const codesOf = (source) =>
  [...source.code.matchAll(TABLE)].flatMap((match) =>
    keysAt(source.bare, match.index + match[0].length).map(({ key, index }) => ({ code: wireCode(match[2], key), file: source.file, line: lineAt(source.bare, index) })),
  );

export const checkErrorCodes = (sources) => {
  const first = new Map();
  const findings = [];
  // Somebody may copy a fixture to begin with it.
  for (const entry of sources.filter((source) => !source.isTest && !source.file.startsWith('fixtures/')).flatMap(codesOf)) {
    const other = first.get(entry.code);
    if (other) findings.push({ file: entry.file, line: entry.line, rule: RULE, message: `"${entry.code}" is taken by ${other.file}:${other.line}` });
    else first.set(entry.code, entry);
    if (!/^[a-z][a-z0-9_]*$/.test(entry.code)) findings.push({ file: entry.file, line: entry.line, rule: RULE, message: `"${entry.code}" is not lower snake case` });
  }
  return findings;
};
