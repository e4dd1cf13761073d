/**
 * No file may reach itself through imports inside its package, of types neither; a cycle is named by all its files.
 * No area may reach itself through contracts of other areas: of two, one is lower, and declares as a hook what it wants of the other.
 */
import path from 'node:path';
import { isOfCommandLine } from './sources.mjs';

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

/** Commands run in another process and know areas by their routes: what they import of each other is a graph of its own. */
const AREA_GRAPHS = [
  { of: (source) => !source.isTest && !isOfCommandLine(source), entry: 'contract' },
  { of: (source) => !source.isTest && isOfCommandLine(source), entry: 'cli' },
];

/** The first import of each area by each other one: from → to → its place. */
const arrowsOf = (sources, entry) => {
  const arrows = new Map();
  for (const source of sources) {
    const from = /^extensions\/([^/]+)\//.exec(source.file)?.[1];
    if (from === undefined) continue;
    for (const one of source.imports) {
      const to = new RegExp(`^@svc/ext-([^/]+)/${entry}$`).exec(one.to)?.[1];
      if (to === undefined || to === from) continue;
      if (!arrows.has(from)) arrows.set(from, new Map());
      if (!arrows.get(from).has(to)) arrows.get(from).set(to, { file: source.file, line: one.line });
      if (!arrows.has(to)) arrows.set(to, new Map());
    }
  }
  return arrows;
};

/** One finding for each import that is part of a cycle. */
export const checkAreaCycles = (sources) =>
  AREA_GRAPHS.flatMap(({ of, entry }) => {
    const arrows = arrowsOf(sources.filter(of), entry);
    const graph = new Map([...arrows].map(([from, to]) => [from, [...to.keys()]]));
    return groups(graph).flatMap((group) =>
      group.flatMap((from) =>
        [...arrows.get(from)]
          .filter(([to]) => group.includes(to))
          .map(([to, place]) => ({
            ...place,
            rule: RULE,
            message: `${from} imports the ${entry} of ${to}, and ${to} leads back to ${from} (${group.join(', ')}); let the lower area declare a hook or a service, and the other tap or provide it`,
          })),
      ),
    );
  });
