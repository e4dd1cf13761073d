/** What extensions offer to the completion of a shell, with the route that each asks. */
import { type CompletionDecl, isTable } from '@svc/api';
import { needsInput } from './resolved-command.js';

type Json = Readonly<Record<string, unknown>>;

export interface Completion extends CompletionDecl {
  readonly path: string;
}

export interface DeclaredCompletions {
  readonly routes: readonly Json[];
  readonly completions?: readonly CompletionDecl[];
}

/** Words of `svc completion` that mean something else. */
const SHELLS: readonly string[] = ['bash', 'zsh', 'fish', 'powershell'];
const WORD = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

const isWord = (value: unknown): value is string => typeof value === 'string' && WORD.test(value);

export const completionsOf = ({ completions = [], routes }: DeclaredCompletions): Completion[] =>
  completions.map((one) => ({ ...one, path: String(routes.find(({ id }) => id === one.operation)?.path) }));

/** One sentence for each that cannot be used; none where all can. */
export const faultsOfCompletions = ({ completions = [], routes }: DeclaredCompletions): string[] =>
  completions.flatMap((one) => {
    const fault = faultOf(one, routes);
    return fault === undefined ? [] : [`the completion "${String(one.name)}" ${fault}`];
  });

const faultOf = ({ fields, name, operation, rows, value }: CompletionDecl, routes: readonly Json[]): string | undefined => {
  if (!isWord(name) || SHELLS.includes(name)) return 'is not named in lower-case letters, or has the name of a shell';
  if (!Array.isArray(fields) || fields.length === 0 || !fields.every(isWord)) return 'has no fields, such as "agent"';
  const route = routes.find(({ id }) => id === operation);
  if (route?.method !== 'GET' || needsInput(route)) return `asks ${String(operation)}, which is not a GET of this extension that needs nothing`;
  const list = isTable(route.responses) ? listOf(route.responses['200'], rows) : undefined;
  if (list === undefined) return `reads "${rows ?? 'the answer'}", which is not a list that ${operation} answers`;
  return isTable(list.items) && isTable(list.items.properties) && Object.hasOwn(list.items.properties, value)
    ? undefined
    : `offers "${String(value)}", which is not a field of the rows of ${operation}`;
};

const listOf = (answer: unknown, rows: string | undefined): Json | undefined => {
  const list = rows === undefined || !isTable(answer) ? answer : isTable(answer.properties) ? answer.properties[rows] : undefined;
  return isTable(list) && list.type === 'array' ? list : undefined;
};
