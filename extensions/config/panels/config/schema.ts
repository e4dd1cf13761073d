/** Where in the JSON Schema of config.toml a setting stands. */
import type { OutputOf } from '@svc/kit';
import { kindOf, type Schema } from '@svc/kit/collection';

export type Setting = OutputOf<'listSettings'>['settings'][number];

export interface SectionShown {
  readonly key: string;
  readonly root_level: boolean;
  readonly owner: string;
}

export interface Document extends Schema {
  readonly 'x-sections': readonly SectionShown[];
}

/** The schema of what stands at a dotted path. Names of a table with free names may have dots in them. */
export const schemaAt = (root: Schema, path: string): Schema => {
  const walk = (schema: Schema, names: readonly string[]): Schema | undefined => {
    const [name, ...rest] = names;
    if (name === undefined) return schema;
    const part = schema.properties?.[name];
    if (part) return walk(part, rest);
    return Object.values(schema.patternProperties ?? {})[0];
  };
  return walk(root, path.split('.')) ?? {};
};

/** A table whose names are free, such as the addresses of providers. */
export const isTable = (schema: Schema): boolean => kindOf(schema) === 'table';
