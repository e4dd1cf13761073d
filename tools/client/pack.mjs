/** dist/client: @svc/client as it is packed, for whoever tries it beside this checkout. */
import { inRoot } from '../build/paths.mjs';
import { fill } from '../pack/packages.mjs';

export const packClient = async () => {
  await fill('client', inRoot('dist/client'));
  return 'dist/client';
};
