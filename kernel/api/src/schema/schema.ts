/**
 * The shapes that many areas share. One TypeBox value is the validator, the static type and the OpenAPI schema.
 * The option `x-name` (CamelCase) lists a schema in the document under that name, and gives a type of that name to clients
 * that are made from it.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { documented, REQUEST_KEY } from './text-forms.js';

export type { Static, TObject, TSchema } from '@sinclair/typebox';
export { Type };

export const Uuid = Type.String({ format: 'uuid', description: 'A UUID' });

/** A UUID in a path or query that the handler validates itself, because a bad one has an error of its own. Documented like `Uuid`. */
export const UuidText = (description: string) => Type.String({ ...documented({ format: 'uuid' }), description });

/** The header of routes under which a request that is sent again has its effect once: for `headers` of a route that keeps the key itself. */
export const IdempotencyKey = {
  'Idempotency-Key': Type.Optional(
    Type.String({
      ...REQUEST_KEY.schema,
      description: 'Chosen by the caller. The same key with the same request has one effect and gets the same answer; with another request it is refused with 409',
    }),
  ),
};

/** Null where nothing here can fill it. */
export const Nullable = <T extends TSchema>(schema: T, options: { description?: string } = {}) => Type.Union([schema, Type.Null()], options);

/** The body of every error answer, whatever its status. `error` is always a string. */
export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What happened and what to do' }),
    code: Type.String({ description: 'The identity of the error, lower snake case, never renamed' }),
    hint: Type.Optional(Type.String()),
    request_id: Type.Optional(Type.String()),
    details: Type.Optional(Type.Unknown()),
    available: Type.Optional(Type.Array(Type.String(), { description: '406: the API versions that there are' })),
  },
  { 'x-name': 'ErrorBody' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** A closed set of strings, as JSON Schema `enum`. */
export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) => Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

export type Infer<S extends TSchema | undefined> = S extends TSchema ? Static<S> : unknown;
