/**
 * Words that were replaced, and what to write instead: in identifiers, in comments, and in texts that people read.
 *
 * The glossary in CONTRIBUTING.md has the terms. Columns, fields of the wire and words of a page's table are lower snake case and
 * are unchanged.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fromRoot, inRoot } from '../build/paths.mjs';
import { lineAt } from './sources.mjs';

const RULE = 'word';

/** Parts of identifiers, in any case: `stranger` is found in `createStranger` and in `MAX_STRANGERS`. */
const IN_NAMES = {
  stranger: 'thirdParty',
  misfit: 'violation',
  judge: 'validate, decide or policy',
  judged: 'validated',
  judgement: 'decision',
  talk: 'conversation',
  stray: 'orphan, or unhandled for errors',
  mend: 'fix',
  mended: 'fixed',
  mending: 'fixing',
  door: 'adapter, or channel for how a message came',
  hear: 'listen or receive',
  heard: 'received',
  tell: 'emit or notify',
  told: 'emitted or reported',
};

const IN_PROSE = [
  [/\bstrangers?\b/gi, 'third party'],
  [/\bmisfits?\b/gi, 'violation'],
  [/\bjudg(?:e|es|ed|ing|ements?)\b/gi, 'validate, decide or policy'],
  [/\b(?:a|the|its|this|that|each|every|one|same|whole|long) talk\b(?! (?:with|to|about)\b)/gi, 'conversation'],
  [/\bstrays?\b/gi, 'orphaned, or unhandled for errors'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix'],
  [/\bstand-ins?\b/gi, 'mock provider'],
  [/\bdoors?\b/gi, 'adapter, or channel for how a message came'],
];

/** In pages that people read, and not in comments. */
const IN_PAPERS = [
  [/\b(?:extensions?|code|panels?|commands?) (?:of others|from elsewhere)\b/gi, 'third-party'],
  [/\bwhoever\b/gi, 'who, or the person that'],
  [/\banew\b/gi, 'again'],
  [/\b(?:goes|went|gone|going) on\b(?! to\b)/gi, 'continues, or is active'],
];

/** Stored or sent under this name: a table, a field of the journal, a step of an installation, a place of the page. */
const STAYS = {
  'extensions/commands/': ['door'],
  'extensions/webchat/test/': ['door'],
  'tools/test/': ['door'],
  'tools/bench/': ['door'],
  'kernel/installer/src/author/templates/': ['door'],
  'extensions/runs/': ['door'],
  'extensions/openai-compat/': ['door'],
  'kernel/cli/src/': ['judge'],
  'kernel/platform/test/config/': ['stranger', 'door'],
  'test/': ['door', 'talk', 'told', 'heard'],
  // A field of what areas submit as runs.
  'extensions/a2a/': ['door'],
  'extensions/auto-dream/': ['door'],
  'extensions/channels/': ['door'],
  'extensions/comms/': ['door'],
  'extensions/goals/': ['door'],
  'extensions/inbox/': ['door'],
  'extensions/mcp/': ['door'],
  'extensions/ofp/': ['door'],
  'extensions/queue/': ['door'],
  'extensions/schedules/': ['door'],
  'extensions/triggers/': ['door'],
  'extensions/webhooks/': ['door'],
  'extensions/workflows/': ['door'],
  'extensions/': ['talk'],
};
const SELF = ['tools/checks/words.mjs', 'tools/test/words.test.ts'];
/** Most files have none of them: a look at the whole text is quick. */
const ANY = new RegExp([...Object.keys(IN_NAMES), 'judg', 'stand-in'].join('|'), 'i');
const GENERATED = /(^|\/)generated\/|\/migrations\//;

const PART = /[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g;
/** A column, a field of the wire or a word of a page; an all-capital constant is none. */
const isSnake = (name) => /[a-z0-9]_[a-z0-9]/.test(name);
const singular = (part) => part.toLowerCase().replace(/s$/, '');
const mayStay = (file, word) => Object.entries(STAYS).some(([prefix, words]) => file.startsWith(prefix) && words.includes(word));

const inNames = ({ file, bare }) =>
  [...bare.matchAll(/[A-Za-z_$][\w$]*/g)]
    .filter(([name]) => !isSnake(name))
    .flatMap((match) => {
      const word = (match[0].match(PART) ?? []).map(singular).find((part) => Object.hasOwn(IN_NAMES, part));
      if (word === undefined || mayStay(file, word)) return [];
      return [{ file, line: lineAt(bare, match.index), rule: RULE, message: `"${match[0]}": write ${IN_NAMES[word]} for "${word}"` }];
    });

/** Strings of a test are its data, but for its titles. */
const withoutData = (text, bare, code) => {
  const titles = [...code.matchAll(/\b(?:it|describe)\(\s*(['"`])/g)].map((match) => match.index + match[0].length);
  const isTitle = new Set(titles.flatMap((from) => Array.from({ length: Math.max(0, code.indexOf('\n', from) - from) }, (_, at) => from + at)));
  return [...bare].map((letter, at) => (letter === ' ' && text[at] !== ' ' && code[at] !== ' ' && !isTitle.has(at) ? 'x' : letter)).join('');
};

/** What is not code: comments, and strings of more than one word. */
const proseOf = ({ text, bare, code, isTest }) => {
  const shown = isTest ? withoutData(text, bare, code) : bare;
  const all = [...text].map((letter, at) => (letter === '\n' || shown[at] === ' ' || code[at] === ' ' ? letter : ' ')).join('');
  // A string of one word is a name: of a step, a table, an agent.
  return all.replace(/(?<=^| {2})[\w.:-]+(?=$| {2})/gm, (word, at) => (/^['"`]$/.test(code[at - 1] ?? '') || /^['"`]$/.test(text[at - 1] ?? '') ? ' '.repeat(word.length) : word));
};

const inProse = (file, text, words = IN_PROSE) =>
  words.flatMap(([pattern, use]) =>
    [...text.matchAll(pattern)]
      .filter((match) => !isQuoted(text, match.index, match[0].length) && !mayStay(file, singular(match[0])))
      .map((match) => ({ file, line: lineAt(text, match.index), rule: RULE, message: `"${match[0].toLowerCase()}": write ${use}` })),
  );

/** In backticks, part of a path or of a longer name: it names something. */
const isQuoted = (text, at, length) => /[`/\w.-]/.test(text[at - 1] ?? ' ') || /[`/\w-]|\.\w/.test(text.slice(at + length, at + length + 2).replace(/^([^.]).*/, '$1'));

const PAPERS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
export const papers = () => [
  ...PAPERS,
  ...['kernel', 'extensions', 'test', 'tools', 'fixtures', 'schemas'].flatMap((room) =>
    readdirSync(inRoot(room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^README(\.npm)?\.md$/.test(entry.name))
      .map((entry) => fromRoot(path.join(entry.parentPath, entry.name)))
      .filter((file) => !/(^|\/)(node_modules|dist|decisions)\//.test(file)),
  ),
];

/** The glossary names the words that it replaces. */
const withoutGlossary = (text) => text.replace(/## Glossary[\s\S]*?(?=\n## |$)/, (part) => part.replace(/[^\n]/g, ' '));

export const checkWordsOf = (source) => (!ANY.test(source.text) || SELF.includes(source.file) || GENERATED.test(source.file) ? [] : [...inNames(source), ...inProse(source.file, proseOf(source))]);

/** Commands keep their words: titles of tests, for example. */
const withoutCode = (text) => text.replace(/`[^`\n]*`/g, (part) => part.replace(/[^\n]/g, ' '));

export const checkPaper = (file, text) => [...inProse(file, withoutGlossary(text)), ...inProse(file, withoutCode(withoutGlossary(text)), IN_PAPERS)];

export const checkWords = (sources) => [...sources.flatMap(checkWordsOf), ...papers().flatMap((file) => checkPaper(file, readFileSync(inRoot(file), 'utf8')))];
