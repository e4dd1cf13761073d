import { createTables } from '@svc/api';
import { AccountRows, BindingRows, ChatRows, ConnectionRows, DeliveryRows, SenderRows } from '../src/contract.js';

/** All tables of this area. */
export const channelTables = createTables('0001_tables', [AccountRows, ConnectionRows, ChatRows, SenderRows, BindingRows, DeliveryRows], {
  replaces: ['0001_init', '0002_links'],
});
