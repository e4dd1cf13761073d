/**
 * Long texts that nobody would write and anybody can send: sixty characters and some pairs of them, each for 90,000 characters.
 * A pattern that tries one place after another takes the square of that, which is seconds or minutes.
 */
import { expect } from 'chai';

export const HOSTILE_CHARS = 90_000;
/** In processor time; a linear pass over such a text takes a few milliseconds. */
const MOST_MS = 400;

const SINGLE = [...' \t\n\r!"#$%&\'()*+,-./0159:;<=>?@[\\]^_`{|}~aAzZfeghxy', '\u00a0', '\u200b', '\u202e', '\u0301', '\u0130', 'é', 'я', '中', '\u{1f600}', '\u{e0041}'];
const PAIRS = [
  'a ',
  'a.',
  'a-',
  'a_',
  'a=',
  'a/',
  'a@',
  '1 ',
  '1-',
  '1.',
  '0.',
  '\n ',
  '\n-',
  ' \n',
  '\r\n',
  '- ',
  '* ',
  '> ',
  '# ',
  '| ',
  '](',
  '![',
  '<a',
  '<!',
  '&#',
  '%4',
  '\\"',
  '\\n',
  '$(',
  '`a',
  "'a",
  '**',
  '__',
  '~~',
  '((',
  '[[',
  '{{',
  '//',
  'http://',
  'a@a.',
  '://',
  'key=',
  'sh ',
  'curl ',
  'ignore ',
  'to you ',
  'tool ',
  'system',
  '<title>',
  '<div>',
  '--\n',
  '+\n',
  '```\n',
  '~~~\n',
];

export interface HostileText {
  readonly name: string;
  readonly text: string;
}

/** Each alone, and behind and before a word: what a pattern needs to begin, and what keeps it from ending. */
export const hostileTexts = (chars = HOSTILE_CHARS): HostileText[] =>
  [...SINGLE, ...PAIRS].flatMap((unit) => {
    const text = unit.repeat(Math.ceil(chars / unit.length));
    const name = `${JSON.stringify(unit)} × ${Math.ceil(chars / unit.length)}`;
    return [
      { name, text },
      { name: `${name} between words`, text: `a${text}\u0001b` },
    ];
  });

/** Fails with the texts over which one call kept this thread for too long, the slowest first. */
export const expectShortStops = (what: string, read: (text: string) => unknown, texts: readonly HostileText[] = hostileTexts(), mostMs = MOST_MS): void => {
  const slow: Array<{ name: string; ms: number }> = [];
  for (const { name, text } of texts) {
    // What collects garbage and what else the machine does count too, once: only what is slow again is slow.
    let ms = timeOf(read, text);
    if (ms > mostMs) ms = Math.min(ms, timeOf(read, text));
    if (ms > mostMs) slow.push({ name, ms });
    // Each of the others would take as long.
    if (slow.length === 3) break;
  }
  expect(
    slow.sort((one, other) => other.ms - one.ms).map(({ name, ms }) => `${what}: ${ms} ms over ${name}`),
    'texts that kept the thread',
  ).to.deep.equal([]);
};

/** Milliseconds of processor time. */
const timeOf = (read: (text: string) => unknown, text: string): number => {
  const began = process.cpuUsage();
  read(text);
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 1_000);
};
