/** What hands stores: instances, and settings that people chose before they activate. Definitions are files. */
import { defineEvent, defineTable, defineWork, OneOf, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

/** `starting`: its agents are being created. What is shown as `error` is computed from its agents. */
export const STATES = ['starting', 'running', 'paused'] as const;
export type InstanceState = (typeof STATES)[number];

export const InstanceRows = defineTable('instances', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    hand_id: text,
    hand_name: text,
    hand_icon: text,
    /** Empty for the only instance of a person; else the id that the person named. */
    slot: text,
    state: text,
    config: { kind: 'json', notNull: true },
    /** A `RoleAgent` for each role, as JSON. */
    roles: { kind: 'json', notNull: true },
    /** Ids of jobs that a pause disabled: resuming enables these, and no others. */
    held_jobs: { kind: 'json', notNull: true },
    /** 0 until the jobs of its agents are as `state` says. */
    is_synced: { kind: 'integer', notNull: true },
    activated_at: text,
    updated_at: text,
  },
  owner: 'owner_id',
  unique: [['owner_id', 'hand_id', 'slot']],
  indexes: [['owner_id', 'activated_at'], ['hand_id'], ['is_synced', 'state']],
});
export type InstanceRow = RowOf<typeof InstanceRows>;

export const SettingRows = defineTable('settings', '1.0.0', {
  columns: { owner_id: text, hand_id: text, values: { kind: 'json', notNull: true }, updated_at: text },
  primaryKey: ['owner_id', 'hand_id'],
  owner: 'owner_id',
});
export type SettingRow = RowOf<typeof SettingRows>;

/** The missing programs of one hand are installed on this machine, one after another. */
export const DepsInstall = defineWork('hands-install', '1.0.0', { input: Type.Object({ handId: Type.String() }), result: Type.Object({ installed: Type.Integer() }) });

export const HandsChanged = defineEvent(
  'hands.changed',
  '1.0.0',
  Type.Object({ ownerId: Type.Optional(Type.String()), id: Type.String(), change: OneOf(['activated', 'paused', 'resumed', 'deactivated', 'settings', 'definition']) }),
  {
    what: 'hands',
    permission: 'hands.read',
    owner: 'ownerId',
    id: 'id',
    state: 'change',
  },
);
