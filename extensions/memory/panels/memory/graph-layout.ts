/** Where the nodes of a graph stand: pushed apart, held together by edges. The same graph gives the same picture. */

interface Edge {
  readonly source: { readonly id: string; readonly name: string };
  readonly relation: { readonly type: string };
  readonly target: { readonly id: string; readonly name: string };
}

export interface Node {
  readonly id: string;
  readonly name: string;
  /** How many relations it has. */
  readonly relations: number;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly nodes: readonly Node[];
  readonly edges: ReadonlyArray<{ readonly from: Node; readonly to: Node; readonly key: string; readonly label: string }>;
}

/** Comparisons of two nodes in all rounds together: some hundred milliseconds. */
const MAX_PAIRS = 8_000_000;
const MOST_ROUNDS = 120;
const LEAST_ROUNDS = 20;
const MARGIN = 30;

export const layoutOf = (relations: readonly Edge[], width: number, height: number): Layout => {
  const names = new Map<string, { name: string; relations: number }>();
  for (const { source, target } of relations)
    for (const { id, name } of [source, target]) {
      const known = names.get(id) ?? { name, relations: 0 };
      known.relations += 1;
      names.set(id, known);
    }
  const ids = [...names.keys()];
  const numbers = new Map(ids.map((id, index) => [id, index]));
  const [x, y] = [new Float64Array(ids.length), new Float64Array(ids.length)];
  for (let at = 0; at < ids.length; at += 1) {
    // A spiral: no two begin at the same place.
    const [angle, radius] = [at * 2.4, Math.sqrt((at + 1) / ids.length)];
    x[at] = width / 2 + Math.cos(angle) * radius * (width / 2 - MARGIN);
    y[at] = height / 2 + Math.sin(angle) * radius * (height / 2 - MARGIN);
  }
  const ends = relations.map(({ source, target }) => [numbers.get(source.id) ?? 0, numbers.get(target.id) ?? 0] as const);
  const ideal = Math.sqrt((width * height) / Math.max(1, ids.length)) * 0.6;
  const rounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, Math.floor(MAX_PAIRS / Math.max(1, (ids.length * ids.length) / 2))));
  for (let round = 0; round < rounds; round += 1) step(x, y, ends, ideal, (1 - round / rounds) * 12, width, height);
  const nodes = ids.map((id, at): Node => ({ id, name: names.get(id)?.name ?? '', relations: names.get(id)?.relations ?? 0, x: x[at] as number, y: y[at] as number }));
  const edges = relations.flatMap(({ source, relation, target }, index) => {
    const [from, to] = (ends[index] ?? []).map((at) => nodes[at]);
    return from && to ? [{ from, to, key: `${from.id} ${relation.type} ${to.id}`, label: `${source.name} ${relation.type} ${target.name}` }] : [];
  });
  return { nodes, edges };
};

const step = (x: Float64Array, y: Float64Array, ends: ReadonlyArray<readonly [number, number]>, ideal: number, most: number, width: number, height: number): void => {
  const count = x.length;
  const [pushX, pushY] = [new Float64Array(count), new Float64Array(count)];
  const push = (at: number, dx: number, dy: number): void => {
    pushX[at] = (pushX[at] as number) + dx;
    pushY[at] = (pushY[at] as number) + dy;
  };
  for (let a = 0; a < count; a += 1)
    for (let b = a + 1; b < count; b += 1) {
      const [dx, dy] = [(x[a] as number) - (x[b] as number), (y[a] as number) - (y[b] as number)];
      const force = ((ideal * ideal) / Math.max(1, dx * dx + dy * dy)) * 0.1;
      push(a, dx * force, dy * force);
      push(b, -dx * force, -dy * force);
    }
  for (const [from, to] of ends) {
    const [dx, dy] = [(x[to] as number) - (x[from] as number), (y[to] as number) - (y[from] as number)];
    const force = ((Math.max(1, Math.hypot(dx, dy)) - ideal) / ideal) * 0.05;
    push(from, dx * force, dy * force);
    push(to, -dx * force, -dy * force);
  }
  for (let at = 0; at < count; at += 1) {
    const [dx, dy] = [pushX[at] as number, pushY[at] as number];
    const length = Math.max(1, Math.hypot(dx, dy) / most);
    x[at] = Math.min(width - MARGIN, Math.max(MARGIN, (x[at] as number) + dx / length));
    y[at] = Math.min(height - MARGIN, Math.max(MARGIN, (y[at] as number) + dy / length));
  }
};

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** What stands aside of the way counts so much more than what stands on it. */
const ASIDE = 2;

/** The node that a key leads to: the next one in its direction, the first or the last; undefined for other keys, and where nothing stands there. */
export const nodeAfter = (key: string, nodes: readonly Node[], from: Node | undefined): Node | undefined => {
  if (key === 'Home') return nodes[0];
  if (key === 'End') return nodes.at(-1);
  const direction = DIRECTIONS[key];
  if (!direction || !from) return undefined;
  const [across, down] = direction;
  let best: { node: Node; cost: number } | undefined;
  for (const node of nodes) {
    const [dx, dy] = [node.x - from.x, node.y - from.y];
    const ahead = dx * across + dy * down;
    const cost = ahead + ASIDE * Math.abs(dx * down + dy * across);
    if (node === from || ahead <= 0 || (best && cost >= best.cost)) continue;
    best = { node, cost };
  }
  return best?.node;
};
