/** What a command line would do with texts from outside, as far as its text tells. */
import { startedPrograms } from '@svc/ext-capabilities/contract';
import { squeezed } from './normal-text.js';

/** They fetch from, or send to, the network. */
const NETWORK = new Set(
  'curl wget aria2c http https httpie lynx w3m links ssh scp sftp rsync ftp nc ncat netcat socat telnet git gh svn hg npm npx pnpm yarn bun deno pip pip3 pipx uv uvx poetry conda gem bundle cargo go apt apt-get apk dnf yum brew docker podman kubectl aws gcloud az terraform dig nslookup host ping'.split(
    ' ',
  ),
);
/** They read and change the workspace alone, whatever their arguments. */
const OFFLINE = new Set(
  'ls cat echo printf head tail wc sort uniq cut tr grep egrep fgrep rg find stat file du df tree pwd cd mkdir rmdir cp mv rm touch ln chmod date cal true false test basename dirname realpath diff cmp comm sed tee seq sleep expr bc md5sum sha1sum sha256sum cksum gzip gunzip zcat tar zip unzip jq column nl od xxd hexdump base64 strings which type uname whoami id env printenv'.split(
    ' ',
  ),
);
const OFFLINE_GIT = new Set('status diff log show add commit branch checkout switch restore stash tag blame rev-parse init merge rebase reset mv rm grep ls-files describe config'.split(' '));
/**
 * Downloaded, decoded or computed text that becomes a program: what begins it and what, later in the same part of the line, runs
 * it. Two patterns that each pass over the line once; one pattern for both would try every end for every beginning.
 */
