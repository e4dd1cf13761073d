/**
 * Where the schemas of one document lead to each other. A reference that comes back without going deeper into the value
 * never ends; two that go deeper to one place and both come back double the work with each level.
 */
import { schemaErrors } from './errors.js';
import type { SchemaNode } from './schema-copy.js';

/** A schema further down in the value: which place it is applied to, and where it may go on. */
interface Step {
  readonly place: string;
  readonly to: SchemaNode;
}

/** What a schema applies to its own place; a choice is one of several, of which a check may leave out some. */
interface Branch {
  readonly to: SchemaNode;
  readonly isChoice: boolean;
}

/** Of all schemas together. */
const MAX_WAYS = 20_000;

type Places = ReadonlyMap<SchemaNode, string>;

/** `known` holds each schema of the document with its JSON pointer. Throws `schema_reference`, `schema_endless` and `schema_ambiguous`. */
export const refuseSelfReference = (root: SchemaNode, known: Places): void => {
  const find = referencesOf(root, known);
  const branches = new Map<SchemaNode, readonly Branch[]>();
  const steps = new Map<SchemaNode, readonly Step[]>();
  for (const node of known.keys()) {
    branches.set(node, [...find(node).map((to) => ({ to, isChoice: false })), ...ownBranches(node)]);
    steps.set(node, ownSteps(node));
  }
  const shownAs = (node: SchemaNode): string => `#${known.get(node) ?? ''}`.slice(0, 200);
  const endless = cycleIn(known, (node) => (branches.get(node) ?? []).map(({ to }) => to));
  if (endless) throw schemaErrors.endless(shownAs(endless));
  const group = cyclesOf(known, (node) => [...(branches.get(node) ?? []).map(({ to }) => to), ...(steps.get(node) ?? []).map(({ to }) => to)]);
  const reached = reachedFrom(branches, steps, group);
  for (const node of known.keys()) if (isAmbiguous(node, branches.get(node) ?? [], reached, steps.get(node) ?? [], group)) throw schemaErrors.ambiguous(shownAs(node));
};

/** The schemas that the references of one schema lead to. */
const referencesOf = (root: SchemaNode, known: Places): ((node: SchemaNode) => SchemaNode[]) => {
  const named = new Map<string, SchemaNode[]>();
  for (const node of known.keys()) for (const key of ['$anchor', '$dynamicAnchor']) if (typeof node[key] === 'string') named.set(node[key], [...(named.get(node[key]) ?? []), node]);
  const target = (reference: string): SchemaNode[] => {
    const fragment = decoded(reference.slice(1));
    if (fragment === '') return [root];
    if (!fragment.startsWith('/')) {
      const found = named.get(fragment);
      if (!found) throw schemaErrors.reference(reference.slice(0, 200));
      return found;
    }
    const found = atPointer(root, fragment);
    if (typeof found === 'boolean') return [];
    // What stands in an example or a list of values was never looked at, and is no schema.
    if (!isNode(found) || !known.has(found)) throw schemaErrors.reference(reference.slice(0, 200));
    return [found];
  };
  return (node) => ['$ref', '$dynamicRef', '$recursiveRef'].flatMap((key) => (typeof node[key] === 'string' ? target(node[key]) : []));
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw schemaErrors.reference(`#${text.slice(0, 200)}`);
  }
};

const atPointer = (root: SchemaNode, pointer: string): unknown => {
  let found: unknown = root;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  }
  return found;
};

const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null && !Array.isArray(value);

const nodesIn = (value: unknown): SchemaNode[] => (typeof value === 'object' && value !== null ? Object.values(value).filter(isNode) : []);

const oneIn = (value: unknown): SchemaNode[] => (isNode(value) ? [value] : []);

const ownBranches = (node: SchemaNode): Branch[] => [
  ...[...nodesIn(node.anyOf), ...nodesIn(node.oneOf), ...oneIn(node.then), ...oneIn(node.else), ...nodesIn(node.dependentSchemas), ...nodesIn(node.dependencies)].map((to) => ({ to, isChoice: true })),
  ...[...nodesIn(node.allOf), ...oneIn(node.not), ...oneIn(node.if)].map((to) => ({ to, isChoice: false })),
];

const ownSteps = (node: SchemaNode): Step[] => [
  ...Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, to]) => oneIn(to).map((one) => ({ place: `.${name}`, to: one }))),
  ...Object.entries(isNode(node.patternProperties) ? node.patternProperties : {}).flatMap(([name, to]) => oneIn(to).map((one) => ({ place: `~${name}`, to: one }))),
  ...[...oneIn(node.additionalProperties), ...oneIn(node.unevaluatedProperties)].map((to) => ({ place: '*', to })),
  ...(Array.isArray(node.items) ? nodesIn(node.items) : nodesIn(node.prefixItems)).map((to, index) => ({ place: `[${index}]`, to })),
  ...[...(Array.isArray(node.items) ? [] : oneIn(node.items)), ...oneIn(node.additionalItems), ...oneIn(node.unevaluatedItems), ...oneIn(node.contains)].map((to) => ({ place: '[]', to })),
];

