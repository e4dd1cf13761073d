/** What a browser fetches before one can type: followed from the page through all that is loaded at once, without a browser. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

/** Of the 90 KB that the whole may weigh on the wire (`npm run bench -- page`), the rest is for answers of the API and headers. */
const MAX_FILES_BYTES = 81_000;
/** As the bundler writes them; what is imported by a call comes later. */
const IMPORTED = /(?:\bfrom|\bimport)\s*"([^"]+\.js)"/g;

describe('the first load of the page', () => {
  after(stopTestKernels);

  it('weighs less than 81 KB in files, compressed', async () => {
    const { http, url } = await bootTestKernel();
    const page = (await http.expect(200, 'GET', '/')).text;
    const named = [...page.matchAll(/<(?:link rel="(?:stylesheet|modulepreload|icon)"|script)[^>]*?(?:href|src)="([^"]+)"/g)].flatMap(([, path]) => path ?? []);
    const sizes = new Map<string, number>([['/', page.length]]);
    const follow = async (path: string): Promise<void> => {
      if (sizes.has(path)) return;
      const answer = await http.raw('GET', path, undefined, { 'accept-encoding': 'br' });
      expect(answer.status, path).to.equal(200);
      sizes.set(path, Number(answer.headers.get('content-length')));
      // fetch has taken the compression off.
      const text = await answer.text();
      for (const [, imported = ''] of text.matchAll(IMPORTED)) await follow(new URL(imported, `${url}${path}`).pathname);
    };
    for (const path of named) await follow(path);
    const listed = [...sizes].map(([path, bytes]) => `${bytes} ${path}`).join('\n');
    expect([...sizes.keys()], listed).to.include.members(['/ui/kit.js', '/ui/shell.js', '/ui/shell.css']);
    expect(
      [...sizes.keys()].some((path) => /^\/ui\/panels\/webchat\/chat\.panel-.*\.js$/.test(path)),
      listed,
    ).to.equal(true);
    const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(total, listed).to.be.within(30_000, MAX_FILES_BYTES);
  });
});
