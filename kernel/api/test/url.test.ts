import { parsedUrl } from '@svc/api';
import { expect } from 'chai';

describe('a URL as text', () => {
  it('is read the same however often it is read, also with letters that URL.canParse forgets', () => {
    for (const text of ['http://münchen.example/straße', 'http://127.0\u00ad.0.1/'])
      for (let round = 0; round < 50_000; round += 1) if (parsedUrl(text) === undefined) expect.fail(`${text} in round ${round}`);
    expect([parsedUrl('/a', 'https://x.example/b')?.href, parsedUrl('no url'), parsedUrl('')]).to.deep.equal(['https://x.example/a', undefined, undefined]);
  });
});
