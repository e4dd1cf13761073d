import { defineErrors } from '@svc/api';

export const ofpErrors = defineErrors('ofp', {
  peer_not_found: { status: 404, retry: false, message: (id: string) => `There is no peer ${id}.`, hint: 'GET /api/peers lists the daemons that were met.' },
});
