/** All sections as one JSON Schema: for the daemon's forms with marks of ours, for editors without. */
import { isTable, type JsonSchema, schemaAt } from '@svc/api';
import { aliasesOf } from '../claims.js';
import { keyOf } from '../evaluate.js';
import type { SectionClaims } from '../kernel-sections.js';
import { isHidden, whyByHand } from './secrecy.js';
import { type SettingPlace, schemaOfPlace, settingsIn } from './setting-tree.js';

type Document = Record<string, unknown>;

/** By their name in the file, older spellings included. */
export const settingSchemas = (claims: SectionClaims): Readonly<Record<string, JsonSchema>> => {
  const sections = Object.fromEntries(Object.entries(claims).map(([name, claim]) => [keyOf(name), claim.schema]));
  const aliases = Object.entries(aliasesOf(claims)).flatMap(([alias, target]) => {
    const schema = schemaAt({ properties: sections }, target);
    return schema === undefined ? [] : [[alias, schema] as const];
  });
  return { ...sections, ...Object.fromEntries(aliases) };
};

export const configSchema = (claims: SectionClaims): Document => {
  const properties = settingSchemas(claims);
  return JSON.parse(JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'svc config.toml', type: 'object', properties, additionalProperties: false }));
};

export const formSchema = (claims: SectionClaims): Document => {
  const places = settingsIn(claims, () => undefined);
  return {
    ...configSchema(claims),
    'x-sections': Object.keys(claims)
      .sort((a, b) => keyOf(a).localeCompare(keyOf(b)))
      .map((name) => sectionOf(claims, name, places)),
    'x-ui-options': Object.fromEntries(places.flatMap((place) => optionsOf(place))),
    'x-non-writable': places.filter((place) => whyByHand(place.path, place.schemas) !== undefined || isHidden(place.path, place.schemas)).map(({ path }) => path.join('.')),
  };
};

const sectionOf = (claims: SectionClaims, name: string, places: readonly SettingPlace[]): Document => ({
  key: keyOf(name),
  root_level: name.startsWith('/'),
  hot_reloadable: !places.some(({ claim, schemas }) => claim === name && schemas.some((schema) => schema['x-restart'] === true)),
  owner: claims[name]?.owner ?? 'kernel',
});

/** By JSON pointer: the range of a number, the choices of a word. */
const optionsOf = (place: SettingPlace): Array<[string, Document]> => {
  const schema = schemaOfPlace(place);
  const pointer = `/${place.path.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
  if (schema.enum) return [[pointer, { select: schema.enum }]];
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  if (!isNumber || schema.minimum === undefined || schema.maximum === undefined) return [];
  return [[pointer, { min: schema.minimum, max: schema.maximum, step: schema.type === 'integer' ? 1 : 0.01 }]];
};

/** As editors take it: without the keys that only this daemon knows. */
export const plainConfigSchema = (claims: SectionClaims): Document => {
  const plain = plainSchema(configSchema(claims));
  return isTable(plain) ? plain : {};
};

/** Names of settings stand below `properties`, and stay whatever they begin with. */
const plainSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(plainSchema);
  if (!isTable(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-'))
      .map(([key, value]) => [key, isNamed(key) && isTable(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plainSchema(part)])) : plainSchema(value)]),
  );
};

const isNamed = (key: string): boolean => key === 'properties' || key === 'patternProperties';
