/** Every long text for every reader. */
import { expectShortStops, hostileTexts } from '@svc/testing/hostile-texts';
import { READERS } from './text-readers.js';

describe('all long texts', function () {
  this.timeout(300_000);
  const texts = hostileTexts();
  for (const [name, read] of Object.entries(READERS)) it(`keep the daemon for no time that others notice: ${name}`, () => expectShortStops(name, read, texts));
});
