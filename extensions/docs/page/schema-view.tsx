/** A schema as a person reads it: fields with their types, rules and meanings; what is nested unfolds. */
import { Fold, useContext, useState } from '@svc/kit';
import { t } from './docs-words.js';
import { nameOf, resolved, type Schema } from './openapi.js';
import { ApiContext, Inline } from './prose.js';

type Schemas = Readonly<Record<string, Schema>>;

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const choicesOf = ({ oneOf, anyOf }: Schema): readonly Schema[] => oneOf ?? anyOf ?? [];
const isEmpty = (schema: Schema): boolean => Object.keys(schema).every((key) => key === 'description');

/** Such as `list of text or null`. */
export const typeText = (given: Schema, schemas: Schemas): string => {
  if (given.$ref !== undefined) return nameOf(given.$ref);
  const choices = choicesOf(given);
  if (choices.length > 0) {
    const values = choices.map(({ const: value }) => value);
    if (values.every((value) => value !== undefined)) return t('one_of', { values: values.map(shown).join(', ') });
    return [...new Set(choices.map((choice) => typeText(choice, schemas)))].join(t('or'));
  }
  if (given.allOf) return [...new Set(given.allOf.map((part) => typeText(part, schemas)))].join(' & ');
  if (given.const !== undefined) return t('always', { value: shown(given.const) });
  if (given.enum) return t('one_of', { values: given.enum.map(shown).join(', ') });
  const { type } = given;
  if (type === 'array') return t('list_of', { of: typeText(given.items ?? {}, schemas) });
  const values = valuesOf(given);
  if (values && !given.properties) return t('map_of', { of: typeText(values, schemas) });
  if (type === undefined) return given.properties ? 'object' : t('any');
  return (typeof type === 'string' ? [type] : type).join(t('or'));
};

const valuesOf = ({ additionalProperties, patternProperties }: Schema): Schema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : patternProperties && Object.values(patternProperties)[0];

const isLimited = (limit: number | undefined): limit is number => limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
const rangeText = (from: number | undefined, to: number | undefined): string | undefined => {
  if (isLimited(from) && isLimited(to)) return t('from_to', { from, to });
  if (isLimited(from)) return t('at_least', { from });
  return isLimited(to) ? t('at_most', { to }) : undefined;
};

const MAX_PATTERN_CHARS = 60;

/** What a value has to be, beside its type. */
export const rulesOf = (schema: Schema): readonly string[] => {
  const range = rangeText(schema.minimum, schema.maximum);
  const characters = rangeText(schema.minLength, schema.maxLength);
  const items = rangeText(schema.minItems, schema.maxItems);
  return [
    schema.format,
    range,
    characters && t('characters', { range: characters }),
    items && t('items', { range: items }),
    schema.pattern !== undefined && schema.pattern.length <= MAX_PATTERN_CHARS ? t('matches', { pattern: schema.pattern }) : undefined,
    schema.default === undefined ? undefined : t('by_default', { value: shown(schema.default) }),
    schema.examples?.[0] === undefined ? undefined : t('example', { value: shown(schema.examples[0]) }),
  ].filter((rule) => rule !== undefined);
};

/** What unfolds of a field: the fields of an object, of the items of a list, of the values of a map, or its variants. */
const insideOf = (given: Schema, schemas: Schemas): Schema | undefined => {
  const schema = resolved(given, schemas);
  if (schema.properties && Object.keys(schema.properties).length > 0) return schema;
  if (schema.items) return insideOf(schema.items, schemas);
  const values = valuesOf(schema);
  if (values) return insideOf(values, schemas);
  const inside = [...choicesOf(schema), ...(schema.allOf ?? [])].filter((choice) => insideOf(choice, schemas) !== undefined);
  if (inside.length === 0) return undefined;
  return inside.length === 1 ? insideOf(inside[0] ?? {}, schemas) : schema;
};

const Rules = ({ schema }: { schema: Schema }) => {
  const rules = rulesOf(schema);
  return rules.length === 0 ? null : <p class="field-rules muted small-text">{rules.join(' · ')}</p>;
};

/** Drawn when it is opened: types may contain themselves. */
const Nested = ({ schema }: { schema: Schema }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <Fold summary={t('fields')} onToggle={setOpen}>
      {isOpen && <SchemaFields schema={schema} />}
    </Fold>
  );
};

export const FieldRow = ({ name, schema, description, isNeeded }: { name: string; schema: Schema; description?: string; isNeeded: boolean }) => {
  const { schemas } = useContext(ApiContext);
  const inside = insideOf(schema, schemas);
  const said = description ?? schema.description ?? resolved(schema, schemas).description;
  return (
    <li class="api-field">
      <p class="field-head">
        <code class="field-name">{name}</code>
        <span class="field-type">{typeText(schema, schemas)}</span>
        {isNeeded && <span class="field-needed">{t('needed')}</span>}
      </p>
      {said && (
        <p>
          <Inline text={said} />
        </p>
      )}
      <Rules schema={schema} />
      {inside && <Nested schema={inside} />}
    </li>
  );
};

const Variants = ({ choices }: { choices: readonly Schema[] }) => {
  const { schemas } = useContext(ApiContext);
  return (
    <ul class="api-fields">
      {choices.map((choice, index) => {
        const { properties = {} } = resolved(choice, schemas);
        // What distinguishes one variant from another, such as the name of an event.
        const named = Object.values(properties).find(({ const: value }) => value !== undefined)?.const;
        const name = named === undefined ? (choice.$ref === undefined ? t('variant', { number: index + 1 }) : nameOf(choice.$ref)) : shown(named);
        return <FieldRow key={index} name={name} schema={choice} isNeeded={false} />;
      })}
    </ul>
  );
};

/** The fields of a schema, or what stands in the place of fields. */
export const SchemaFields = ({ schema: given }: { schema: Schema }) => {
  const { schemas } = useContext(ApiContext);
  const schema = insideOf(given, schemas) ?? resolved(given, schemas);
  const choices = [...choicesOf(schema), ...(schema.allOf ?? [])];
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length > 0)
    return (
      <ul class="api-fields">
        {fields.map(([name, field]) => (
          <FieldRow key={name} name={name} schema={field} isNeeded={schema.required?.includes(name) === true} />
        ))}
      </ul>
    );
  if (choices.some((choice) => insideOf(choice, schemas))) return <Variants choices={choices} />;
  return isEmpty(schema) ? null : (
    <div class="api-fields">
      <p class="api-field">
        <span class="field-type">{typeText(given, schemas)}</span>
      </p>
    </div>
  );
};

/** The type in one line, above its fields. */
export const TypeLine = ({ schema }: { schema: Schema }) => {
  const { schemas } = useContext(ApiContext);
  return isEmpty(schema) ? null : <span class="field-type">{typeText(schema, schemas)}</span>;
};