type Next = (node: SchemaNode) => readonly SchemaNode[];

/** A schema that comes back to itself; undefined where none does. */
const cycleIn = (known: Places, next: Next): SchemaNode | undefined => {
  const groups = cyclesOf(known, next);
  const sizes = new Map<number, number>();
  for (const group of groups.values()) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return [...known.keys()].find((node) => (sizes.get(groups.get(node) ?? -1) ?? 0) > 1 || next(node).includes(node));
};

/** Numbers the schemas so that those which lead to each other have one number (Tarjan), without deep calls. */
const cyclesOf = (known: Places, next: Next): ReadonlyMap<SchemaNode, number> => {
  const group = new Map<SchemaNode, number>();
  const order = new Map<SchemaNode, number>();
  const low = new Map<SchemaNode, number>();
  const open: SchemaNode[] = [];
  const lowOf = (node: SchemaNode): number => low.get(node) ?? 0;
  const enter = (node: SchemaNode) => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    open.push(node);
    return { node, rest: [...next(node)] };
  };
  for (const start of known.keys()) {
    if (order.has(start)) continue;
    const calls = [enter(start)];
    for (let call = calls.at(-1); call; call = calls.at(-1)) {
      const { node, rest } = call;
      const to = rest.pop();
      if (to === undefined) {
        calls.pop();
        const above = calls.at(-1)?.node;
        if (above) low.set(above, Math.min(lowOf(above), lowOf(node)));
        if (lowOf(node) === order.get(node)) for (let one = open.pop(); one; one = one === node ? undefined : open.pop()) group.set(one, lowOf(node));
      } else if (!order.has(to)) calls.push(enter(to));
      else if (!group.has(to)) low.set(node, Math.min(lowOf(node), order.get(to) ?? 0));
    }
  }
  return group;
};

type Groups = ReadonlyMap<SchemaNode, number>;

/** Of each schema the places further down that it reaches, by itself and by its branches; those alone that may come back. */
const reachedFrom = (branches: ReadonlyMap<SchemaNode, readonly Branch[]>, steps: ReadonlyMap<SchemaNode, readonly Step[]>, group: Groups): ((node: SchemaNode) => ReadonlySet<string>) => {
  const known = new Map<SchemaNode, ReadonlySet<string>>();
  let size = 0;
  const reached = (node: SchemaNode): ReadonlySet<string> => {
    const before = known.get(node);
    if (before) return before;
    const all = new Set((steps.get(node) ?? []).map((step) => wayOf(step, group)));
    for (const { to } of branches.get(node) ?? []) for (const way of reached(to)) all.add(way);
    size += all.size;
    if (size > MAX_WAYS) throw schemaErrors.too_many_parts(MAX_WAYS);
    known.set(node, all);
    return all;
  };
  return reached;
};

/** A place, and the ring of schemas that it leads into. */
const wayOf = ({ place, to }: Step, group: Groups): string => `${group.get(to) ?? ''} ${place}`;

const isAmbiguous = (node: SchemaNode, branches: readonly Branch[], reached: (node: SchemaNode) => ReadonlySet<string>, steps: readonly Step[], group: Groups): boolean => {
  const back = `${group.get(node) ?? ''} `;
  const seen = new Map<string, Branch | undefined>();
  for (const step of steps) {
    const way = wayOf(step, group);
    if (!way.startsWith(back)) continue;
    if (seen.has(way)) return true;
    seen.set(way, undefined);
  }
  for (const branch of branches)
    for (const way of reached(branch.to)) {
      if (!way.startsWith(back)) continue;
      if (seen.has(way) && !isDistinguishable(seen.get(way), branch)) return true;
      seen.set(way, branch);
    }
  return false;
};

/** Whether most values fit one of them alone, and fail the other at once. What fits both all the same costs its steps. */
const isDistinguishable = (one: Branch | undefined, other: Branch): boolean => {
  if (!one?.isChoice || !other.isChoice) return false;
  const [first, second] = [marksOf(one.to), marksOf(other.to)];
  return first !== second && first !== '' && second !== '';
};

/** What a choice says of itself: its type, what it requires, and the properties that have one of a few values. */
const marksOf = (node: SchemaNode): string => {
  const { properties, required, type } = node;
  const fixed = Object.entries(isNode(properties) ? properties : {}).flatMap(([name, to]) => (isNode(to) && ('const' in to || 'enum' in to) ? [[name, to.const ?? to.enum]] : []));
  return type === undefined && required === undefined && fixed.length === 0 ? '' : JSON.stringify([type, required, fixed]);
};
