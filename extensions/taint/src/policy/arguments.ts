/** The values of a call's arguments, however deep they are. */

export interface Leaf {
  /** Its name, or that of the list it is in. */
  readonly key: string;
  readonly text: string;
  readonly isText: boolean;
}

const MAX_DEPTH = 64;
const MAX_LEAVES = 2_000;

/** Names of objects are values, too, where a tool takes any: they say as much as what is below them. */
export const leavesOf = (args: Readonly<Record<string, unknown>>): readonly Leaf[] => {
  const leaves: Leaf[] = [];
  for (const [key, value] of Object.entries(args)) collect(leaves, key, value, 0);
  return leaves;
};

const collect = (leaves: Leaf[], key: string, value: unknown, depth: number): void => {
  if (leaves.length >= MAX_LEAVES || depth > MAX_DEPTH || value === null || value === undefined || typeof value === 'boolean') return;
  if (typeof value === 'object') {
    const isList = Array.isArray(value);
    for (const [name, one] of Object.entries(value)) {
      if (!isList) leaves.push({ key, text: name, isText: false });
      collect(leaves, isList ? key : name, one, depth + 1);
    }
    return;
  }
  leaves.push({ key, text: String(value), isText: typeof value === 'string' });
};

/** Whether something was left out: then nobody has seen all of it. */
export const isTooDeep = (leaves: readonly Leaf[]): boolean => leaves.length >= MAX_LEAVES;
