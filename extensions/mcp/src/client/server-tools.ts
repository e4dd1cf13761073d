/** What a server says of its tools, as svc stores it; what cannot be used is left out and named. */
import type { Tool } from '@modelcontextprotocol/client';
import type { Schemas } from '@svc/api';

const MAX_TOOLS = 500;
const MAX_NAME_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 8_000;
const MAX_SCHEMA_CHARS = 100_000;

export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: unknown;
  /** One of svc for a server that has resources; none of the server's own. */
  readonly serves?: 'resources/list' | 'resources/read';
}

export interface FoundTools {
  readonly tools: readonly ServerTool[];
  readonly warnings: readonly string[];
}

export const usableTools = async (schemas: Pick<Schemas, 'check'>, found: readonly Tool[]): Promise<FoundTools> => {
  const tools: ServerTool[] = [];
  const warnings: string[] = [];
  const names = new Set<string>();
  if (found.length > MAX_TOOLS) warnings.push(`The server has ${found.length} tools; the first ${MAX_TOOLS} are used.`);
  for (const { name, title, description, inputSchema } of found.slice(0, MAX_TOOLS)) {
    const fault = names.has(name) ? 'another tool has the same name' : (nameFault(name) ?? (await schemaFault(schemas, inputSchema)));
    if (fault === undefined) {
      names.add(name);
      tools.push({ name, description: (description ?? title ?? '').slice(0, MAX_DESCRIPTION_CHARS), input_schema: inputSchema });
    } else warnings.push(`The tool ${JSON.stringify(String(name).slice(0, 60))} was left out: ${fault}.`);
  }
  if (found.length === 0) warnings.push('The server has no tools.');
  return { tools, warnings };
};

const nameFault = (name: unknown): string | undefined => {
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (name.length > MAX_NAME_CHARS) return `its name has more than ${MAX_NAME_CHARS} characters`;
  return /\p{Cc}|\p{Cf}/u.test(name) ? 'its name contains control characters' : undefined;
};

const schemaFault = async (schemas: Pick<Schemas, 'check'>, schema: unknown): Promise<string | undefined> => {
  if (typeof schema !== 'object' || schema === null || (schema as { type?: unknown }).type !== 'object') return 'the schema of its arguments is not one of an object';
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return `the schema of its arguments has more than ${MAX_SCHEMA_CHARS} characters`;
  try {
    await schemas.check(schema as Parameters<Schemas['check']>[0], {}, 'arguments');
    return undefined;
  } catch (error) {
    return `the schema of its arguments cannot be used (${(error instanceof Error ? error.message : String(error)).slice(0, 200)})`;
  }
};
