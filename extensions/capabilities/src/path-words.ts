/**
 * Words that name files outside of the workspace.
 *
 * Q1  Every word that stands for a `*` is taken for a path, however it is joined to an option: `--file=x`, `-qFx`, `@x`, `a:x`, `file:///x`.
 *     Nobody has to know which options take a file.
 * Q2  What is known to be text is left alone: a message, a pattern, a program of awk. What is not known is not.
 *
 * Text alone is looked at: a link in the workspace that leads outside is not seen here. The sandbox of commands is what keeps that in.
 */

/** Options whose value is text, by program; of git by subcommand. */
const TEXT_OPTIONS: Readonly<Record<string, RegExp>> = {
  'git commit': /^(-[a-ln-zA-Z]*m|--message|--author|--date|--trailer)$/,
  'git tag': /^(-[a-ln-zA-Z]*m|--message|--format|--sort)$/,
  'git merge': /^(-m|--message)$/,
  'git stash': /^(-[a-ln-zA-Z]*m|--message)$/,
  'git notes': /^(-m|--message)$/,
  'git log': /^(-S|-G|--grep|--author|--committer|--format|--pretty|--since|--until|--after|--before|--date)$/,
  'git show': /^(--format|--pretty|--date)$/,
  'git for-each-ref': /^(--format|--sort)$/,
  'git grep': /^-e$/,
  find: /^-(name|iname|path|ipath|wholename|iwholename|regex|iregex|printf)$/,
  grep: /^(-[a-zA-Z]*e|--regexp|--include|--exclude|--exclude-dir)$/,
  rg: /^(-[a-zA-Z]*[eg]|--regexp|--glob|--iglob)$/,
  curl: /^(-H|--header|-A|--user-agent|-X|--request|-w|--write-out)$/,
};
/** Options that take no value, so that the word behind them may be the pattern; and those after which no word is it. */
const PATTERN_FIRST: Readonly<Record<string, { readonly flags: RegExp; readonly instead: RegExp }>> = {
  grep: {
    flags:
      /^-([ivwxclLqsnHhorREFGPIaUzZT]+|-(ignore-case|invert-match|word-regexp|line-number|recursive|extended-regexp|fixed-strings|perl-regexp|count|only-matching|quiet|files-with-matches|color))$/,
    instead: /^-([a-zA-Z]*[ef]|-(r|re|reg|f|fi|fil)\w*)/,
  },
  rg: {
    flags: /^-([iSsvwxclqnNHIoPFuzU]+|-(ignore-case|smart-case|invert-match|word-regexp|line-number|fixed-strings|count|only-matching|hidden|files-with-matches|no-ignore))$/,
    instead: /^-([a-zA-Z]*[ef]|-(regexp|file|files|type-list)\b)/,
  },
  awk: { flags: /^-[ngPcCOStV]+$/, instead: /^(-[fEie]|--(file|exec|source|include))/ },
  sed: { flags: /^(-[nErsuz]+|--(sandbox|quiet|silent|regexp-extended|separate|posix))$/, instead: /^(-[a-zA-Z]*[ef]|--(expression|file))/ },
  jq: { flags: /^-([rcnSsejaCM]+|-(raw-output|compact-output|null-input|slurp|sort-keys|exit-status|join-output|tab|arg))$/, instead: /^-([a-zA-Z]*f|-from-file)/ },
};
const ALIASES: Readonly<Record<string, string>> = { egrep: 'grep', fgrep: 'grep', gawk: 'awk', mawk: 'awk', nawk: 'awk', gsed: 'sed', gfind: 'find' };
/** They read and write no file that a word names. */
const TEXT_ONLY = new Set(['echo', 'printf', 'true', 'false', 'sleep', 'seq', 'expr', 'basename', 'dirname']);
/** A colon stands before a path of another host. */
const REMOTE = new Set(['scp', 'rsync', 'sftp', 'ssh']);

/** The first free word that names something outside, or undefined. `name`: of the program at `start`. */
export const outsideWord = (words: readonly string[], from: number, start: number, program: string): string | undefined => {
  const name = ALIASES[program] ?? program;
  if (TEXT_ONLY.has(name)) return undefined;
  const subcommand = name === 'git' ? words.slice(start + 1).find((word) => !word.startsWith('-')) : undefined;
  const key = subcommand === undefined ? name : `git ${subcommand}`;
  const options = Object.hasOwn(TEXT_OPTIONS, key) ? TEXT_OPTIONS[key] : undefined;
  const pattern = patternAt(words, start, name);
  const isColonLocal = !REMOTE.has(name);
  for (let index = Math.max(from, start + 1); index < words.length; index++) {
    const word = words[index] ?? '';
    if (index === pattern || options?.test(words[index - 1] ?? '')) continue;
    // The value of a text option that is joined to it.
    if (word.includes('=') && options?.test(word.slice(0, word.indexOf('=')))) continue;
    if (leadsOutside(word, isColonLocal)) return word;
  }
  return undefined;
};

/** Where the program's pattern stands, if it is certain. */
const patternAt = (words: readonly string[], start: number, name: string): number | undefined => {
  const rule = Object.hasOwn(PATTERN_FIRST, name) ? PATTERN_FIRST[name] : undefined;
  if (!rule || words.slice(start + 1).some((word) => rule.instead.test(word))) return undefined;
  for (let index = start + 1; index < words.length; index++) if (!rule.flags.test(words[index] ?? '')) return (words[index] ?? '').startsWith('-') ? undefined : index;
  return undefined;
};

/** Whether any part of the word is a path that leaves the workspace. */
export const leadsOutside = (word: string, isColonLocal = true): boolean => {
  // An address of the network is no path; one of a file is.
  if (/^(?!file:)[a-z][a-z0-9+.-]*:\/\//i.test(word)) return false;
  if (isOutside(word)) return true;
  const letters = /^-([A-Za-z0-9]*)/.exec(word)?.[1]?.length ?? 0;
  // The tail of a bundle such as -qF../x: any letter of it may be the option that takes the rest.
  for (let at = 2; at <= letters + 1; at++) if (isOutside(word.slice(at))) return true;
  const next = word.search(isColonLocal ? /[=@:,;<>|]/ : /[=@,;<>|]/);
  return next >= 0 && leadsOutside(word.slice(next + 1), isColonLocal);
};

const isOutside = (path: string): boolean => /^(\/(?!dev\/(null|stdin|stdout|stderr)$)|~)/.test(path) || /(^|\/)\.\.(\/|$)/.test(path) || /^file:/i.test(path);
