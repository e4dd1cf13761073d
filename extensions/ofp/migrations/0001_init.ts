import { createTables } from '@svc/api';
import { PeerRows } from '../src/contract.js';

export const peerTables = createTables('0001_init', [PeerRows]);
