/** The tables of providers: settings of the installation, nobody's in particular. */
import { defineTable } from '@svc/api';

export const Settings = defineTable('settings', '1.0.0', {
  columns: { name: { kind: 'text', primaryKey: true }, base_url: { kind: 'text', notNull: true }, updated_at: { kind: 'text', notNull: true }, proxy_url: { kind: 'text' } },
});

/** Who answers for `default`: one row, by the name it answers for. */
export const Defaults = defineTable('defaults', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    provider: { kind: 'text', notNull: true },
    model: { kind: 'text', notNull: true },
    reason: { kind: 'text', notNull: true },
    chosen_by: { kind: 'text', notNull: true },
    chosen_at: { kind: 'text', notNull: true },
  },
});

/** What became of a provider's key: whether a person took it away, and what the provider said of the one that is kept. */
export const KeyStates = defineTable('key_states', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    suppressed: { kind: 'integer', notNull: true, default: 0 },
    verdict: { kind: 'text' },
    changed_at: { kind: 'text', notNull: true },
  },
});
