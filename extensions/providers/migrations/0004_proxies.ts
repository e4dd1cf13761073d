import type { Migration } from '@svc/api';
import { Settings } from '../src/tables.js';

export const proxies: Migration = { name: '0004_proxies', up: (m) => m.addColumn(Settings.name, 'proxy_url', Settings.columns.proxy_url) };
