/** `svc cluster`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  { word: 'cluster', summary: 'the daemons on one database', usage: 'cluster list|show', order: 39, synonyms: [{ word: 'replicas', means: 'cluster list', runs: true }] },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'cluster list',
    summary: 'list the daemons on this database and what each does',
    operation: 'getCluster',
    output: {
      kind: 'table',
      rows: 'daemons',
      empty: 'No daemon has been seen yet.',
      columns: [
        { field: 'name' },
        { field: 'state' },
        { field: 'does', shrinks: true },
        { field: 'started_at', title: 'STARTED', format: 'ago' },
        { field: 'address', givesWay: true },
        { field: 'version', givesWay: true },
      ],
    },
  },
  {
    command: 'cluster show',
    summary: 'show how the daemons are connected and how far behind they are',
    operation: 'getCluster',
    output: { kind: 'record', fields: ['summary', 'connection', 'disconnected_secs', 'waiting_runs', 'oldest_waiting_since', 'undelivered_events'] },
  },
];
