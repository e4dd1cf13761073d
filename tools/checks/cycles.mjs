/** No file may reach itself through imports inside its package, of types neither; a cycle is named by all its files. */
import path from 'node:path';

const RULE = 'cycle';

/** What a relative import of compiled code was written as. */
const writtenAs = (source, target) => (/\.tsx?$/.test(source.file) && target.endsWith('.js') ? ['.ts', '.tsx'].map((ending) => target.replace(/\.js$/, ending)) : [target]);

const edgesOf = (source, known) =>
  source.imports
    .filter((entry) => /^\.\.?\//.test(entry.to))
    .flatMap((entry) => writtenAs(source, path.posix.join(path.posix.dirname(source.file), entry.to)))
    .filter((target) => known.has(target));

/** Strongly connected groups of more than one file (Tarjan's algorithm). */
const groups = (graph) => {
  const state = new Map();
  const stack = [];
  const found = [];
  const visit = (node) => {
    const mark = { index: state.size, low: state.size, open: true };
    state.set(node, mark);
    stack.push(node);
    for (const next of graph.get(node)) {
      if (!state.has(next)) visit(next);
      if (state.get(next).open) mark.low = Math.min(mark.low, state.get(next).low);
    }
    if (mark.low !== mark.index) return;
    const group = stack.splice(stack.indexOf(node));
    for (const member of group) state.get(member).open = false;
    if (group.length > 1) found.push(group.sort());
  };
  for (const node of graph.keys()) if (!state.has(node)) visit(node);
  return found;
};

export const checkCycles = (sources) => {
  const known = new Set(sources.map((source) => source.file));
  const graph = new Map(sources.map((source) => [source.file, edgesOf(source, known)]));
  return groups(graph).map((group) => ({ file: group[0], line: 1, rule: RULE, message: `imports itself through ${group.slice(1).join(', ')}` }));
};
