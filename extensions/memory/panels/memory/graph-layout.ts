/** Where the nodes of a graph stand: pushed apart, held together by edges. The same graph gives the same picture. */

interface Edge {
  readonly source: { readonly id: string; readonly name: string };
  readonly relation: { readonly type: string };
  readonly target: { readonly id: string; readonly name: string };
}

export interface Node {
  readonly id: string;
  readonly name: string;
  x: number;
  y: number;
}

const ROUNDS = 120;
const MARGIN = 30;

export const layoutOf = (relations: readonly Edge[], width: number, height: number): { nodes: Node[]; edges: Array<{ from: Node; to: Node; key: string; label: string }> } => {
  const byId = new Map<string, Node>();
  for (const { source, target } of relations) for (const { id, name } of [source, target]) byId.set(id, byId.get(id) ?? { id, name, x: 0, y: 0 });
  const nodes = [...byId.values()];
  for (const [index, node] of nodes.entries()) {
    // A spiral: no two begin at the same place.
    const [angle, radius] = [index * 2.4, Math.sqrt((index + 1) / nodes.length)];
    node.x = width / 2 + Math.cos(angle) * radius * (width / 2 - MARGIN);
    node.y = height / 2 + Math.sin(angle) * radius * (height / 2 - MARGIN);
  }
  const edges = relations.flatMap(({ source, relation, target }) => {
    const [from, to] = [byId.get(source.id), byId.get(target.id)];
    return from && to ? [{ from, to, key: `${from.id} ${relation.type} ${to.id}`, label: `${from.name} ${relation.type} ${to.name}` }] : [];
  });
  const ideal = Math.sqrt((width * height) / Math.max(1, nodes.length)) * 0.6;
  for (let round = 0; round < ROUNDS; round++) step(nodes, edges, ideal, (1 - round / ROUNDS) * 12, width, height);
  return { nodes, edges };
};

const step = (nodes: readonly Node[], edges: ReadonlyArray<{ from: Node; to: Node }>, ideal: number, most: number, width: number, height: number): void => {
  const push = new Map(nodes.map((node) => [node, { x: 0, y: 0 }]));
  const add = (node: Node, x: number, y: number): void => {
    const sum = push.get(node);
    if (!sum) return;
    sum.x += x;
    sum.y += y;
  };
  for (const [index, a] of nodes.entries())
    for (const b of nodes.slice(index + 1)) {
      const [dx, dy] = [a.x - b.x, a.y - b.y];
      const distance = Math.max(1, Math.hypot(dx, dy));
      const force = (ideal * ideal) / (distance * distance);
      add(a, dx * force * 0.1, dy * force * 0.1);
      add(b, -dx * force * 0.1, -dy * force * 0.1);
    }
  for (const { from, to } of edges) {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const force = (Math.max(1, Math.hypot(dx, dy)) - ideal) / ideal;
    add(from, dx * force * 0.05, dy * force * 0.05);
    add(to, -dx * force * 0.05, -dy * force * 0.05);
  }
  for (const [node, { x, y }] of push) {
    const length = Math.max(1, Math.hypot(x, y) / most);
    node.x = Math.min(width - MARGIN, Math.max(MARGIN, node.x + x / length));
    node.y = Math.min(height - MARGIN, Math.max(MARGIN, node.y + y / length));
  }
};
