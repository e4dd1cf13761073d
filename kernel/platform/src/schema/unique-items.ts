/** `uniqueItems` in time that grows with the size of the list: ajv compares each item with each other one. */
import type { Ajv, SchemaValidateFunction } from 'ajv';

type Spend = (steps: number) => void;

export const linearUniqueItems = (ajv: Ajv, spend: Spend = () => undefined): Ajv => {
  const validate: SchemaValidateFunction = (isAsked: boolean, list: readonly unknown[]) => {
    if (!isAsked || list.length < 2) return true;
    const seen = new Map<string, number>();
    for (const [index, item] of list.entries()) {
      const text = canonical(item, spend);
      const before = seen.get(text);
      if (before !== undefined) {
        validate.errors = [{ keyword: 'uniqueItems', message: `must NOT have duplicate items (items ## ${before} and ${index} are identical)`, params: { i: before, j: index } }];
        return false;
      }
      seen.set(text, index);
    }
    return true;
  };
  return ajv.removeKeyword('uniqueItems').addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate, errors: true });
};

/** The same text for values that are equal, whatever the order of their members. */
const canonical = (value: unknown, spend: Spend): string => {
  spend(typeof value === 'string' ? 4 + value.length / 64 : 4);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, spend)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner, spend)}`).join()}}`;
};
