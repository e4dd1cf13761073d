/** The tools that a client brings, and what it asks of their use. What cannot be held is refused by name. */
import { isTable } from '@svc/api';
import type { LeftOut } from '@svc/ext-llm/contract';
import type { ClientTools } from '@svc/ext-runs/contract';
import { CHOICE_HINT, compatErrors } from '../errors.js';
import { NAME } from './chat-request.js';

const MAX_TOOLS = 128;
const MAX_SCHEMA_CHARS = 65_536;
const MAX_ALL_CHARS = 524_288;
const MAX_DESCRIPTION_CHARS = 10_000;
const MAX_SCHEMA_DEPTH = 32;
const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
const NO_PARAMETERS = { type: 'object', properties: {} };

export interface BroughtTools {
  readonly tools?: readonly unknown[] | null | undefined;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | null | undefined;
}

type Tool = ClientTools['tools'][number];

/** Undefined where there are none. Throws `bad_tool`, `bad_tool_choice` and `unsupported_value`. Both forms are read: with the function in a field of its own, and flat as /v1/responses has it. */
export function clientToolsOf({ tools: brought, tool_choice: choice, parallel_tool_calls: parallel }: BroughtTools): ClientTools | undefined {
  if (brought && brought.length > MAX_TOOLS) throw compatErrors.unsupported_value(`There are ${brought.length} tools; at most ${MAX_TOOLS} are accepted.`);
  const tools = (brought ?? []).flatMap((tool, index) => (isUnknownKind(tool) ? [] : [toolOf(tool, index)]));
  const chars = JSON.stringify(tools).length;
  if (chars > MAX_ALL_CHARS) throw compatErrors.unsupported_value(`The tools have ${chars} characters as JSON; at most ${MAX_ALL_CHARS} are accepted.`);
  const twice = tools.find(({ name }, index) => tools.findIndex((tool) => tool.name === name) < index);
  if (twice) throw compatErrors.bad_tool(twice.name, 'its name is used twice');
  const chosen = isOfNoTool(choice, brought ?? [], tools) ? undefined : choiceOf(choice, tools);
  if (tools.length === 0) return undefined;
  return { tools, ...(chosen === undefined ? {} : { choice: chosen }), ...(typeof parallel === 'boolean' ? { parallel } : {}) };
}

function toolOf(tool: unknown, index: number): Tool {
  const place = `number ${index + 1}`;
  if (!isTable(tool)) throw compatErrors.bad_tool(place, 'it is not an object');
  if (typeof tool.type !== 'string') throw compatErrors.bad_tool(place, `its type is ${JSON.stringify(tool.type)?.slice(0, 60) ?? 'missing'}, which is not text`);
  const { name, description, parameters, strict } = tool.type === 'custom' ? customOf(tool) : isTable(tool.function) ? tool.function : tool;
  if (typeof name !== 'string' || !NAME.test(name)) throw compatErrors.bad_tool(place, 'its name must have 1 to 64 letters, digits, _ or -');
  if (description !== undefined && description !== null && typeof description !== 'string') throw compatErrors.bad_tool(name, 'its description is not text');
  if (typeof description === 'string' && description.length > MAX_DESCRIPTION_CHARS) throw compatErrors.bad_tool(name, `its description has more than ${MAX_DESCRIPTION_CHARS} characters`);
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean') throw compatErrors.bad_tool(name, 'strict must be true or false');
  return { name, description: description ?? '', parameters: schemaOf(name, parameters), ...(typeof strict === 'boolean' ? { strict } : {}) };
}

/** Names of the tools that take one text, which is told as it is and not as JSON. */
export const customNamesOf = ({ tools }: BroughtTools): string[] =>
  (tools ?? []).filter(isTable).flatMap((tool) => {
    const { name } = customOf(tool);
    return tool.type === 'custom' && typeof name === 'string' ? [name] : [];
  });

/** A tool of one text is a function of one argument. Its grammar is told in words: no provider's functions take one. */
function customOf(tool: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { name, description, format } = isTable(tool.custom) ? tool.custom : tool;
  const grammar = isTable(format) ? (isTable(format.grammar) ? format.grammar : format) : {};
  const said = typeof description === 'string' ? description : '';
  const rule = typeof grammar.definition === 'string' ? `\n\ninput follows this grammar (${String(grammar.syntax ?? 'lark').slice(0, 20)}):\n${grammar.definition}` : '';
  const words = said.length + rule.length > MAX_DESCRIPTION_CHARS ? said : said + rule;
  return { name, description: words, parameters: { type: 'object', properties: { input: { type: 'string', description: 'The whole input, as plain text' } }, required: ['input'] } };
}

/** Kinds that only their provider runs (web_search, mcp, namespace …). Programs send them whether anybody runs them or not. */
const isUnknownKind = (tool: unknown): tool is Readonly<Record<string, unknown>> => isTable(tool) && typeof tool.type === 'string' && tool.type !== 'function' && tool.type !== 'custom';

