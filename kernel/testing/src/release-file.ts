/** Where the built daemon is that tests boot. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** dist/release.json, seen from wherever in dist/test the bundle of the test stands; where this package was installed, the one of @svc/cli beside it. */
export function releaseFile(): string {
  const here = fileURLToPath(import.meta.url);
  if (here.includes('/node_modules/@svc/testing/')) return createRequire(here).resolve('@svc/cli/dist/release.json');
  const dist = here.slice(0, here.lastIndexOf('/dist/') + '/dist/'.length);
  return join(dist, 'release.json');
}
