import { createTables } from '@svc/api';
import { DeliveryRows, EventSubscriptions, HookCalls, SecretRotations, Webhooks } from '../src/contract.js';

/** All tables of this area. */
export const webhookTables = createTables('0001_tables', [Webhooks.table, EventSubscriptions.table, DeliveryRows, HookCalls, SecretRotations], {
  replaces: ['0001_init', '0002_calls', '0003_rotations'],
});
