import { createTables } from '@svc/api';
import { FireDeliveryRows } from '../src/contract.js';

export const fireDeliveries = createTables('0002_fire-deliveries', [FireDeliveryRows]);
