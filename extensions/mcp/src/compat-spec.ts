/** A plain HTTP service whose operations are offered as tools: what an entry says of it. */
import { OneOf, parsedUrl, type Plain, Type } from '@svc/api';

const closed = { additionalProperties: false };
const MAX_TOOLS = 100;
const PATH = '^/[^\\s?#\\\\]{0,1999}$';

export const CompatTool = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', description: 'Unique in the server' }),
    description: Type.Optional(Type.String({ maxLength: 8_000 })),
    path: Type.String({ pattern: PATH, description: 'Behind base_url; `{name}` stands for the argument of that name' }),
    method: Type.Optional(OneOf(['get', 'post', 'put', 'patch', 'delete'], { default: 'get' })),
    request_mode: Type.Optional(
      OneOf(['json_body', 'query', 'none'], {
        description: 'Where the other arguments go. By default `query` for get and delete, and `json_body` for the others',
      }),
    ),
    response_mode: Type.Optional(OneOf(['json', 'text'], { default: 'text', description: '`json`: an answer that is no JSON is an error' })),
    input_schema: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the arguments, an object' })),
  },
  closed,
);

export const CompatTransport = Type.Object(
  {
    type: Type.Literal('http_compat'),
    base_url: Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://', description: 'http or https; private networks too' }),
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }),
            value: Type.Optional(Type.String({ 'x-secret': true, maxLength: 10_000, pattern: '^[^\\r\\n]*$', description: 'Stored in the vault; left out, the stored value stays' })),
            value_env: Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description: 'The stored value or variable of the daemon that holds it' })),
          },
          closed,
        ),
        { maxItems: 50 },
      ),
    ),
    tools: Type.Array(CompatTool, { minItems: 1, maxItems: MAX_TOOLS }),
  },
  closed,
);
export type CompatTransport = Plain<typeof CompatTransport>;
export type CompatTool = CompatTransport['tools'][number];

/** What is wrong with it; undefined for one that can be used. */
export const faultOfCompat = ({ base_url, headers = [], tools }: CompatTransport): string | undefined => {
  const url = parsedUrl(base_url);
  if (url && (url.search !== '' || url.hash !== '')) return '"base_url" has a query or a fragment; put them into the arguments of its tools';
  const names = new Set<string>();
  for (const { name, path, input_schema: schema } of tools) {
    if (names.has(name)) return `two of its tools are named ${name}`;
    names.add(name);
    if (path.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))) return `the path of ${name} leads out of base_url`;
    if (schema && schema.type !== undefined && schema.type !== 'object') return `the input_schema of ${name} is not one of an object`;
  }
  const both = headers.find((header) => header.value !== undefined && header.value_env !== undefined);
  return both && `the header ${both.name} has both "value" and "value_env"`;
};
