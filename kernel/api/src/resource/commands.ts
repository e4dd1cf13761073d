/** The commands of a resource: `svc goals list|get|create|update|delete`, and one for each action. */
import { inEnglish, type ViewColumn } from '../declare/collection-view.js';
import type { CommandColumn, CommandDecl, CommandOutput } from '../declare/command.js';
import type { TObject, TSchema } from '../schema/schema.js';
import type { ActionSpec } from './actions.js';
import { propertiesOf } from './fields.js';
import { actionId, type AnyResourceSpec, kebabCase, keyOf, manyOf, oneOf, operationId, operationOf, shownColumns, snakeCase, type Verb } from './spec.js';

export const commandsOf = (spec: AnyResourceSpec, isTable: boolean): CommandDecl[] => {
  const many = manyOf(spec);
  const key = keyOf(spec);
  const { one, word = spec.area } = spec;
  const command = (verb: Verb, rest: Omit<CommandDecl, 'command' | 'operation'>): CommandDecl[] =>
    operationOf(spec, verb) === undefined || spec.verbs?.[verb] === false ? [] : [{ command: `${word} ${spec.verbs?.[verb] ?? verb}`, operation: operationId(spec, verb), ...rest }];
  const [rows] = spec.list?.as ?? [snakeCase(many)];
  const said = (text: string): CommandOutput => ({ kind: 'line', text: `${text} the ${one} {${key}}.` });
  const created = operationOf(spec, 'create')?.answer;
  const isNamed = created === undefined || created.properties?.[key] !== undefined;
  const changes = operationOf(spec, 'update') ? [] : command('replace', { summary: `replace ${oneOf(spec)}`, args: [key], output: said('Replaced') });
  return [
    ...command('list', {
      summary: `list ${many}`,
      output: {
        kind: 'table',
        ...(rows === undefined ? {} : { rows }),
        columns: columnsFor(spec, isTable),
        empty: spec.words?.empty === undefined ? `There are no ${many}.` : inEnglish(spec.words.empty),
      },
    }),
    ...command('get', { summary: `show one ${one}`, args: [key], output: { kind: 'record' } }),
    ...command('create', {
      summary: `create ${oneOf(spec)}`,
      args: spec.args ?? required(spec.fields).slice(0, 1),
      output: { kind: 'line', text: `Created the ${one}${isNamed ? ` {${key}}` : ''}.` },
    }),
    ...command('update', { summary: `change fields of ${oneOf(spec)}`, args: [key], output: said('Updated') }),
    ...changes,
    ...command('delete', { summary: `delete ${oneOf(spec)}`, args: [key], confirm: `Delete the ${one} {${key}}?`, output: { kind: 'line', text: `Deleted the ${one} {${key}}.` } }),
    ...Object.entries(spec.actions ?? {}).flatMap(([name, action]) => actionCommand(spec, word, name, action)),
  ];
};

const actionCommand = (spec: AnyResourceSpec, word: string, name: string, action: ActionSpec): CommandDecl[] => {
  const { command = {}, done, on = 'item', answer, button } = action;
  if (command === false) return [];
  const { verb = kebabCase(name), summary = lowered(action.summary), args = [], confirm, output = outputOf(done === undefined ? undefined : inEnglish(done), answer) } = command;
  const asked = confirm ?? (button?.confirm === undefined ? undefined : inEnglish(button.confirm.title));
  const ownKey = on === 'item' ? [keyOf(spec)] : [];
  return [
    {
      command: `${word} ${verb}`,
      operation: actionId(spec, name, action),
      summary,
      args: [...ownKey.filter((one) => !args.includes(one)), ...args],
      ...(asked === undefined || asked === false ? {} : { confirm: asked }),
      output,
    },
  ];
};

const lowered = (text: string): string => (/^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text);

const outputOf = (done: string | undefined, answer: TSchema): CommandOutput => {
  if (done !== undefined) return { kind: 'line', text: done };
  return answer.type === 'array' ? { kind: 'table', columns: fieldsIn(answer.items), empty: 'There are none.' } : { kind: 'record' };
};

const fieldsIn = ({ properties = {} }: { properties?: Record<string, TSchema> } = {}): CommandColumn[] =>
  Object.keys(properties).map((field, index) => ({ field, shrinks: index === 0, givesWay: index > 2 }));

const required = ({ properties }: TObject): string[] => Object.entries(properties).flatMap(([key, { default: usual, anyOf }]) => (usual === undefined && !Array.isArray(anyOf) ? [key] : []));

const columnsFor = (spec: AnyResourceSpec, isTable: boolean): CommandColumn[] => {
  const columns = shownColumns(spec);
  const properties = propertiesOf(spec);
  const key = keyOf(spec);
  return [
    ...columns.map(
      (column, index): CommandColumn => ({ field: column.field, ...titleOf(column), ...formatOf(column, properties[column.field]), shrinks: index === 0 && column.field !== key, givesWay: index > 1 }),
    ),
    ...(isTable ? [{ field: 'updated_at', title: 'UPDATED', format: 'ago', givesWay: true } as const] : []),
    ...(columns.some(({ field }) => field === key) ? [] : [{ field: key }]),
  ];
};

const titleOf = ({ title }: ViewColumn): Pick<CommandColumn, 'title'> => (title === undefined ? {} : { title: inEnglish(title).toUpperCase() });

const BY_FORMAT: Readonly<Partial<Record<NonNullable<ViewColumn['format']>, CommandColumn['format']>>> = {
  ago: 'ago',
  date: 'ago',
  bytes: 'bytes',
  number: 'number',
  usd: 'usd',
  percent: 'percent',
  yes: 'yes',
};

const formatOf = ({ field, format, none }: ViewColumn, schema: TSchema | undefined): Pick<CommandColumn, 'format' | 'none' | 'unit'> => {
  const said = none === undefined ? {} : { none: inEnglish(none) };
  const kind = schema?.['x-kind'];
  if (kind === 'duration') return { ...said, format: 'duration', unit: String(schema?.['x-unit']) };
  const shown =
    (format === undefined ? undefined : BY_FORMAT[format]) ??
    (kind === 'money' ? 'usd' : kind === 'percent' ? 'percent' : field.endsWith('_at') ? 'ago' : field.endsWith('_bytes') ? 'bytes' : undefined);
  return shown === undefined ? said : { ...said, format: shown };
};
