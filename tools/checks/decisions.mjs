/** Every decision that is cited by its number is a file of kernel/decisions, and every file there opens with its status. */
import { readdirSync, readFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';
import { papers } from './words.mjs';

const FOLDER = 'kernel/decisions';
const RULE = 'decision';
const CITED = /\bdecisions?[ /](\d{4})\b(?:(?:,| and) (\d{4})\b)?/g;
const TITLE = /^# \S/;
const STATUS = /^Status: \S/m;

export const citedIn = (file, text, known) =>
  [...text.matchAll(CITED)].flatMap((match) =>
    [match[1], match[2]]
      .filter((number) => number !== undefined && !known.has(number))
      .map((number) => ({ file, line: text.slice(0, match.index).split('\n').length, rule: RULE, message: `no decision has the number ${number}; kernel/decisions/README.md lists earlier numbers` })),
  );

export const formOf = (file, text) =>
  TITLE.test(text) && STATUS.test(text.split('\n').slice(0, 4).join('\n')) ? [] : [{ file, line: 1, rule: RULE, message: 'open with a title and a line `Status: …`' }];

export const checkDecisions = (sources) => {
  const files = readdirSync(inRoot(FOLDER)).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const known = new Set(files.map((name) => name.slice(0, 4)));
  const texts = [...sources, ...papers().map((file) => ({ file, text: readFileSync(inRoot(file), 'utf8') }))];
  const forms = files.flatMap((name) => formOf(`${FOLDER}/${name}`, readFileSync(inRoot(`${FOLDER}/${name}`), 'utf8')));
  return [...texts.flatMap(({ file, text }) => citedIn(file, text, known)), ...forms];
};
