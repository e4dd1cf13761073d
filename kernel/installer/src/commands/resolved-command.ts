/** A declared command with what it takes from the route that it calls. */
import { type CommandDecl, isTable, type JsonSchema } from '@svc/api';

type Json = Readonly<Record<string, unknown>>;

export interface CommandInput {
  readonly name: string;
  readonly from: 'path' | 'query' | 'body';
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export interface ResolvedCommand extends Omit<CommandDecl, 'args'> {
  readonly method: string;
  readonly path: string;
  /** The route keeps its answer under an Idempotency-Key. */
  readonly takesKey: boolean;
  /** Given as words, in order. */
  readonly args: readonly CommandInput[];
  /** Given as flags. */
  readonly flags: readonly CommandInput[];
  /** What `--file` gives: nothing, a JSON value, or bytes. */
  readonly body: 'none' | 'json' | 'bytes';
  readonly isBodyRequired: boolean;
}

/** Throws where there is no such operation; all else was validated by `faultsOfCommands`. */
export const resolveCommand = (command: CommandDecl, routes: readonly Json[]): ResolvedCommand => {
  const route = routes.find(({ id }) => id === command.operation);
  if (route === undefined) throw new Error(`the command "${command.command}" calls ${command.operation}, which is not an operation of this extension`);
  const inputs = inputsOf(route);
  const names = argNamesOf(command, route);
  return {
    ...command,
    method: String(route.method),
    path: String(route.path),
    takesKey: route.idempotent === true,
    args: names.flatMap((name) => inputs.filter((input) => input.name === name)),
    // A second name of a field has no flag of its own.
    flags: inputs.filter(({ name, schema }) => !names.includes(name) && !('x-same-as' in schema)),
    body: route.rawBody === true || route.streamBody === true ? 'bytes' : isTable(route.body) ? 'json' : 'none',
    isBodyRequired: isTable(route.body) && route.bodyRule !== 'optional',
  };
};

export const pathNamesOf = (path: unknown): string[] => [...String(path).matchAll(/\{\*?([^}]+)\}/g)].map(([, name = '']) => name);

/** Fields of the path that the command does not name come first. */
const argNamesOf = ({ args = [] }: CommandDecl, { path }: Json): string[] => [...pathNamesOf(path).filter((name) => !args.includes(name)), ...args];

/** Whether a call needs anything at all. */
export const needsInput = (route: Json): boolean => inputsOf(route).some(({ isRequired }) => isRequired);

/** Every field of the path, the query and a body of fields. */
export const inputsOf = (route: Json): CommandInput[] => {
  const params = fieldsOf(route.params, 'path');
  return [
    ...pathNamesOf(route.path).map((name) => params.find((one) => one.name === name) ?? ({ name, from: 'path', schema: { type: 'string' }, isRequired: true } as const)),
    ...fieldsOf(route.query, 'query'),
    ...fieldsOf(route.body, 'body'),
  ];
};

const fieldsOf = (schema: unknown, from: CommandInput['from']): CommandInput[] => {
  if (!isTable(schema) || !isTable(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    from,
    schema: isTable(field) ? field : {},
    // A default stands in for what is left out.
    isRequired: from === 'path' || (required.includes(name) && !(isTable(field) && 'default' in field)),
  }));
};
