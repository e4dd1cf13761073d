/** Lists over HTTP that come in pages, as `ctx.db.page` gives them. */
import { Nullable, type TSchema, Type } from '../schema/schema.js';

/** The query of such a list; `...query` serves `ctx.db.page` as it is. */
export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Rows of a page' })),
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048, description: '`next` of the page before' })),
});

/** The answer: what `ctx.db.page` resolves with. */
export const pageOf = <S extends TSchema>(row: S) => Type.Object({ rows: Type.Array(row), next: Nullable(Type.String(), { description: '`after` of the next page; null after the last one' }) });
