/** Tables, work and events of media. */
import { defineCapability, defineEvent, defineTable, defineWork, OneOf, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

export const TASK_STATES = ['processing', 'completed', 'failed'] as const;

/** A video on its way, and what became of it. The key is also the id of its run in the journal. */
export const TaskRows = defineTable('tasks', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: { kind: 'text' },
    provider: text,
    model: text,
    prompt: text,
    image_url: { kind: 'text' },
    resolution: { kind: 'text' },
    seconds: { kind: 'integer', notNull: true },
    state: text,
    /** The provider's own name for it. Null until the provider took it. */
    upstream_id: { kind: 'text' },
    /** Of the money that waits for its end. */
    reservation: text,
    price_micros: { kind: 'real', notNull: true },
    polls: { kind: 'integer', notNull: true },
    file_id: { kind: 'text' },
    width: { kind: 'integer' },
    height: { kind: 'integer' },
    error: { kind: 'text' },
    created_at: text,
    ended_at: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['owner_id', 'created_at']],
});
export type TaskRow = RowOf<typeof TaskRows>;

export const MediaTask = defineWork('media', '1.0.0', { input: Type.Object({ taskId: Type.String() }), result: Type.Undefined() });

export const MediaChanged = defineEvent('media.changed', '1.0.0', Type.Object({ id: Type.String(), ownerId: Type.String(), change: OneOf(['made', ...TASK_STATES]) }), {
  what: 'media',
  permission: 'media.read',
  owner: 'ownerId',
  id: 'id',
  state: 'change',
});

export const MediaCreate = defineCapability('media_create', '1.0.0', { description: 'Make images, speech, video and music, and transcribe recordings, at your cost', grant: 'flag' });
