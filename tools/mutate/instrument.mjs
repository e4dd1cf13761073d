/**
 * All changes of a source compiled in at once, each behind a switch: one build serves every run.
 *
 * `__m(7)` notes that the place was reached, and is true in the process that tries change 7. The number comes by
 * SVC_MUTANT, so child processes and workers have it too. With SVC_MUTANTS_SEEN what a child reaches is appended
 * to that file at once: a child may be killed at any moment.
 */

const HEADER = [
  'const __m = (globalThis.__mutation ??= (() => {',
  'const { SVC_MUTANT, SVC_MUTANTS_SEEN } = process.env; const active = Number(SVC_MUTANT); const seen = new Set();',
  "const fs = SVC_MUTANTS_SEEN ? process.getBuiltinModule('node:fs') : undefined;",
  "return (id) => { if (fs && !seen.has(id)) { seen.add(id); fs.appendFileSync(SVC_MUTANTS_SEEN, id + '\\n'); } return id === active; };",
  '})());',
].join(' ');

const wrapped = (changes, original) => {
  if (changes[0].form === 'statement') return `if (__m(${changes[0].id})) {} else { ${original} }`;
  return `(${changes.map(({ id, to }) => `__m(${id}) ? (${to}) : `).join('')}(${original}))`;
};

/** Changes of the same range and form share one switch; `changes` are ordered by start, longest first. */
const groupsOf = (changes) => {
  const groups = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last && last.start === change.start && last.end === change.end && last.changes[0].form === change.form) last.changes.push(change);
    else groups.push({ start: change.start, end: change.end, changes: [change] });
  }
  return groups;
};

const render = (text, start, end, groups) => {
  let out = '';
  let at = start;
  while (groups.length && groups[0].start < end) {
    const group = groups.shift();
    out += text.slice(at, group.start) + wrapped(group.changes, render(text, group.start, group.end, groups));
    at = group.end;
  }
  return out + text.slice(at, end);
};

/** `changes` carry their `id`. Lines stay where they were. */
export const instrument = (text, changes) => `${HEADER} ${render(text, 0, text.length, groupsOf(changes))}`;
