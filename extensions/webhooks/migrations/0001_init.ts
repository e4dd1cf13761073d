import { createTables } from '@svc/api';
import { DeliveryRows, EventSubscriptions, Webhooks } from '../src/contract.js';

export const webhookTables = createTables('0001_init', [Webhooks.table, EventSubscriptions.table, DeliveryRows]);
