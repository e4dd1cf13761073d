/** Where each extension stands in the drawing: in columns, each to the right of all that it needs. */
import type { Node } from './state.js';

export interface Place {
  readonly node: Node;
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  readonly places: ReadonlyMap<string, Place>;
  readonly width: number;
  readonly height: number;
  /** Those that need nobody and are needed by nobody. */
  readonly alone: readonly Node[];
}

export const BOX = { width: 136, height: 34 } as const;
const GAP = { x: 48, y: 14 } as const;
const EDGE = 8;
const PASSES = 3;

const depthsOf = (nodes: readonly Node[]): ReadonlyMap<string, number> => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depths = new Map<string, number>();
  const depthOf = (id: string, above: ReadonlySet<string>): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    // A ring would never start; it is drawn all the same.
    const needs = (byId.get(id)?.needs ?? []).filter((need) => byId.has(need) && !above.has(need));
    const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map((need) => depthOf(need, new Set([...above, id]))));
    depths.set(id, depth);
    return depth;
  };
  for (const { id } of nodes) depthOf(id, new Set());
  return depths;
};

/** Each column in the order of what its extensions are joined with: fewer lines cross. */
const ordered = (columns: Node[][]): Node[][] => {
  for (let pass = 0; pass < PASSES; pass++) {
    const rows = new Map(columns.flatMap((column) => column.map((node, row) => [node.id, row / Math.max(1, column.length - 1)] as const)));
    const middleOf = (node: Node): number => {
      const joined = columns.flat().filter((other) => node.needs.includes(other.id) || other.needs.includes(node.id));
      return joined.length === 0 ? (rows.get(node.id) ?? 0) : joined.reduce((sum, { id }) => sum + (rows.get(id) ?? 0), 0) / joined.length;
    };
    const middles = new Map(columns.flat().map((node) => [node.id, middleOf(node)]));
    for (const column of columns) column.sort((one, other) => (middles.get(one.id) ?? 0) - (middles.get(other.id) ?? 0) || one.id.localeCompare(other.id));
  }
  return columns;
};

export const drawn = (nodes: readonly Node[]): Drawing => {
  const needed = new Set(nodes.flatMap(({ needs }) => needs));
  const isAlone = ({ id, needs }: Node): boolean => needs.length === 0 && !needed.has(id);
  const joined = nodes.filter((node) => !isAlone(node));
  const depths = depthsOf(joined);
  const last = Math.max(0, ...depths.values());
  const full = ordered(Array.from({ length: last + 1 }, (_, depth) => joined.filter(({ id }) => depths.get(id) === depth)));
  const tallest = Math.max(1, ...full.map((column) => column.length));
  const height = tallest * (BOX.height + GAP.y) - GAP.y + 2 * EDGE;
  const places = new Map(
    full.flatMap((column, depth) => {
      const top = (height - (column.length * (BOX.height + GAP.y) - GAP.y)) / 2;
      return column.map((node, row): [string, Place] => [node.id, { node, x: EDGE + depth * (BOX.width + GAP.x), y: top + row * (BOX.height + GAP.y) }]);
    }),
  );
  return { places, width: Math.max(1, full.length) * (BOX.width + GAP.x) - GAP.x + 2 * EDGE, height, alone: nodes.filter(isAlone) };
};

/** What each needs, but for what it needs by way of another: the fewest lines that say the same. */
export const nearestNeeds = (nodes: readonly Node[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const below = (id: string, seen: Set<string>): Set<string> => {
    for (const need of byId.get(id)?.needs ?? []) {
      if (seen.has(need)) continue;
      seen.add(need);
      below(need, seen);
    }
    return seen;
  };
  return new Map(nodes.map(({ id, needs }) => [id, new Set(needs.filter((need) => !needs.some((other) => other !== need && below(other, new Set()).has(need))))]));
};

/** A line from the right side of what is needed to the left side of who needs it. */
export const lineOf = (from: Place, to: Place): string => {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
};
