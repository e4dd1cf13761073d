/** What the page of the API must hold; `npm run lint` compares it with the types that it is made from. */
import { readFileSync } from 'node:fs';
import * as api from '@svc/api';
import { expect } from 'chai';
import { inRoot } from '../build/paths.mjs';

describe('the page of the API', () => {
  it('names all that can be imported at run time, and nothing of this machine', () => {
    const page = readFileSync(inRoot('kernel/api/REFERENCE.md'), 'utf8');
    expect(Object.keys(api).filter((name) => !page.includes(`### ${name}\n`) && !page.includes(`\`${name}\``))).to.deep.equal([]);
    expect(page).to.not.contain(inRoot()).and.not.contain('import("');
  });
});
