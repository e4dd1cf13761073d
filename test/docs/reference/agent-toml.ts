/** kernel/cli/reference/agent-toml.md, from the schema that a manifest is validated by. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './markdown.js';
import { defaultOf, type KeySchema, typeOf } from './schema-words.js';

interface Key {
  /** Empty at the top, else `[model]`, `[[fallback_models]]`. */
  readonly heading: string;
  readonly key: string;
  readonly schema: KeySchema;
}

const HEAD = ['key', 'type', 'default', 'what it does'];

export const agentReference = (root: string): string => {
  const schema: KeySchema = JSON.parse(readFileSync(join(root, 'schemas/agent.schema.json'), 'utf8'));
  const keys = keysOf(schema, '');
  const kept = keys.filter(({ schema: { 'x-effect': effect } }) => effect !== 'waits' && effect !== 'refused');
  const headings = [...new Set(kept.map(({ heading }) => heading))];
  return [...headings.map((heading) => sectionText(heading, kept)), refusedText(keys), waitingText(keys)].join('\n\n');
};

const keysOf = (schema: KeySchema, heading: string): Key[] => {
  const entries = Object.entries(schema.properties ?? {});
  const own = entries.filter(([, part]) => insideOf(part) === undefined).map(([key, part]) => ({ heading, key, schema: part }));
  const below = entries.flatMap(([key, part]) => {
    const inside = insideOf(part);
    const path = heading === '' ? key : `${heading.replaceAll(/[[\]]/g, '')}.${key}`;
    return inside === undefined ? [] : keysOf(inside, part.type === 'array' ? `[[${path}]]` : `[${path}]`);
  });
  return [...own, ...below];
};

/** The table with named keys that a key may be; undefined where it is a value. */
const insideOf = (part: KeySchema): KeySchema | undefined => {
  const tables = [part, ...(part.oneOf ?? []), ...(part.items ? [part.items] : [])];
  return tables.find((one) => one.type === 'object' && Object.keys(one.properties ?? {}).length > 0);
};

const meaningOf = ({ schema }: Key): string => [schema.description, schema['x-effect'] === 'shown' ? 'Stored and shown' : undefined].filter((text) => text !== undefined).join('. ');

const sectionText = (heading: string, keys: readonly Key[]): string => {
  const own = keys.filter((key) => key.heading === heading);
  return `## ${heading === '' ? 'Top level\nBefore the first table of the file.' : heading}\n\n${table(
    HEAD,
    own.map((key) => [`\`${key.key}\``, typeOf(key.schema), defaultOf(key.schema), meaningOf(key)]),
  )}`;
};

const pathOf = ({ heading, key }: Key): string => [heading.replaceAll(/[[\]]/g, ''), key].filter((part) => part !== '').join('.');
const whyOf = ({ schema }: Key): string => schema['x-why'] ?? '';

const refusedText = (keys: readonly Key[]): string => {
  const refused = keys.filter(({ schema }) => schema['x-effect'] === 'refused');
  const rows = refused.map((key) => [`\`${pathOf(key)}\``, allowedOf(key.schema), whyOf(key)]);
  return `## Refused\nThese keys would set limits or redirect something, but svc does not support them. A manifest that sets one is refused, unless the value has no effect.\n\n${table(['key', 'allowed', 'reason, and alternative'], rows)}`;
};

const allowedOf = (schema: KeySchema): string =>
  (schema['x-allowed'] ?? [])
    .filter((one) => typeof one !== 'object')
    .map((one) => `\`${JSON.stringify(one)}\``)
    .join(', ');

const waitingText = (keys: readonly Key[]): string => {
  const waiting = keys.filter(({ schema }) => schema['x-effect'] === 'waits');
  const areas = [...new Set(waiting.map(whyOf))];
  const rows = areas.map((why) => [
    why,
    waiting
      .filter((key) => whyOf(key) === why)
      .map((key) => `\`${pathOf(key)}\``)
      .join(', '),
  ]);
  return `## Stored, without effect yet\nThese keys belong to features that are not part of svc yet. They are stored and shown, and you get a warning.\n\n${table(['feature', 'keys'], rows)}`;
};
