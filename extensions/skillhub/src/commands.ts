/** Commands beside those of the resource. */
import type { CommandDecl } from '@svc/api';

const columns = [{ field: 'slug' }, { field: 'version' }, { field: 'downloads', format: 'number' }, { field: 'description', shrinks: true }] as const;

export const commands: readonly CommandDecl[] = [
  {
    command: 'skillhub find',
    summary: 'search the local registry and the hub together',
    operation: 'searchMarketplace',
    args: ['q'],
    output: { kind: 'table', rows: 'results', empty: 'Nothing was found.', columns: [{ field: 'name' }, { field: 'from' }, { field: 'version' }, { field: 'description', shrinks: true }] },
  },
  {
    command: 'skillhub mirror',
    summary: 'browse the mirror of the hub',
    operation: 'browseMirror',
    output: { kind: 'table', rows: 'items', empty: 'The mirror has nothing to show.', columns: [...columns] },
  },
  {
    command: 'skillhub mirror-search',
    summary: 'search the mirror of the hub',
    operation: 'searchMirror',
    args: ['q'],
    output: { kind: 'table', rows: 'items', empty: 'The mirror has no such skill.', columns: [...columns] },
  },
];
