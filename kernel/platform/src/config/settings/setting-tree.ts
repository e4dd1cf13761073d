/** Goes through the sections of config.toml setting by setting. */
import { isTable, type JsonSchema } from '@svc/api';
import { schemaOf } from '@svc/api/internal';
import { keyOf } from '../evaluate.js';
import type { SectionClaims } from '../kernel-sections.js';

export interface SettingPlace {
  /** As in the file: `['api', 'listen_addr']`, `['api_key']`. */
  readonly path: readonly string[];
  /** The name of the section's claim: `api`, `/api_key`. */
  readonly claim: string;
  readonly owner: string;
  /** From the section's schema to its own. */
  readonly schemas: readonly JsonSchema[];
  /** Undefined where it has neither a value nor a default. */
  readonly value: unknown;
}

/** Every setting there is, by section. Lists are one setting; of tables with free names there are as many as they hold. */
export const settingsIn = (claims: SectionClaims, settingOf: (claim: string) => unknown): SettingPlace[] =>
  Object.keys(claims)
    .sort((a, b) => keyOf(a).localeCompare(keyOf(b)))
    .flatMap((claim) => {
      const { schema, owner } = claims[claim] ?? { schema: {}, owner: '' };
      return placesIn({ path: [keyOf(claim)], claim, owner, schemas: [schema], value: settingOf(claim) });
    });

const placesIn = (place: SettingPlace): SettingPlace[] => {
  const schema = schemaOfPlace(place);
  const names = schema.properties ? Object.keys(schema.properties) : isTable(place.value) && !schema.items ? Object.keys(place.value) : [];
  if (names.length === 0) return [place];
  return names.flatMap((name) => {
    const part = schemaOf(schema, name);
    return placesIn({ ...place, path: [...place.path, name], schemas: part ? [...place.schemas, part] : place.schemas, value: isTable(place.value) ? place.value[name] : undefined });
  });
};

/** Settings of these sections that have another value in `after` than in `before`, as dotted paths. */
export const changedSettings = (claims: SectionClaims, sections: readonly string[], before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] => {
  const own = Object.fromEntries(Object.entries(claims).filter(([name]) => sections.includes(name)));
  const textsOf = (values: ReadonlyMap<string, unknown>) => new Map(settingsIn(own, (name) => values.get(name)).map(({ path, value }) => [path.join('.'), JSON.stringify(value)]));
  const [was, is] = [textsOf(before), textsOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path));
};

export const schemaOfPlace = ({ schemas }: Pick<SettingPlace, 'schemas'>): JsonSchema => schemas.at(-1) ?? {};

/** The schemas from the section to what stands at `path`; undefined where nobody claims that. */
export const schemasAt = (claims: SectionClaims, path: readonly string[]): readonly JsonSchema[] | undefined => {
  const [section = '', ...rest] = path;
  const name = [section, `/${section}`].find((one) => Object.hasOwn(claims, one));
  const first = name === undefined ? undefined : claims[name];
  if (!first) return undefined;
  const schemas = [first.schema];
  for (const name of rest) {
    const part = schemaOf(schemas.at(-1) ?? {}, name);
    if (!part) return undefined;
    schemas.push(part);
  }
  return schemas;
};
