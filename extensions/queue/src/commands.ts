/** `svc tasks` and `svc queue`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  { word: 'tasks', summary: 'what was asked of agents: list, post, cancel, retry', usage: 'tasks list|post|count|cancel|retry', order: 36, synonyms: [{ word: 'jobs', means: 'tasks list' }] },
  { word: 'queue', summary: 'depth, capacity and throughput of the queue', usage: 'queue status', order: 37 },
];

const number = (field: string, title: string) => ({ field, title, format: 'number' }) as const;

export const commands: readonly CommandDecl[] = [
  {
    command: 'queue status',
    summary: 'show active and queued runs by lane',
    operation: 'getQueueStatus',
    output: {
      kind: 'table',
      rows: 'lanes',
      empty: 'There are no lanes.',
      columns: [
        { field: 'lane' },
        number('active', 'ACTIVE'),
        number('waiting', 'WAITING'),
        number('capacity', 'CAPACITY'),
        number('depth', 'QUEUED'),
        number('throughput.completed_last_minute', 'DONE/MIN'),
      ],
    },
  },
];
