import { expect } from 'chai';
import { BACKUP_NAME, DAY_OR_TIME, documented, REVISION_TAG, SETTING_PATH, textForm, TextOf, timeOfText, wordForm } from '../src/schema/text-forms.js';

describe('a form of text', () => {
  it('is the same for the handler that checks it and the schema that says it', () => {
    const form = textForm('^[ab]+$', { minLength: 2, maxLength: 3 });
    expect(['ab', 'aab', 'a', 'aaab', 'abc', ''].filter(form.fits)).to.deep.equal(['ab', 'aab']);
    expect(TextOf(form, { description: 'a or b' })).to.deep.include({ type: 'string', description: 'a or b', ...documented({ pattern: '^[ab]+$', minLength: 2, maxLength: 3 }) });
  });

  it('counts letters as JSON Schema does, and reads its pattern letter by letter', () => {
    const face = textForm('^.{2}$', { maxLength: 2 });
    expect([face.fits('\u{1F989}\u{1F989}'), face.fits('\u{1F989}'), face.fits('ab')]).to.deep.equal([true, false, true]);
  });

  it('of words takes them in either case, and nothing beside them', () => {
    const form = wordForm(['Normal', 'a.b']);
    expect(['normal', 'NORMAL', 'A.B', 'axb', 'Normals', 'norma', ''].filter(form.fits)).to.deep.equal(['normal', 'NORMAL', 'A.B']);
  });

  it('of a day or a time takes what can be a moment', () => {
    for (const good of ['2026-01-31', '2026-01-31T10:00:00Z', '2026-01-31T10:00+01:00', '2026-01-31T10:00:00.123456789012Z']) expect(DAY_OR_TIME.fits(good), good).to.equal(true);
    for (const bad of ['', 'yesterday', '2026-13-01', '2026-01-31T10:00:00', '2026-01-31 10:00:00Z', '20260131', '2026-01-31T25:00:00Z']) expect(DAY_OR_TIME.fits(bad), bad).to.equal(false);
    expect(timeOfText('2026-01-31', '23:59:59.999')).to.equal(Date.parse('2026-01-31T23:59:59.999Z'));
    expect(timeOfText('2026-01-31T10:00:00+02:00')).to.equal(Date.parse('2026-01-31T08:00:00Z'));
  });

  it('of a file name of a backup is one plain name', () => {
    for (const good of ['svc_backup_20260131_120000.tar.gz', 'a.tar.gz', 'a.b-c.tar.gz']) expect(BACKUP_NAME.fits(good), good).to.equal(true);
    for (const bad of ['', '.tar.gz', '../a.tar.gz', 'a/b.tar.gz', 'a..tar.gz', '.a.tar.gz', 'a.tar', 'a b.tar.gz', `${'a'.repeat(122)}.tar.gz`]) expect(BACKUP_NAME.fits(bad), bad).to.equal(false);
  });

  it('of an ETag and of the place of a setting takes what was given', () => {
    expect(['"7"', '*', '', '7', 'W/"7"', '"x"'].filter(REVISION_TAG.fits)).to.deep.equal(['"7"', '*']);
    expect(['log.level', '/language', 'a.b.c', 'a.b.c.d', 'a..b', '', 'a b'].filter(SETTING_PATH.fits)).to.deep.equal(['log.level', '/language', 'a.b.c']);
  });
});
