/** What the package exports: lists that are read as a table of contents, and nothing of the kernel's in that of authors. */
import { readFileSync } from 'node:fs';
import * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import { expect } from 'chai';

const lists = ['kernel/api/src/index.ts', 'kernel/api/src/internal.ts'].map((file) => ({ file, text: readFileSync(file, 'utf8') }));

describe('the exports of @svc/api', () => {
  for (const { file, text } of lists)
    it(`name each export by itself in ${file}`, () => {
      expect(text).to.not.match(/export\s*(type\s*)?\*/);
    });

  it('are either for authors or for the kernel', () => {
    expect(Object.keys(internal).filter((name) => name in api)).to.deep.equal([]);
    const types = lists.map(({ text }) =>
      [...text.matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap(([, names = '']) => names.split(',').map((name) => name.replace(/^\s*(type )?/, '').trim())).filter((name) => name !== ''),
    );
    expect(types[0]).to.include.members(['ExtensionContext', 'defineExtension']);
    expect(types.flat().filter((name, index, all) => all.indexOf(name) !== index)).to.deep.equal([]);
  });
});
