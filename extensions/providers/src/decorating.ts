/** What other areas know of providers, as a hook: providers stands below llm and does not know it. */
import { OneOf, type Plain, Type, defineGather } from '@svc/api';

export const TROUBLES = ['unreachable', 'refused', 'out_of_credit', 'limited', 'overloaded', 'failing'] as const;

const Trouble = Type.Object({
  provider: Type.String(),
  kind: OneOf(TROUBLES),
  model: Type.Optional(Type.String({ description: 'Missing where it concerns all models' })),
  key: Type.Optional(Type.String({ description: 'The name of a key. Empty for the only one; missing where it concerns all keys' })),
  failures: Type.Integer({ description: 'In a row' }),
  until: Type.String({ description: 'When it is tried again (ISO)' }),
});

const Columns = Type.Object({ troubles: Type.Optional(Type.Array(Trouble)) });
export type ProviderColumns = Plain<typeof Columns>;

/** One call is for all providers. A tap that fails says nothing: the list stands all the same. */
export const ProviderColumns = defineGather('provider.columns', '1.0.0', { policy: 'open', budgetMs: 2_000, subject: Type.Object({}), answer: Columns });
