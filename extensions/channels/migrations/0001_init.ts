import { createTables } from '@svc/api';
import { LINK_COLUMNS } from './0002_links.js';
import { AccountRows, BindingRows, ChatRows, ConnectionRows, DeliveryRows, SenderRows } from '../src/contract.js';

export const channelTables = createTables('0001_init', [AccountRows, ConnectionRows, ChatRows, SenderRows, BindingRows, DeliveryRows], { later: LINK_COLUMNS });
