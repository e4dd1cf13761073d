/** A package says to a person what it says to the daemon. */
import { expect } from 'chai';
import { isolationFor } from '../../src/install/validate-package.js';
import { hiddenCharacterFault } from '../../src/package/hidden-characters.js';
import { readPackage } from '../../src/package/read-package.js';
import { packageFiles, tempFolder, writeFiles } from '../package-rig.js';

describe('hidden characters', () => {
  it('are found in texts and names of members, by their place', () => {
    for (const [mark, code] of [
      ['\u202e', 'U+202E'],
      ['\u2066', 'U+2066'],
      ['\u200b', 'U+200B'],
      ['\u00ad', 'U+00AD'],
      ['\ufeff', 'U+FEFF'],
      ['\u001b', 'U+001B'],
      ['\u2028', 'U+2028'],
      ['\u{e0041}', 'U+E0041'],
    ])
      expect(hiddenCharacterFault({ grants: [{ why: `reads ${mark}weather` }] }), code).to.equal(`/grants/0/why has the hidden character ${code}`);
    expect(hiddenCharacterFault({ 'na\u202eme': 1 })).to.contain('U+202E');
    expect(hiddenCharacterFault({ why: 'Wetter für Zürich, 天气, می‌خواهم, עברית, 👩‍👩‍👧\n\tand more' })).to.equal(undefined);
  });

  it('refuse a package that has one in what a person is shown', async () => {
    const { dir, done } = await tempFolder();
    try {
      await writeFiles(dir, packageFiles({ manifest: { grants: [{ grant: 'env:WEATHER_KEY', why: 'reads \u202eyek a' }] } }));
      const refused = await readPackage(dir).then(
        () => 'it was read',
        (error: Error) => error.message,
      );
      expect(refused).to.contain('/grants/0/why has the hidden character U+202E');
    } finally {
      await done();
    }
  });
});

describe('how an extension runs', () => {
  const key = (isolation?: 'isolated' | 'walled') => [{ id: 'k1', name: '', public: 'p', allow: [], ...(isolation ? { isolation } : {}) }];
  const ways = (policy: Parameters<typeof isolationFor>[2], isolation?: 'isolated' | 'walled') => isolationFor('k1', key(isolation), policy).isolation;

  it('is walled where bubblewrap works, and isolated where it does not, unless somebody chose', () => {
    expect(ways({ isolation: 'auto' })).to.equal('walled');
    expect(isolationFor('k1', key(), { isolation: 'auto', wallFault: 'bwrap is not installed' })).to.deep.equal({
      isolation: 'isolated',
      why: 'bubblewrap does not work on this machine: bwrap is not installed',
    });
    expect(ways({ isolation: 'isolated' })).to.equal('isolated');
    expect(ways({ isolation: 'walled', wallFault: 'bwrap is not installed' })).to.equal('walled');
    expect(ways({ isolation: 'auto' }, 'isolated')).to.equal('isolated');
    expect(ways({ isolation: 'auto', wallFault: 'x' }, 'walled')).to.equal('walled');
    expect(ways({ isolation: 'walled' }, 'isolated')).to.equal('walled');
  });
});
