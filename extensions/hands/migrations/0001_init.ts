import { createTables } from '@svc/api';
import { InstanceRows, SettingRows } from '../src/tables.js';

export const handTables = createTables('0001_init', [InstanceRows, SettingRows]);
