import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

/**
 * People whom an area brought, and what was decided about people of the settings. `role` is what their provider gives them,
 * `set_role` what an owner or admin chose instead; both are null for people of the settings.
 */
export const PeopleRows = defineTable('people', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    name: text,
    email: { kind: 'text' },
    source: text,
    role: { kind: 'text' },
    set_role: { kind: 'text' },
    disabled: { kind: 'boolean', notNull: true },
    created_at: text,
    seen_at: { kind: 'text' },
  },
  owner: 'owner_id',
});
export type PersonRow = RowOf<typeof PeopleRows>;
