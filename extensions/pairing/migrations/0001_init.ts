import { createTables } from '@svc/api';
import { CodeRows, DeviceRows } from '../src/contract.js';

export const pairingTables = createTables('0001_init', [DeviceRows, CodeRows]);
