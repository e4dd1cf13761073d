/** Holds the declared commands of an extension to its routes: what a command names must be there before anybody types it. */
import { type CommandColumn, type CommandDecl, type CommandWordDecl, isTable } from '@svc/api';
import { inputsOf } from './resolved-command.js';

type Json = Readonly<Record<string, unknown>>;

/** Of contributions.json. */
export interface DeclaredCommands {
  readonly routes: readonly Json[];
  readonly commands?: readonly CommandDecl[];
  readonly commandWords?: readonly CommandWordDecl[];
}

const WORD = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const KINDS = ['table', 'record', 'line'];
const FORMATS = [undefined, 'text', 'ago', 'bytes', 'number', 'usd', 'percent', 'duration', 'yes'];

export const wordOf = (command: string): string => command.split(' ')[0] ?? '';

/** The first words of an extension: those that it declares, and its id where a command begins with it. */
export const wordsOf = ({ commands = [], commandWords = [] }: Omit<DeclaredCommands, 'routes'>): string[] => [
  ...new Set([...commandWords.map(({ word }) => word), ...commands.map(({ command }) => wordOf(command))]),
];

/** One sentence for each that cannot be; none where all can. */
export const faultsOfCommands = (id: string, { commands = [], commandWords = [], routes }: DeclaredCommands): string[] => {
  const words = commandWords.map(({ word }) => word);
  const wrongWord = commandWords.find(({ word, summary }) => !isText(word) || !WORD.test(word) || !isText(summary));
  if (wrongWord !== undefined) return [`the command word ${JSON.stringify(wrongWord.word)} is not lower-case letters, digits and single hyphens, or has no summary`];
  const twice = [...words, ...commands.map(({ command }) => command)].find((one, index, all) => all.indexOf(one) !== index);
  if (twice !== undefined) return [`the command "${twice}" is declared twice`];
  return commands.flatMap((command) => {
    const fault = faultOf(command, [id, ...words], routes);
    return fault === undefined ? [] : [`the command "${String(command.command)}" ${fault}`];
  });
};

/** What only an extension that comes with svc may have: code in the command line, and words beside its own. */
export const faultsOfForeignWords = ({ commandWords = [] }: Pick<DeclaredCommands, 'commandWords'>): string[] => {
  const foreign = commandWords.find(({ module, synonyms }) => module !== undefined || synonyms !== undefined);
  return foreign === undefined ? [] : [`the command word "${foreign.word}" has a module or synonyms, which only an extension that comes with svc may have`];
};

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const faultOf = (command: CommandDecl, words: readonly string[], routes: readonly Json[]): string | undefined => {
  const [word = '', verb = '', ...more] = String(command.command).split(' ');
  if (!WORD.test(word) || !WORD.test(verb) || more.length > 0) return 'must be two words of lower-case letters, such as "goals list"';
  if (verb === 'help') return 'ends in "help", which shows the help';
  if (!words.includes(word)) return `begins with "${word}", which is neither the id of the extension nor one of its commandWords`;
  if (!isText(command.summary)) return 'has no summary';
  const route = routes.find(({ id }) => id === command.operation);
  if (route === undefined) return `calls ${String(command.operation)}, which is not an operation of this extension`;
  if (answerOf(route) === undefined) return `calls ${command.operation}, which does not answer with JSON`;
  return faultOfInputs(command, route) ?? faultOfOutput(command, route);
};

/** The schema of its first success; undefined where that is no JSON. An answer without a body is an empty object. */
const answerOf = ({ responses }: Json): Json | undefined => {
  const [status = '204', answer] = Object.entries(isTable(responses) ? responses : {}).find(([code]) => /^2/.test(code)) ?? [];
  if (status === '204' || answer === undefined) return {};
  return isTable(answer) && !('contentType' in answer) ? answer : undefined;
};

const faultOfInputs = ({ args = [], confirm }: CommandDecl, route: Json): string | undefined => {
  const names = inputsOf(route).map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `calls ${String(route.id)}, which takes "${twice}" in two places`;
  const unknown = args.find((name) => !names.includes(name));
  if (unknown !== undefined) return `takes the argument "${unknown}", which is not a field of ${String(route.id)}`;
  const asked = placeholdersOf(confirm ?? '').find((name) => !names.includes(name));
  return asked === undefined ? undefined : `asks about {${asked}}, which is not a field of ${String(route.id)}`;
};

const faultOfOutput = ({ output }: CommandDecl, route: Json): string | undefined => {
  const answer = answerOf(route) ?? {};
  const missing = (name: string): string => `prints "${name}", which ${String(route.id)} does not answer`;
  if (!isTable(output) || !KINDS.includes(output.kind)) return 'has no output that is table, record or line';
  if (output.kind === 'line') {
    if (!isText(output.text)) return 'has a line without text';
    const inputs = inputsOf(route).map(({ name }) => name);
    const unknown = placeholdersOf(output.text).find((name) => !inputs.includes(name) && !mayHave(answer, name));
    return unknown === undefined ? undefined : missing(unknown);
  }
  if (output.kind === 'record') {
    const fields = (output.fields ?? []).map((field) => (typeof field === 'string' ? { field } : field));
    if (fields.some((one) => !isKnownColumn(one))) return 'has a field without a name, or with an unknown format';
    const unknown = fields.map(({ field }) => field).find((name) => !mayHave(answer, name));
    return unknown === undefined ? undefined : missing(unknown);
  }
  if (!Array.isArray(output.columns) || output.columns.length === 0 || !isText(output.empty)) return 'has a table without columns, or without a text for no row';
  if (output.columns.some((column) => !isKnownColumn(column))) return 'has a column without a field, or with an unknown format';
  if (output.rows !== undefined && !mayHave(answer, output.rows)) return missing(output.rows);
  const rows = output.rows === undefined ? answer : schemaAt(answer, output.rows);
  if (isTable(rows) && 'type' in rows && rows.type !== 'array') return `prints the rows of "${output.rows ?? 'its answer'}", which is not a list`;
  const row = isTable(rows) && isTable(rows.items) ? rows.items : {};
  const unknown = output.columns.find(({ field }) => !mayHave(row, field));
  return unknown === undefined ? undefined : missing(unknown.field);
};

const isKnownColumn = ({ field, format }: CommandColumn): boolean => isText(field) && FORMATS.includes(format);

export const placeholdersOf = (text: string): string[] => [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);

/** True also where the schema leaves it open. */
const mayHave = (schema: Json, field: string): boolean => schemaAt(schema, field) !== undefined;

/** The schema of `agent.name`; `{}` where nothing is said, undefined where there is no such field. */
const schemaAt = (schema: Json, field: string): Json | undefined => {
  const [name = '', ...rest] = field.split('.');
  const found = forms(schema).map((form) => memberOf(form, name));
  const [member] = found.filter((one) => one !== undefined);
  return member === undefined || rest.length === 0 ? member : schemaAt(member, rest.join('.'));
};

const memberOf = (form: Json, name: string): Json | undefined => {
  if (!isTable(form.properties)) return form.type === undefined || form.type === 'object' ? {} : undefined;
  const member = form.properties[name];
  if (isTable(member)) return member;
  return isTable(form.additionalProperties) ? form.additionalProperties : undefined;
};

/** The schema itself, or those that it is any or all of; null is none. */
const forms = (schema: Json): Json[] => {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].filter((list) => Array.isArray(list)).flat();
  return parts.length === 0
    ? [schema]
    : parts
        .filter(isTable)
        .filter(({ type }) => type !== 'null')
        .flatMap(forms);
};