const RUNS_TEXT: ReadonlyArray<{ readonly apart: RegExp; readonly begin: RegExp; readonly run: RegExp }> = [
  { apart: /[;&\n]/, begin: /\b(?:curl|wget|fetch|aria2c|http|https)\b/i, run: /\|\s*(?:sudo\s+)?(?:env\s+)?(?:[^\s|]*\/)?(?:ba|z|da|k|fi)?sh\b/i },
  { apart: /[;&\n]/, begin: /\b(?:curl|wget|fetch|aria2c|http|https)\b/i, run: /\|\s*(?:sudo\s+)?(?:[^\s|]*\/)?(?:python|perl|ruby|node|php|deno|bun)[\d.]*\b/i },
  { apart: /[;&|\n]/, begin: /\b(?:ba|z|da|k)?sh\b/i, run: /(?:<\(|\$\(|`)\s*(?:curl|wget)\b/i },
  { apart: /[;&\n]/, begin: /\bbase(?:64|32)\s+(?:-d|-D|--decode)\b/i, run: /\|\s*(?:sudo\s+)?(?:[^\s|]*\/)?(?:(?:ba|z|da|k)?sh|python|perl|ruby|node|php)[\d.]*\b/i },
  { apart: /[;&\n]/, begin: /\bxxd\s+-r\b/i, run: /\|\s*(?:sudo\s+)?(?:[^\s|]*\/)?(?:(?:ba|z|da|k)?sh|python|perl|ruby|node)[\d.]*\b/i },
];
const RUNS_AT_ONCE = /\b(?:eval|source|exec|\.)\s+["']?(?:\$\(|`|<\()\s*(?:curl|wget|base64|echo|printf)\b/i;
const MIN_FORM_CHARS = 5;
const PARTS = /\|\|?|&&?|;|\n|\$\(|`|<\(|\)/;

/** Without what a shell takes away: `ev''il`, `ev\il`, `$IFS`. */
export const bareCommand = (line: string): string =>
  line
    .replace(/\$\{?IFS\}?/g, ' ')
    .replace(/\\\n/g, ' ')
    .replace(/["'\\]/g, '');

export const runsText = (line: string): boolean => {
  const bare = bareCommand(line);
  return RUNS_AT_ONCE.test(bare) || RUNS_TEXT.some(({ apart, begin, run }) => bare.split(apart).some((part) => isBegunAndRun(part, begin, run)));
};

const isBegunAndRun = (part: string, begin: RegExp, run: RegExp): boolean => {
  const found = begin.exec(part);
  return found !== null && run.test(part.slice(found.index + found[0].length));
};

/** Its commands of two words and more, as texts are compared: as written, and without the wrappers around them. */
export const commandForms = (line: string): string[] => {
  const forms = new Set<string>();
  for (const part of partsOf(line)) for (const words of [part, withoutWrappers(part)]) if (words.length > 1) forms.add(squeezed(words.join('')));
  for (const words of startedPrograms(line).commands) if (words.length > 1) forms.add(squeezed(words.join('')));
  return [...forms].filter((form) => form.length >= MIN_FORM_CHARS);
};

/** `env A=1 timeout 5 sh -c …` starts what comes behind it. */
const WRAPPER = /^(?:(?:\S*\/)?(?:sudo|doas|env|nohup|time|timeout|nice|ionice|stdbuf|setsid|xargs|exec|command|eval|(?:ba|da|z|k)?sh)|-\S*|\d+[smhd]?|[A-Za-z_]\w*=\S*)$/;

const withoutWrappers = (words: readonly string[]): readonly string[] => {
  const first = words.findIndex((word) => !WRAPPER.test(word));
  return first < 0 ? [] : words.slice(first);
};

/** Words that a network program takes for an address. */
export const addressWords = (line: string): string[] =>
  partsOf(line).flatMap((words) => (words.some((word) => NETWORK.has(nameOf(word))) ? words.filter((word) => !word.startsWith('-') && word.includes('.')) : []));

/** Whether its output may be text from the network. `isOnline`: the agent may reach some host at all. */
export const mayFetch = (line: string, isOnline: boolean): boolean =>
  isOnline &&
  partsOf(line).some((words) => {
    const [program = '', verb = ''] = words.filter((word) => !/^[A-Za-z_]\w*=/.test(word));
    const name = nameOf(program);
    if (name === 'git') return !OFFLINE_GIT.has(verb);
    return name !== '' && !OFFLINE.has(name);
  });

/** Whether it may do more with a file that it names than show, move or search it: run it, for one. */
export const mayRunFiles = (line: string): boolean =>
  partsOf(line).some((words) => {
    const [program = '', verb = ''] = withoutWrappers(words);
    const name = nameOf(program);
    return !(OFFLINE.has(name) || (name === 'git' && OFFLINE_GIT.has(verb))) || /^(?:ba|da|z|k)?sh$/.test(nameOf(words[0] ?? ''));
  });

/** What may name a file: words as the shell makes them, what stands behind an option or a sign in one, and words of a program that is an argument. */
export const fileWords = (line: string): string[] => [...new Set(wordsIn(line, 0))];

/** Text that is handed to another shell or interpreter, and may be handed on. */
const MAX_INNER = 3;
const IS_TEXT = /[\s'"()]/;

const wordsIn = (line: string, depth: number): string[] =>
  shellWords(line).flatMap((word) => {
    const forms = [word, word.slice(word.indexOf('=') + 1), word.slice(word.indexOf(':') + 1), ...(/^-[a-z]./i.test(word) ? [word.slice(2)] : [])];
    const inner = depth < MAX_INNER && IS_TEXT.test(word) ? wordsIn(word, depth + 1) : [];
    return [...forms.map(withoutHere), ...inner];
  });

/** `./a` is `a`. */
const withoutHere = (word: string): string => word.replace(/^(?:\.\/+)+(?=.)/, '');

const ENDS_WORD = ' \t\r\n;|&<>()';

/** Quotes and backslashes are taken away as a shell does it. What a shell would put in the place of a word is none: `$` and a backtick stay. */
const shellWords = (line: string): string[] => {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"') word += line[++at] ?? '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === '\\') word = (word ?? '') + (line[++at] ?? '');
    else if (ENDS_WORD.includes(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  return word === undefined ? words : [...words, word];
};

/** These verbs of git show or bring back what files hold, without naming one. */
const SHOWS_FILES = new Set('show diff log blame grep stash checkout switch restore merge rebase reset'.split(' '));
/** They read what stands below the folder that they run in. */
const SEARCHES = new Set('rg find'.split(' '));

/** Whether it may read files that it does not name: of other programs than those that are known to read and show files, nobody knows. */
export const readsUnnamed = (line: string): boolean =>
  partsOf(line).some((words) => {
    const [program = '', verb = ''] = withoutWrappers(words);
    const name = nameOf(program);
    if (name === 'git') return !OFFLINE_GIT.has(verb) || SHOWS_FILES.has(verb);
    if (/^[ef]?grep$/.test(name)) return words.some((word) => /^-[a-z]*r|^--(?:dereference-)?recursive$/i.test(word));
    return SEARCHES.has(name) || (name !== '' && !OFFLINE.has(name)) || words.some((word) => nameOf(word) === 'xargs' || /^(?:ba|da|z|k)?sh$/.test(nameOf(word)));
  });

/** English words that are programs too stand in any text: a line that begins with one needs an option or a path behind it. */
const PROGRAMS = new Set(
  'rm mv cp chmod chown dd kill killall pkill sudo su sh bash zsh python python3 node perl ruby php make npm npx yarn pnpm pip pip3 git curl wget ssh scp crontab systemctl mkfs shutdown reboot'.split(
    ' ',
  ),
);
const IS_PLACE = /^(?:~|\.{1,2})?\//;
const IS_ARGUMENT = /^--?[a-z]|[/~=]|\.\w/i;

/** Commands in a line of text, as they are compared. Most lines are none. */
export const commandsIn = (line: string): string[] =>
  partsOf(line.split(' #', 1)[0] ?? '').flatMap((words) => {
    const [program = '', ...rest] = withoutWrappers(words);
    const isCommand = rest.length > 0 && (PROGRAMS.has(nameOf(program)) || IS_PLACE.test(program) || (/^[\w./~-]+$/.test(program) && rest.some((word) => IS_ARGUMENT.test(word))));
    const form = isCommand ? squeezed([program, ...rest].join('')) : '';
    return form.length >= MIN_FORM_CHARS ? [form] : [];
  });

const nameOf = (word: string): string => word.slice(word.lastIndexOf('/') + 1).toLowerCase();

const partsOf = (line: string): string[][] =>
  bareCommand(line)
    .split(PARTS)
    .map((part) => part.split(/[\s<>]+/).filter((word) => word !== ''))
    .filter((words) => words.length > 0);
