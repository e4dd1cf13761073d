/** What other areas know of models, as a hook: models stands below providers and llm and knows neither. */
import { Nullable, type Plain, Type, defineGather } from '@svc/api';

const Columns = Type.Object({
  providers: Type.Optional(Type.Array(Type.Object({ name: Type.String(), isUsable: Type.Boolean({ description: 'It can be asked now' }) }), { description: 'All that there are' })),
  canThink: Type.Optional(Type.Array(Nullable(Type.Boolean()), { description: 'In the order of the models; null where nobody knows' })),
});
export type ModelColumns = Plain<typeof Columns>;

/** One call is for a whole list. A column that nobody answers is unknown; a tap that fails fails the call. */
export const ModelColumns = defineGather('model.columns', '1.0.0', {
  policy: 'closed',
  budgetMs: 10_000,
  subject: Type.Object({ models: Type.Array(Type.Object({ id: Type.String(), provider: Type.String() })) }),
  answer: Columns,
});
