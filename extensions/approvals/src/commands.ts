/** The commands of approvals that are data; `show`, `approve`, `totp` and the bare word are in cli/. */
import type { CommandDecl } from '@svc/api';

export const commands: readonly CommandDecl[] = [
  {
    command: 'approvals audit',
    summary: 'list decisions',
    operation: 'listApprovalDecisions',
    output: {
      kind: 'table',
      rows: 'items',
      empty: 'Nothing has been decided yet.',
      columns: [{ field: 'decided_at', title: 'WHEN', format: 'ago' }, { field: 'decision' }, { field: 'decided_by', title: 'BY' }, { field: 'action_summary', title: 'CALL', shrinks: true }],
    },
  },
  {
    command: 'approvals grants',
    summary: 'list remembered approvals',
    operation: 'listApprovalGrants',
    output: {
      kind: 'table',
      rows: 'grants',
      empty: 'No approval is remembered.',
      columns: [
        { field: 'id' },
        { field: 'agent_name', title: 'AGENT' },
        { field: 'tool_name', title: 'TOOL' },
        { field: 'covers', shrinks: true },
        { field: 'expires_at', title: 'UNTIL', givesWay: true },
      ],
    },
  },
  {
    command: 'approvals forget',
    summary: 'forget a remembered approval',
    operation: 'deleteApprovalGrant',
    args: ['id'],
    output: { kind: 'line', text: 'Forgot {id}. Later calls wait for you again.' },
  },
];
