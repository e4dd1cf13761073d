/** The shape of files: their length, the names of files and folders, and work that was left for later. */
import { lineAt } from './sources.mjs';

const MAX_LINES = 500;
const SAYS_NOTHING = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'lib', 'misc', 'types', 'shared']);
/** Migrations have their number before the name: `0001_init.ts`. */
const KEBAB = /^(\d{4}_)?[a-z0-9]+([-.][a-z0-9]+)*\.(tsx?|mjs|js)$/;
const LEFT_FOR_LATER = /\b(TODO|FIXME|XXX)\b/g;
const SILENCED = /@ts-(ignore|nocheck|expect-error)\b/g;
const NARROWED = /\b(describe|it|suite|test)\.only\(/g;

const finding = (source, line, rule, message) => ({ file: source.file, line, rule, message });

const lengths = (source) => {
  const lines = source.text.split('\n').length - 1;
  return lines > MAX_LINES ? [finding(source, MAX_LINES, 'file-length', `has ${lines} lines; at most ${MAX_LINES}`)] : [];
};

const names = (source) => {
  const parts = source.file.split('/');
  const file = parts.at(-1);
  const empty = [...parts.slice(0, -1), file.replace(/\..*$/, '')].find((part) => SAYS_NOTHING.has(part));
  return [...(KEBAB.test(file) ? [] : [finding(source, 1, 'file-name', 'is not kebab-case')]), ...(empty ? [finding(source, 1, 'file-name', `"${empty}" does not say what is inside`)] : [])];
};

const matches = (source, text, pattern, rule, message) => [...text.matchAll(pattern)].map((match) => finding(source, lineAt(text, match.index), rule, message(match[0])));

const leftovers = (source) => {
  return [
    ...matches(source, source.text, LEFT_FOR_LATER, 'unfinished', (word) => `${word}: finish it, or open an issue and name its number`),
    ...matches(source, source.text, SILENCED, 'silenced', (word) => `${word} hides a type error; fix the type`),
    ...matches(source, source.bare, NARROWED, 'only', (word) => `${word.slice(0, -1)} keeps every other test from running`),
  ];
};

/** These checks name what they look for, so they are not asked. */
const isThisFile = (source) => source.file.startsWith('tools/checks/') || source.file.startsWith('tools/test/');

export const checkShape = (sources) => sources.flatMap((source) => [...lengths(source), ...names(source), ...(isThisFile(source) ? [] : leftovers(source))]);
