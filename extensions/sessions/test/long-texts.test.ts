/** What a conversation reads of a message, a result and an answer keeps the daemon for no time that others notice, whatever stands in it. */
import { foldedText, wordList, wordsAsked, wordsOf } from '@svc/api';
import { expectShortStops, hostileTexts } from '@svc/testing/hostile-texts';
import { scoreOf, snippetOf } from '../src/search/snippet.js';
import { titleOf } from '../src/titling/title-text.js';

const MAX_WORDS = 10_000;
const ASKED = { words: ['a', 'zz'], phrase: 'a zz' };

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'words of the index': (text) => wordList(wordsOf(text, MAX_WORDS)),
  'words of a search': wordsAsked,
  foldedText,
  scoreOf: (text) => scoreOf(text, ASKED),
  snippetOf: (text) => snippetOf(text, ASKED),
  titleOf,
};

describe('long texts in a conversation', function () {
  this.timeout(120_000);
  const texts = hostileTexts();
  for (const [name, read] of Object.entries(READERS)) it(`keep the daemon for no time that others notice: ${name}`, () => expectShortStops(name, read, texts));
});
