/** What the page reads of the daemon's OpenAPI document. All of it may be missing: areas from elsewhere are in it too. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface RawContent {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value?: unknown }>>;
}

interface RawAnswer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, RawContent>>;
}

interface RawParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: Schema;
}

interface RawOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly RawParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Readonly<Record<string, RawContent>> };
  readonly responses?: Readonly<Record<string, RawAnswer>>;
}

export interface RawDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly description?: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>>; readonly responses?: Readonly<Record<string, RawAnswer>> };
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isNeeded: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Body {
  readonly contentType: string;
  readonly schema: Schema;
  readonly isNeeded: boolean;
  readonly examples: ReadonlyArray<{ readonly title: string; readonly value: unknown }>;
}

export interface Answer {
  readonly status: string;
  readonly description: string;
  readonly contentType?: string;
  readonly schema?: Schema;
}

export interface Operation {
  readonly id: string;
  readonly area: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
  readonly answers: readonly Answer[];
  readonly errors: readonly Answer[];
}

export interface Area {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Api {
  readonly version: string;
  readonly areas: readonly Area[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

export const readApi = (document: RawDocument): Api => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, raw]) => operationOf(document, path, method, raw)),
  );
  const described = new Map((document.tags ?? []).map(({ name, description = '' }) => [name, description]));
  const names = [...new Set([...described.keys(), ...operations.map(({ area }) => area)])];
  const areas = names.map((name) => ({ name, description: described.get(name) ?? '', operations: operations.filter(({ area }) => area === name) }));
  return { version: document.info.version, areas: areas.filter((area) => area.operations.length > 0), schemas: document.components?.schemas ?? {} };
};

const operationOf = (document: RawDocument, path: string, method: string, raw: RawOperation): Operation => {
  const answers = Object.entries(raw.responses ?? {}).map(([status, answer]) => answerOf(document, status, answer));
  const body = bodyOf(raw.requestBody);
  return {
    id: raw.operationId ?? `${method} ${path}`,
    area: raw.tags?.[0] ?? '',
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? path,
    description: raw.description ?? '',
    needsKey: (raw.security ?? []).length > 0,
    parameters: (raw.parameters ?? []).map(parameterOf),
    ...(body ? { body } : {}),
    answers: answers.filter(({ status }) => !isError(status)),
    errors: answers.filter(({ status }) => isError(status)),
  };
};

const isError = (status: string): boolean => /^[45]/.test(status);

const parameterOf = ({ name, in: place, required = false, description = '', example, schema = {} }: RawParameter): Parameter => ({
  name,
  in: place,
  isNeeded: required,
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

const bodyOf = (raw: RawOperation['requestBody']): Body | undefined => {
  const [contentType, content] = Object.entries(raw?.content ?? {})[0] ?? [];
  if (contentType === undefined || content === undefined) return undefined;
  const examples = Object.entries(content.examples ?? {}).map(([name, { summary = name, value }]) => ({ title: summary, value }));
  return { contentType, schema: content.schema ?? {}, isNeeded: raw?.required === true, examples };
};

const answerOf = ({ components }: RawDocument, status: string, raw: RawAnswer): Answer => {
  const answer = raw.$ref === undefined ? raw : (components?.responses?.[nameOf(raw.$ref)] ?? raw);
  const [contentType, content] = Object.entries(answer.content ?? {})[0] ?? [];
  return { status, description: answer.description ?? '', ...(contentType === undefined ? {} : { contentType }), ...(content?.schema ? { schema: content.schema } : {}) };
};

/** `#/components/schemas/Agent` is `Agent`. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** What a reference leads to; itself where there is none. */
export const resolved = (schema: Schema, schemas: Api['schemas']): Schema => (schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {}));

export const isStream = ({ answers }: Operation): boolean =>
  answers.some(({ contentType }) => contentType === 'text/event-stream') && answers.every(({ contentType }) => contentType !== 'application/json');
export const isSocket = ({ answers }: Operation): boolean => answers.some(({ status }) => status === '101');

/** As the answer to what somebody typed: every word is in the operation's names or summary. */
export const found = (api: Api, typed: string): readonly Area[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return api.areas;
  const fits = ({ id, area, method, path, summary }: Operation): boolean => {
    const text = `${area} ${id} ${method} ${path} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return api.areas.map((area) => ({ ...area, operations: area.operations.filter(fits) })).filter(({ operations }) => operations.length > 0);
};
