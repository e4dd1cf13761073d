/** What VERSIONS.md promises. */
import { readFileSync } from 'node:fs';
import { API_VERSION, DEPRECATIONS, inNewestForm, MANIFEST_VERSION, Manifest } from '@svc/api/internal';
import { releaseFile } from '@svc/testing';
import { expect } from 'chai';
import gt from 'semver/functions/gt.js';
import { join } from 'node:path';

const ROOT = join(releaseFile(), '..', '..');
const versionOf = (name: string): string => JSON.parse(readFileSync(join(ROOT, 'kernel', name, 'package.json'), 'utf8')).version;

describe('versions', () => {
  it('are one for all packages that are published together', () => {
    expect(['api', 'client', 'cli', 'testing'].map(versionOf)).to.deep.equal(Array(4).fill(API_VERSION));
  });

  it('of the manifest are those that its schema takes', () => {
    expect(Manifest.properties.manifest.const).to.equal(MANIFEST_VERSION);
  });

  it('that remove something come after the one that says so, and it is gone by then', () => {
    for (const { what, since, removedIn, instead } of DEPRECATIONS) {
      expect(gt(removedIn, since), what).to.equal(true);
      expect(gt(removedIn, API_VERSION), `${what} was to be gone in ${removedIn}`).to.equal(true);
      expect(instead, what).to.match(/\.$/);
    }
  });
});

describe('a manifest', () => {
  /** A build whose newest form is 3, and that knows the way from 2. */
  const read = (value: unknown): unknown => inNewestForm(value, { 2: ({ needs, ...rest }) => ({ ...rest, requires: needs }) }, 3);

  it('of the form before is read as if it were written in the newest', () => {
    expect(read({ manifest: 2, id: 'acme-old', needs: { runs: '^1' } })).to.deep.equal({ manifest: 3, id: 'acme-old', requires: { runs: '^1' } });
  });

  it('of the newest form stays as it is; of any other it is left for the schema to refuse, and so is what is none', () => {
    for (const value of [{ manifest: 3, needs: 1 }, { manifest: 1, needs: 1 }, { manifest: 4 }, { manifest: '2' }, [], 'text', null]) expect(read(value)).to.equal(value);
  });

  it('may still name the fields that nothing reads, and is taken without them', () => {
    expect(DEPRECATIONS.map(({ what }) => what)).to.include('"cli" in extension.json');
    expect(inNewestForm({ manifest: 1, id: 'acme-old', cli: [{ command: 'old', summary: 'old', entry: 'old.js' }], doctor: ['Old'], security: ['old'] })).to.deep.equal({
      manifest: 1,
      id: 'acme-old',
    });
  });

  it('has one form so far: nothing is made of another', () => {
    const older = { manifest: MANIFEST_VERSION - 1, id: 'acme-old' };
    expect(inNewestForm(older)).to.equal(older);
  });
});
