/** The project's own source files, read once for all checks. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fromRoot, inRoot } from '../build/paths.mjs';
import { blankOut } from './blank-out.mjs';
import { importsOf } from './imports.mjs';

const ROOMS = ['kernel', 'extensions', 'fixtures/areas', 'runtimes', 'test', 'tools', 'bench'];
const NOT_OURS = /(^|\/)(node_modules|dist|generated|fixtures(?!\/areas\/)|results)(\/|$)/;

const filesBelow = (dir) => {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
};

/** What runs in a browser: the page, its kit, the panels of areas, scripts of other pages. */
const isPage = (file) => /\.client\.(ts|js)$/.test(file) || /^(kernel\/kit\/src|extensions\/[^/]+\/(page|panels)|fixtures\/areas\/[^/]+\/panels)\//.test(file);

/** Commands of an area: they run in the command line, never in the daemon. */
export const isOfCommandLine = ({ file }) => /^extensions\/[^/]+\/cli\//.test(file);

const isTest = (file) => /(^|\/)test\//.test(file);

/** The folder that holds the package.json: `kernel/core`, `extensions/runs`, `fixtures/areas/notes`, `test`. */
const packageOf = (file) => {
  const parts = file.split('/');
  if (parts[0] === 'fixtures') return parts.slice(0, 3).join('/');
  return ['kernel', 'extensions', 'runtimes'].includes(parts[0]) ? parts.slice(0, 2).join('/') : parts[0];
};

/** One file as the checks see it: `code` has no comments, `bare` has neither comments nor the insides of strings. */
export const readSource = (file, text) => {
  const { code, bare } = blankOut(text);
  return { file, text, code, bare, package: packageOf(file), isTest: isTest(file), isPage: isPage(file), imports: importsOf(code, bare) };
};

export const readSources = () =>
  ROOMS.flatMap((room) => filesBelow(inRoot(room)))
    .filter((entry) => entry.isFile() && /\.(tsx?|mjs|js)$/.test(entry.name))
    .map((entry) => fromRoot(path.join(entry.parentPath, entry.name)))
    .filter((file) => !NOT_OURS.test(file))
    .sort()
    .map((file) => readSource(file, readFileSync(inRoot(file), 'utf8')));

/** The line, from 1, of a position in a text. */
export const lineAt = (text, index) => text.slice(0, index).split('\n').length;
