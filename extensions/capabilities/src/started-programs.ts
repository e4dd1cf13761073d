/**
 * Which programs a command line starts, as far as its text tells.
 *
 * R1  Wrappers (env, xargs, timeout, sudo), `sh -c` and assignments in front hide nothing: the program behind them is found.
 * R2  Where the text does not tell (a shell's syntax, an interpreter, a script, a relay to something that listens), the answer says so.
 *     Whoever forbids something then takes the line for forbidden, and whoever allows something does not take it for allowed.
 */
import { parseCommandLine } from '@svc/api';
import { mayStartOthers, programName, runsAnything, WRAPPERS } from './programs.js';

export interface StartedPrograms {
  /** The program and its arguments, each. Behind a wrapper every word may be the program, so there are several. */
  readonly commands: readonly (readonly string[])[];
  /** Set where it may start others, too: why, to stand after "because". */
  readonly unknown?: string;
}

const SHELLS = new Set('sh bash dash zsh ksh mksh ash rbash'.split(' '));
/** They hand what they are given to something that listens, which may run it. */
const RELAYS = new Set('ssh scp sftp rsh rlogin nc ncat netcat socat telnet ftp mosh dbus-send busctl gdbus xdotool'.split(' '));
const LOCAL = /(^|[/@:=])(localhost|127\.[\d.]+|0x7f\w*|2130706433|0\.0\.0\.0|\[?::1\]?|\[?::ffff:127\.[\d.]+\]?)(?=$|[/:?#])|\.localhost\b|\.sock\b/i;
const MAX_DEPTH = 5;
/** Words behind a wrapper that are looked at as programs; each is read to its end. */
const MAX_WRAPPED = 200;

export const startedPrograms = (line: string): StartedPrograms => programsOf(line, 0);

const programsOf = (line: string, depth: number): StartedPrograms => {
  if (depth > MAX_DEPTH) return unreadable('it starts shells within shells');
  const { rest, odd } = withoutAssignments(line);
  const parsed = parseCommandLine(rest);
  if ('problem' in parsed) return unreadable(parsed.problem);
  const found = ofWords(parsed.words, depth);
  return odd === undefined ? found : { ...found, unknown: found.unknown ?? `it sets ${odd}, which may change what runs` };
};

const unreadable = (unknown: string): StartedPrograms => ({ commands: [], unknown });

/** Variables that change how a program speaks and not what it does. */
const HARMLESS = /^(LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI)$/;
/** Unquoted, and nothing in it that a shell would read: `"A=b" ls` starts a program of that name. */
const ASSIGNMENT = /^[ \t]*([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z0-9_.,:@%+/-]*)[ \t]+(?=\S)/;

/** The line behind plain assignments, and the first variable that may change what runs. */
export const withoutAssignments = (line: string): { readonly rest: string; readonly odd?: string } => {
  let rest = line;
  let odd: string | undefined;
  for (let match = ASSIGNMENT.exec(rest); match; match = ASSIGNMENT.exec(rest)) {
    rest = rest.slice(match[0].length);
    if (!HARMLESS.test(match[1] ?? '')) odd ??= match[1];
  }
  return odd === undefined ? { rest } : { rest, odd };
};

const ofWords = (words: readonly string[], depth: number): StartedPrograms => {
  const [first = ''] = words;
  const name = programName(first);
  if (SHELLS.has(name)) return ofShell(words, depth);
  if (name === 'eval') return withItself(words, programsOf(words.slice(1).join(' '), depth + 1));
  if (WRAPPERS.has(name)) return ofWrapper(words, depth);
  const why = whyUnknown(words, name);
  return { commands: [words], ...(why === undefined ? {} : { unknown: why }) };
};

const withItself = (words: readonly string[], inner: StartedPrograms): StartedPrograms => ({ ...inner, commands: [words, ...inner.commands] });

/** `sh -c TEXT`, however the option is bundled; anything else runs a script, or what it reads. */
const ofShell = (words: readonly string[], depth: number): StartedPrograms => {
  const at = words.findIndex((word, index) => index > 0 && isCommandOption(word));
  const text = at > 0 ? words.slice(at + 1).find((word) => !/^[-+]/.test(word)) : undefined;
  if (text === undefined) return { commands: [words], unknown: `${programName(words[0] ?? '')} runs a script or what it is given` };
  // With variables that the words behind the text fill, it is not what it says.
  return withItself(words, programsOf(text, depth + 1));
};

const isCommandOption = (word: string): boolean => /^-[A-Za-z]+$/.test(word) && word.includes('c');

/** Which word is the program depends on the wrapper's options, so each is looked at. */
const ofWrapper = (words: readonly string[], depth: number): StartedPrograms => {
  const commands: (readonly string[])[] = [words];
  let unknown: string | undefined;
  if (words.length > MAX_WRAPPED) unknown = 'it starts programs through many others';
  for (let at = 1; at < Math.min(words.length, MAX_WRAPPED); at += 1) {
    const inner = words.slice(at);
    const name = programName(inner[0] ?? '');
    if (WRAPPERS.has(name)) {
      commands.push(inner);
      continue;
    }
    if (depth >= MAX_DEPTH) return { commands, unknown: 'it starts programs through many others' };
    const found = ofWords(inner, depth + 1);
    commands.push(...found.commands);
    unknown ??= found.unknown;
  }
  const set = words.slice(1).find((word) => /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word) && !HARMLESS.test(word.split(/\+?=/, 1)[0] ?? ''));
  if (set !== undefined) unknown ??= `it sets ${set.split('=', 1)[0]}, which may change what runs`;
  // `env -S "rm x"`: a whole line in one word.
  if (words.some((word) => /\s/.test(word))) unknown ??= `${programName(words[0] ?? '')} may take a word with spaces for a command of its own`;
  return { commands, ...(unknown === undefined ? {} : { unknown }) };
};

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

const whyUnknown = (words: readonly string[], name: string): string | undefined => {
  const [first = ''] = words;
  if (first.includes('/') && !SYSTEM_FOLDERS.test(first)) return `${first} is not a program of the system`;
  if (first === '.' || name === 'source') return 'it runs a script';
  if (runsAnything(name)) return `${name} runs whatever it is given`;
  if (RELAYS.has(name)) return `${name} hands what it is given to another program`;
  if (words.slice(1).some((word) => LOCAL.test(word))) return `${name} reaches something that listens on this machine`;
  const other = mayStartOthers(words);
  return other === undefined ? undefined : `${name} may start another program by ${other.slice(0, 100)}`;
};
