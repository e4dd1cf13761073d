/** What checkpoints tell others. */
import { type Plain, Type, defineEvent } from '@svc/api';
export { CheckpointsSection } from './config.js';

/** A checkpoint was taken or restored. */
export const CheckpointsChanged = defineEvent('checkpoints.changed', '1.0.0', Type.Object({ agentId: Type.String(), ownerId: Type.String(), restored: Type.Boolean() }), {
  what: 'checkpoints',
  permission: 'checkpoints.read',
  owner: 'ownerId',
  agent: 'agentId',
});
export type CheckpointsChanged = Plain<(typeof CheckpointsChanged)['data']>;
