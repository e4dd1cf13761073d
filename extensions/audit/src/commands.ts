/** `svc audit`: the list is data; what works without the daemon is in cli/audit.ts. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'audit',
    summary: 'who did what: list, verify, export',
    usage: 'audit recent|verify|export',
    order: 38,
    module: 'audit',
    synonyms: [
      { word: 'security verify', means: 'audit verify', runs: true, takesArguments: true },
      { word: 'security audit', means: 'audit recent', runs: true, takesArguments: true },
      { word: 'security audit-reset', means: 'audit verify' },
      { word: 'audit list', means: 'audit recent', runs: true, takesArguments: true },
    ],
  },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'audit recent',
    summary: 'List the newest entries',
    operation: 'listAuditEntries',
    output: {
      kind: 'table',
      rows: 'entries',
      columns: [
        { field: 'id', title: 'ENTRY' },
        { field: 'timestamp', title: 'WHEN', format: 'ago' },
        { field: 'summary', title: 'WHAT', shrinks: true },
        { field: 'event_type', title: 'EVENT', givesWay: true },
        { field: 'agent_id', title: 'AGENT', givesWay: true },
      ],
      empty: 'There are no entries.',
    },
  },
];
