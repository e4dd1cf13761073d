/** Words that people bring from other programs of this kind. Those for commands of areas are declared by the areas. */
import type { CommandSynonym } from '@svc/api';

/** By what is typed: one word, two, or words and an option. */
export type Synonyms = Readonly<Record<string, CommandSynonym>>;

export const synonymOf = (synonyms: Synonyms, words: readonly string[]): CommandSynonym | undefined => {
  const name = words.join(' ');
  return Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
};

export const byWord = (all: readonly CommandSynonym[]): Synonyms => Object.fromEntries(all.map((one) => [one.word, one]));

const running = (words: Readonly<Record<string, string>>): CommandSynonym[] => Object.entries(words).map(([word, means]) => ({ word, means, runs: true, takesArguments: true }));
const hinting = (words: Readonly<Record<string, string>>): CommandSynonym[] => Object.entries(words).map(([word, means]) => ({ word, means }));

/** For the command line's own commands. */
export const OWN_SYNONYMS: Synonyms = byWord([
  ...running({
    version: '--version',
    health: 'status',
    dashboard: 'open',
    setup: 'init',
    onboard: 'init',
    upgrade: 'update',
    'hash-api-key': 'key hash',
    'system info': 'status -v',
    'system version': '--version',
    'config file': 'config path',
    'config validate': 'config check',
    ...Object.fromEntries(['gateway', 'daemon'].flatMap((word) => ['start', 'stop', 'restart', 'status'].map((verb) => [`${word} ${verb}`, verb]))),
    ...Object.fromEntries(['gateway', 'daemon'].flatMap((word) => ['install', 'uninstall'].map((verb) => [`${word} ${verb}`, `service ${verb}`]))),
    ...Object.fromEntries(['list', 'install', 'enable', 'disable', 'doctor'].map((verb) => [`plugin ${verb}`, `plugins ${verb}`])),
    'plugin info': 'plugins show',
    'plugins info': 'plugins show',
  }),
  ...hinting({
    gateway: 'start',
    daemon: 'start',
    system: 'status -v',
    configure: 'config edit',
    plugin: 'plugins list',
    extension: 'ext list',
    extensions: 'ext list',
    'hash-password': 'key hash',
    new: 'ext create FOLDER',
    docs: 'open',
    'start --tail': 'logs -f',
    'restart --tail': 'logs -f',
    'init --quick': 'init --yes',
    'init --upgrade': 'update',
    'doctor --repair': 'doctor --fix',
    'reset --confirm': 'reset --yes',
    'uninstall --confirm': 'uninstall --yes',
    'uninstall --keep-config': 'uninstall',
    'config delete': 'config unset KEY',
  }),
]);

const FLAGS_WITH_VALUE = new Set(['--home', '--port']);

/** The words that are no options, nor the values of global ones, each with its place. */
const wordsIn = (argv: readonly string[]): Array<{ readonly word: string; readonly at: number }> => {
  const found: Array<{ word: string; at: number }> = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) found.push({ word, at });
    else if (FLAGS_WITH_VALUE.has(word)) at++;
  }
  return found;
};

/** The command's first word. */
export const commandName = (argv: readonly string[]): string | undefined => wordsIn(argv)[0]?.word;

/** `svc kill NAME` as `svc agent kill NAME`; what only has a hint is left as it is. */
export const asOurs = (argv: readonly string[], synonyms: Synonyms): readonly string[] => {
  const words = wordsIn(argv);
  for (const length of [2, 1]) {
    const typed = words.slice(0, length);
    const synonym =
      typed.length < length
        ? undefined
        : synonymOf(
            synonyms,
            typed.map(({ word }) => word),
          );
    if (synonym?.runs !== true) continue;
    // `svc agents` is `svc agent list`; `svc agents spawn` is another command of agents.
    const isAlone = words.length === length && !argv.includes('--help') && !argv.includes('-h');
    if (!isAlone && synonym.takesArguments !== true) continue;
    const [first, ...others] = typed.map(({ at }) => at);
    return argv.flatMap((word, at) => (at === first ? synonym.means.split(' ') : others.includes(at) ? [] : [word]));
  }
  return argv;
};
