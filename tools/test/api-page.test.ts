/** The page of the API is what its types are. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as api from '@svc/api';
import { expect } from 'chai';
import { inRoot } from '../build/paths.mjs';

describe('the page of the API', function () {
  this.timeout(60_000);

  it('is up to date', () => {
    const { status, stderr } = spawnSync(process.execPath, [inRoot('tools/api-page.mjs'), '--check'], { encoding: 'utf8' });
    expect(status, `kernel/api/REFERENCE.md is stale: run \`node tools/api-page.mjs\` and commit what it writes\n${stderr}`).to.equal(0);
  });

  it('names all that can be imported at run time, and nothing of this machine', () => {
    const page = readFileSync(inRoot('kernel/api/REFERENCE.md'), 'utf8');
    expect(Object.keys(api).filter((name) => !page.includes(`### ${name}\n`) && !page.includes(`\`${name}\``))).to.deep.equal([]);
    expect(page).to.not.contain(inRoot()).and.not.contain('import("');
  });
});
