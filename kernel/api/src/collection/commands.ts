/** The commands of a collection: `svc goals list|get|create|update|delete`. */
import type { CommandColumn, CommandDecl } from '../declare/command.js';
import type { TObject } from '../schema/schema.js';
import { type AnyCollectionSpec, manyOf, operationId, operationOf, shownFields, snakeCase, type Verb } from './spec.js';

export const commandsOf = (spec: AnyCollectionSpec): CommandDecl[] => {
  const many = manyOf(spec);
  const { area, one, word = area } = spec;
  const command = (verb: Verb, rest: Omit<CommandDecl, 'command' | 'operation'>): CommandDecl[] =>
    operationOf(spec, verb) === undefined ? [] : [{ command: `${word} ${verb === 'remove' ? 'delete' : verb}`, operation: operationId(spec, verb), ...rest }];
  const [rows] = spec.list?.as ?? [snakeCase(many)];
  return [
    ...command('list', { summary: `list ${many}`, output: { kind: 'table', ...(rows === undefined ? {} : { rows }), columns: columnsFor(spec), empty: `There are no ${many}.` } }),
    ...command('get', { summary: `show one ${one}`, args: ['id'], output: { kind: 'record' } }),
    ...command('create', { summary: `create a ${one}`, args: spec.args ?? required(spec.fields).slice(0, 1), output: { kind: 'line', text: `Created the ${one} {id}.` } }),
    ...command('update', { summary: `change fields of a ${one}`, args: ['id'], output: { kind: 'line', text: `Updated the ${one} {id}.` } }),
    ...command('remove', { summary: `delete a ${one}`, args: ['id'], confirm: `Delete the ${one} {id}?`, output: { kind: 'line', text: `Deleted the ${one} {id}.` } }),
  ];
};

const required = ({ properties }: TObject): string[] => Object.entries(properties).flatMap(([key, { default: usual, anyOf }]) => (usual === undefined && !Array.isArray(anyOf) ? [key] : []));

const columnsFor = (spec: AnyCollectionSpec): CommandColumn[] => [
  ...shownFields(spec).map((field, index): CommandColumn => ({ field, ...formatOf(field), shrinks: index === 0, givesWay: index > 1 })),
  { field: 'updated_at', title: 'UPDATED', format: 'ago', givesWay: true },
  { field: 'id' },
];

const formatOf = (field: string): Pick<CommandColumn, 'format'> => (field.endsWith('_at') ? { format: 'ago' } : field.endsWith('_bytes') ? { format: 'bytes' } : {});
