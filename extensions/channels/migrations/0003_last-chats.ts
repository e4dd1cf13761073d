import { createTables } from '@svc/api';
import { LastChatRows } from '../src/contract.js';

export const lastChats = createTables('0003_last-chats', [LastChatRows]);
