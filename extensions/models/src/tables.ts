/** The tables of models: settings of the installation, nobody's in particular. */
import { defineTable } from '@svc/api';

/** Names that people gave to models. `alias` is in lower case. */
export const Aliases = defineTable('aliases', '1.0.0', {
  columns: { alias: { kind: 'text', primaryKey: true }, model_id: { kind: 'text', notNull: true }, created_at: { kind: 'text', notNull: true } },
});

/** Models that people registered. `id_key` is the id in lower case: case tells no two models apart. */
export const CustomModels = defineTable('custom_models', '1.0.0', {
  columns: {
    provider: { kind: 'text', notNull: true },
    id_key: { kind: 'text', notNull: true },
    model: { kind: 'json', notNull: true },
    created_at: { kind: 'text', notNull: true },
  },
  primaryKey: ['provider', 'id_key'],
});

/** What each model server on this machine listed last: one row per provider. */
export const LocalLists = defineTable('local_lists', '1.0.0', {
  columns: { provider: { kind: 'text', primaryKey: true }, models: { kind: 'json', notNull: true }, seen_at: { kind: 'text', notNull: true } },
});

/** One row, whose number grows with each change of the others: whoever changes them has seen what stands. */
export const Revisions = defineTable('revisions', '1.0.0', {
  columns: { name: { kind: 'text', primaryKey: true }, revision: { kind: 'integer', notNull: true } },
});
