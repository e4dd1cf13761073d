import { createTables } from '@svc/api';
import { BoardRows } from '../src/board/board-rows.js';

export const boardTables = createTables('0001_board', [BoardRows]);
