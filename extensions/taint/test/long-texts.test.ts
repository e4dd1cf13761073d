/** Long texts that anybody can send: no function that reads one keeps the daemon. Each reader has a quarter of them here, and together they have all. */
import { expectShortStops, hostileTexts } from '@svc/testing/hostile-texts';
import { READERS } from './text-readers.js';

describe('long texts', function () {
  this.timeout(120_000);
  const texts = hostileTexts();
  for (const [at, [name, read]] of Object.entries(READERS).entries())
    it(`keep the daemon for no time that others notice: ${name}`, () =>
      expectShortStops(
        name,
        read,
        texts.filter((_text, index) => index % 4 === at % 4),
      ));
});
