import { createTables } from '@svc/api';
import { FireDeliveryRows, JobOriginRows } from '../src/contract.js';

export const fireDeliveries = createTables('0002_fire-deliveries', [FireDeliveryRows, JobOriginRows]);
