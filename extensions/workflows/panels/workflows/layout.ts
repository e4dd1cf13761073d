/** Where the steps of a workflow stand in its drawing, and what leads to what. */
import { Graph, layout } from '@dagrejs/dagre';

export interface DrawnStep {
  readonly name: string;
  readonly mode: string;
  readonly depends_on: readonly string[];
  readonly arms?: ReadonlyArray<{ readonly then: string }> | undefined;
}

export interface Line {
  readonly from: string;
  readonly to: string;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** Upper left corner of each step. */
  readonly places: ReadonlyMap<string, Point>;
  readonly lines: ReadonlyArray<Line & { readonly path: string }>;
}

export const BOX = { width: 176, height: 52 } as const;
const MARGIN = 12;

/** As the daemon plans it: a graph where a step depends on others, else one after another, with steps of fan_out side by side. */
export const linesOf = (steps: readonly DrawnStep[]): Line[] => {
  const names = new Set(steps.map(({ name }) => name));
  if (steps.some(({ depends_on: above }) => above.length > 0)) return steps.flatMap(({ name, depends_on: above }) => above.filter((one) => names.has(one)).map((from) => ({ from, to: name })));
  const lines: Line[] = [];
  let before: readonly string[] = [];
  let group: string[] = [];
  for (const { name, mode } of steps) {
    if (mode !== 'fan_out' && group.length > 0) {
      before = group;
      group = [];
    }
    lines.push(...before.map((from) => ({ from, to: name })));
    if (mode === 'fan_out') group.push(name);
    else before = [name];
  }
  const known = new Set(lines.map(({ from, to }) => `${from}\n${to}`));
  const arms = steps.flatMap(({ name, arms: ways = [] }) => ways.map(({ then }) => ({ from: name, to: then })));
  return [...lines, ...arms.filter(({ from, to }) => names.has(to) && !known.has(`${from}\n${to}`))];
};

export const drawn = (steps: readonly DrawnStep[]): Drawing => {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 40, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of steps) graph.setNode(name, { width: BOX.width, height: BOX.height });
  const lines = linesOf(steps);
  for (const { from, to } of lines) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const places = new Map(
    steps.map(({ name }) => {
      const { x = 0, y = 0 } = graph.node(name);
      return [name, { x: x - BOX.width / 2, y: y - BOX.height / 2 }] as const;
    }),
  );
  return { width, height, places, lines: lines.map((line) => ({ ...line, path: pathOf(graph.edge(line.from, line.to).points ?? []) })) };
};

const pathOf = (points: readonly Point[]): string => points.map(({ x, y }, place) => `${place === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ');
