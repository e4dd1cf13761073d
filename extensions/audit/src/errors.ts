import { defineErrors } from '@svc/api';

export const auditErrors = defineErrors('audit', {
  entry_not_found: { status: 404, retry: false, message: (id: number) => `The audit trail has no entry ${id}.`, hint: 'GET /api/audit/recent lists the newest.' },
  no_checkpoint: { status: 404, retry: true, message: () => 'No checkpoint has been signed yet.', hint: 'One is signed every few minutes while there are new entries, and when the daemon stops.' },
  tile_not_found: {
    status: 404,
    retry: false,
    message: (path: string) => `The log has no tile ${path}.`,
    hint: 'GET /api/audit/log/checkpoint says how many entries there are. A tile that is not full yet is named with .p/ and its width.',
  },
  bad_size: {
    status: 404,
    retry: false,
    message: (from: number, to: number) => `There is no proof from ${from} to ${to} entries.`,
    hint: 'Give sizes from 1 up to the number of entries, the smaller one first.',
  },
});
