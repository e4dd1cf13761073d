/** `svc notices`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [{ word: 'notices', summary: 'what your agents told you: list, read, delete', usage: 'notices list|read|delete', order: 38 }];

export const commands: readonly CommandDecl[] = [
  {
    command: 'notices list',
    summary: 'list what your agents told you, newest first',
    operation: 'listNotices',
    output: {
      kind: 'table',
      rows: 'notices',
      empty: 'Your agents have told you nothing.',
      columns: [{ field: 'id' }, { field: 'agent_name', title: 'AGENT' }, { field: 'created_at', title: 'SENT', format: 'ago' }, { field: 'reason' }, { field: 'summary', shrinks: true }],
    },
  },
  { command: 'notices read', summary: 'mark a notice as read', operation: 'readNotice', args: ['id'], output: { kind: 'line', text: 'Marked {notice_id} as read.' } },
  { command: 'notices delete', summary: 'delete a notice', operation: 'deleteNotice', args: ['id'], output: { kind: 'line', text: 'Deleted {notice_id}.' } },
];
