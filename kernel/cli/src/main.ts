/**
 * The adapter of the command. What is typed most goes a short way: `quick.js` is one file with neither a parser of
 * arguments nor anything of the other commands, and an empty Node costs little less. All else goes by `program.js`.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { QuickWords } from './quick.js';
import type { GlobalFlags } from './settings.js';

/** The commands of the short way, each with the options of its own; none of them takes a value. */
const QUICK: Readonly<Record<string, readonly string[]>> = { start: ['--foreground'], status: [], stop: [] };

/** The one command with its options and the global flags, when it is a quick one and there is nothing else; undefined leaves it to the parser. */
const quickWords = (argv: readonly string[]): QuickWords | undefined => {
  const flags: GlobalFlags = {};
  const others: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--json') flags.json = true;
    else if (word === '--yes' || word === '-y') flags.yes = true;
    else if (word === '--no-color') flags.color = false;
    else if ((word === '--home' || word === '--port') && argv[index + 1] !== undefined) flags[word === '--home' ? 'home' : 'port'] = argv[++index] ?? '';
    else others.push(word);
  }
  const [name = '', ...more] = others.filter((word) => !word.startsWith('-'));
  const options = new Set(others.filter((word) => word.startsWith('-')));
  const own = Object.hasOwn(QUICK, name) ? QUICK[name] : undefined;
  return own === undefined || more.length > 0 || [...options].some((option) => !own.includes(option)) ? undefined : { name, flags, options };
};

/** This bundle is dist/cli/main.js. */
const distDir = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const argv = process.argv.slice(2);
const words = quickWords(argv);
process.exitCode = words === undefined ? await (await import('./program.js')).runProgram(argv, distDir) : await (await import('./quick.js')).runQuick(words, distDir);