/** What of the tools the model is asked without. */
export function toolsLeftOut({ tools, tool_choice: choice }: BroughtTools): LeftOut[] {
  const unrun = (tools ?? []).filter(isUnknownKind);
  const names = [...new Set(unrun.map(({ type, name }) => (typeof name === 'string' ? `${String(type)} ${name}` : String(type)).slice(0, 80)))];
  const left = names.map((name) => ({ parameter: `the tool ${name}`, why: 'svc runs no tools of this type' }));
  return isOfNoTool(
    choice,
    tools ?? [],
    (tools ?? []).filter((tool) => !isUnknownKind(tool)),
  )
    ? [...left, { parameter: 'tool_choice', why: 'it asks for a tool that was left out' }]
    : left;
}

/** Whether the choice demands a tool of a kind that is left out. */
function isOfNoTool(choice: unknown, brought: readonly unknown[], kept: readonly unknown[]): boolean {
  const word = isTable(choice) ? choice.type : choice;
  if (word === 'required') return kept.length === 0 && brought.length > 0;
  return isTable(choice) && brought.some((tool) => isUnknownKind(tool) && tool.type === word);
}

function schemaOf(name: string, parameters: unknown): object {
  if (parameters === undefined || parameters === null) return NO_PARAMETERS;
  if (!isTable(parameters)) throw compatErrors.bad_tool(name, 'its parameters are not a JSON Schema');
  if (JSON.stringify(parameters).length > MAX_SCHEMA_CHARS) throw compatErrors.bad_tool(name, `its parameters have more than ${MAX_SCHEMA_CHARS} characters as JSON`);
  if (parameters.type !== undefined && parameters.type !== 'object') throw compatErrors.bad_tool(name, 'its parameters must be of type object');
  checkSchema(name, parameters, 'parameters', 0);
  return { ...parameters, type: 'object', properties: parameters.properties ?? {} };
}

/** What providers refuse with words that name no tool. Keywords that nobody here knows are handed on. */
function checkSchema(name: string, schema: unknown, path: string, depth: number): void {
  if (typeof schema === 'boolean') return;
  if (!isTable(schema)) throw compatErrors.bad_tool(name, `${path} is not a JSON Schema`);
  if (depth > MAX_SCHEMA_DEPTH) throw compatErrors.bad_tool(name, `its parameters are nested more than ${MAX_SCHEMA_DEPTH} deep`);
  const { type, properties, required, items, enum: values } = schema;
  for (const one of Array.isArray(type) ? type : type === undefined ? [] : [type]) if (!TYPES.has(one)) throw compatErrors.bad_tool(name, `${path}.type is not a type of JSON Schema`);
  if (required !== undefined && !(Array.isArray(required) && required.every((one) => typeof one === 'string'))) throw compatErrors.bad_tool(name, `${path}.required is not a list of names`);
  if (values !== undefined && !Array.isArray(values)) throw compatErrors.bad_tool(name, `${path}.enum is not a list`);
  if (properties !== undefined && !isTable(properties)) throw compatErrors.bad_tool(name, `${path}.properties is not an object`);
  for (const [key, value] of Object.entries(properties ?? {})) checkSchema(name, value, `${path}.properties.${key.slice(0, 60)}`, depth + 1);
  if (items !== undefined && !Array.isArray(items)) checkSchema(name, items, `${path}.items`, depth + 1);
  for (const word of ['anyOf', 'oneOf', 'allOf'] as const) {
    const parts = schema[word];
    if (parts !== undefined && !Array.isArray(parts)) throw compatErrors.bad_tool(name, `${path}.${word} is not a list`);
    for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) checkSchema(name, part, `${path}.${word}.${index}`, depth + 1);
  }
}

/** `auto` is what a model does by itself. */
function choiceOf(choice: unknown, tools: readonly Tool[]): ClientTools['choice'] {
  const word = isTable(choice) && (choice.type === 'auto' || choice.type === 'none' || choice.type === 'required') ? choice.type : choice;
  if (word === undefined || word === null || word === 'auto') return undefined;
  if (word === 'none') return 'none';
  if (word === 'required') {
    if (tools.length === 0) throw compatErrors.bad_tool_choice('"required" needs tools');
    return 'required';
  }
  if (!isTable(word) || (word.type !== 'function' && word.type !== 'custom'))
    throw compatErrors.unsupported_value(`tool_choice ${JSON.stringify(choice)?.slice(0, 80)} is not supported. ${CHOICE_HINT}`);
  const named = isTable(word.function) ? word.function.name : isTable(word.custom) ? word.custom.name : word.name;
  if (typeof named !== 'string') throw compatErrors.bad_tool_choice('it names no function');
  if (!tools.some(({ name }) => name === named)) throw compatErrors.bad_tool_choice(`"${named.slice(0, 64)}" is not among the tools`);
  return { name: named };
}
