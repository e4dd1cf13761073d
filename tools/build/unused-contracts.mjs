/**
 * An extension imports a few names of another one's contract. The rest would come along with all it needs, into the memory of
 * each of them: a call at the top of a module may have effects, for all the bundler knows. In these modules a constant has
 * none, so each that is not a function becomes one that may be left out.
 *
 * The sources are formatted: a statement begins in the first column, and so does its last line.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inRoot } from './paths.mjs';

const CONSTANT = /^((?:export )?const \w+(?:: [^=]+)? = )(?!async\b|function\b|<|\(|\w+ =>|new Set\(\)|new Map\(\)|new WeakMap\(\)|new WeakSet\(\))/;

/** Statements of a module with their line breaks. */
const statementsOf = (source) => source.split(/^(?=[^\s})\]])/m);

const ended = /;\n*$/;

export const withUnusedLeftOut = (source) =>
  statementsOf(source)
    .map((statement) => {
      const [, head] = CONSTANT.exec(statement) ?? [];
      if (head === undefined || !ended.test(statement)) return statement;
      return statement.replace(head, `${head}/* @__PURE__ */ (() => (`).replace(ended, (end) => `))()${end}`);
    })
    .join('');

const known = new Map();

/** For the bundle of one extension: modules of others. */
export const unusedContracts = (dir) => ({
  name: 'unused-contracts',
  setup(build) {
    const own = inRoot(dir) + path.sep;
    build.onLoad({ filter: /[\\/]extensions[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path: file }) => {
      if (file.startsWith(own)) return undefined;
      if (!known.has(file)) known.set(file, withUnusedLeftOut(readFileSync(file, 'utf8')));
      return { contents: known.get(file), loader: 'ts' };
    });
  },
});
