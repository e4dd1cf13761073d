/** Types that derive from schemas, as code reads them: plain data, and read only. */
import type { Static, TSchema } from '@sinclair/typebox';

/** The readonly type of a schema's value, because values are shared. */
export type Plain<S extends TSchema> = ReadOnly<Static<S>>;

export type ReadOnly<T> = T extends (infer Item)[] ? readonly ReadOnly<Item>[] : T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;

/** Name and version of something declared, and the version range that fits it: the same major. */
export type DeclaredKind = 'service' | 'hook' | 'event' | 'frames' | 'projection' | 'work' | 'config' | 'worker' | 'table' | 'capability';

export interface Declared {
  readonly declares: DeclaredKind;
  /** Lower-case words; the area that owns it comes first. */
  readonly name: string;
  /** Semantic version. A new major version is a separate declaration and can coexist with the old one. */
  readonly version: string;
}

export const majorOf = (version: string): number => Number(version.split('.', 1)[0]);

/** How messages and lists name a declaration: `agents@1`. */
export const declaredAs = ({ name, version }: Pick<Declared, 'name' | 'version'>): string => `${name}@${majorOf(version)}`;

/** Deeply frozen, because everyone who imports a declaration shares it. */
export const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
};
