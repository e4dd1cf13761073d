/** The modules a source names, and whether only their types are taken. */

const STATEMENT = /^[ \t]*(import|export)\b([^'"`;]*?)\bfrom\s*(['"])([^'"\n]+)\3/gm;
const FOR_EFFECT = /^[ \t]*import\s*(['"])([^'"\n]+)\1/gm;
const DYNAMIC = /\bimport\(\s*(['"])([^'"\n]+)\1/g;
const REQUIRE = /(?<![.\w])require\(\s*(['"])([^'"\n]+)\1/g;

/** `import type …`, or a list whose every member says `type`. */
const isTypeOnly = (clause) => {
  if (/^\s*type\b(?!\s*,)/.test(clause)) return true;
  const list = /^\s*\{([^}]*)\}\s*$/.exec(clause);
  const names = list?.[1]
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  return Boolean(names?.length) && names.every((name) => name.startsWith('type '));
};

/** `typeof import('x')` and `import('x').Name` in a type position cannot be told apart from a call by text alone: only `typeof` counts as a type. */
const isTypeQuery = (code, index) => /typeof\s*$/.test(code.slice(Math.max(0, index - 12), index));

/** A program that stands in a string is text: `bare`, where strings are blank, shows no keyword there. */
const isInString = (bare, match) => !/\b(import|export|require)\b/.test(bare.slice(match.index, match.index + match[0].length));

export const importsOf = (code, bare) => {
  const lineOf = (index) => code.slice(0, index).split('\n').length;
  const matches = (pattern) => [...code.matchAll(pattern)].filter((match) => !isInString(bare, match));
  const found = [];
  for (const match of matches(STATEMENT)) found.push({ to: match[4], type: isTypeOnly(match[2]), dynamic: false, line: lineOf(match.index) });
  for (const match of matches(FOR_EFFECT)) found.push({ to: match[2], type: false, dynamic: false, line: lineOf(match.index) });
  for (const match of matches(DYNAMIC)) found.push({ to: match[2], type: isTypeQuery(code, match.index), dynamic: true, line: lineOf(match.index) });
  for (const match of matches(REQUIRE)) found.push({ to: match[2], type: false, dynamic: true, line: lineOf(match.index) });
  return found;
};

/** `@svc/api/x` → `@svc/api`, `knex/lib` → `knex`. */
export const packageName = (specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
