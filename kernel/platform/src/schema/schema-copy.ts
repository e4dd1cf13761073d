/** A plain copy of a JSON Schema in which every schema was visited; what only looks like one (in `enum`, `default`, …) is left as it is. */

export type SchemaNode = Record<string, unknown>;

const DATA = new Set(['enum', 'const', 'default', 'examples', 'example']);
/** Their members are named freely: only the values are schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** `visit` may change the node it is given, before its members are visited. Depth counts from 0; `place` is the JSON pointer. */
export const copySchema = (schema: object, visit: (node: SchemaNode, depth: number, place: string) => void): SchemaNode => {
  const copy: SchemaNode = JSON.parse(JSON.stringify(schema));
  const walk = (node: unknown, depth: number, place: string): void => {
    if (Array.isArray(node)) for (const [index, one] of node.entries()) walk(one, depth, `${place}/${index}`);
    else if (isNode(node)) {
      visit(node, depth, place);
      for (const [key, part] of Object.entries(node)) {
        if (DATA.has(key)) continue;
        if (MAPS.has(key) && isNode(part)) for (const [name, one] of Object.entries(part)) walk(one, depth + 1, `${place}/${key}/${name}`);
        else walk(part, depth + 1, `${place}/${key}`);
      }
    }
  };
  walk(copy, 0, '');
  return copy;
};

const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An integer that a number cannot hold exactly would be read as another one: it does not fit. */
export const boundIntegers = (node: SchemaNode): void => {
  if (![node.type].flat().includes('integer')) return;
  node.minimum = Math.max(numberOf(node.minimum, -Infinity), Number.MIN_SAFE_INTEGER);
  node.maximum = Math.min(numberOf(node.maximum, Infinity), Number.MAX_SAFE_INTEGER);
};

const numberOf = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
