/**
 * Programs that run other programs. A grant such as `git *` means git alone;
 * what would make it start something else is refused at the call, and a grant
 * for which that cannot be told apart is worth as much as a shell.
 */
import { gitRefusal } from './git-command.js';
import { outsideWord } from './path-words.js';
import { type Options, optionRefusal } from './program-options.js';

/** The word that would start another program, or undefined. Words before `from` were spelled out by whoever gave the grant. */
type Refusal = (words: readonly string[], from: number) => string | undefined;

/** They run what they are given, or what lies in the folder: no option tells the harmless call from the other. */
const ANYTHING = new Set(
  [
    'sh bash dash zsh ksh mksh fish csh tcsh ash rbash busybox toybox pwsh powershell cmd',
    'python pypy ipython perl ruby irb node nodejs deno bun tsx ts-node php lua luajit tclsh wish expect osascript java jshell scala groovy kotlin r rscript julia ghci runghc erl elixir iex racket guile sbcl clj',
    'make gmake cmake ninja meson bazel buck npm npx yarn pnpm pnpx corepack pip pipx uv uvx poetry gem bundle bundler rake composer cargo go gradle gradlew mvn mvnw ant sbt mix rebar dotnet swift tox nox just task',
    'docker podman nerdctl buildah kubectl helm vagrant ansible ansible-playbook terraform tofu packer pulumi vault consul nomad',
    'apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk brew port snap flatpak nix nix-shell',
    'systemctl systemd-run service launchctl crontab at batch screen tmux script scriptreplay nsenter lxc lxc-attach machinectl',
    'hg chg xdg-open open gio rlwrap dbus-run-session flatpak-spawn toolbox distrobox proot firejail bwrap',
    'vi vim nvim vimdiff view ex ed red nano emacs emacsclient pico joe mcedit less more most lesspipe ack socat telnet ftp lftp mutt mail mailx',
    'gdb lldb ltrace perf valgrind bpftrace dtrace gcc g++ cc c++ clang clang++ ld tcc m4 cpp gs pdflatex latex tex xelatex lualatex ffmpeg convert magick mogrify parallel entr nodemon pm2 supervisord',
  ]
    .join(' ')
    .split(' '),
);

/** They run what follows them: a grant that spells out the inner program counts as a grant of that one. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  'sudo doas su runuser pkexec nohup timeout nice ionice chrt taskset time setsid stdbuf flock watch chroot unshare setpriv capsh strace start-stop-daemon env xargs command exec eval caffeinate gosu su-exec runcon setarch prlimit systemd-inhibit choom numactl cgexec xvfb-run dotenv direnv hyperfine'.split(
    ' ',
  ),
);

const ENV_HARMLESS = /^(-0|-i|-|--null|--ignore-environment|--help|--version|[A-Za-z_]\w*=.*)$/s;
const XARGS_HARMLESS = /^(-0|-r|-t|--null|--no-run-if-empty|--help|--version)$/;

const byOption = (options: Options): Refusal => optionRefusal(options);
const onlyIf =
  (harmless: RegExp): Refusal =>
  (words, from) =>
    // A grant that spells out the inner program has said what may be run.
    words.slice(1, from).every((word) => harmless.test(word)) ? words.slice(Math.max(from, 1)).find((word) => !harmless.test(word)) : undefined;

const AWK = byOption({
  short: 'filEDpW',
  long: ['--file', '--include', '--load', '--exec', '--debug'],
  // `print > x` writes, and a list of files that it makes itself is read.
  text: /system|getline|@|\||printf?[\s\S]*>|ARGV|SYMTAB/,
  without: /\|\|/g,
});
const FIND = byOption({ words: ['-exec', '-execdir', '-ok', '-okdir', '-delete', '-fprint', '-fprint0', '-fprintf', '-fls', '-files0-from'] });
const TAR = byOption({
  // A list of files may hold options.
  short: 'IFTP',
  long: ['--absolute-names', '--files-from', '--use-compress-program', '--to-command', '--checkpoint-action', '--info-script', '--new-volume-script', '--rsh-command', '--rmt-command'],
  except: ['--file', '--checkpoint'],
  // An archive on another host is reached through a program.
  text: /^[\w.@-]+:/,
  bundled: true,
});
/** Its commands e and w run programs and write files; GNU sed forgoes both when told to. */
const SED: Refusal = (words, from) => (from > 1 || words[1] === '--sandbox' ? undefined : `${words[1] ?? 'nothing'} (begin with --sandbox)`);

/** Its rules come from a file or from a word, and a variable may name the shell. */
const MAKE = byOption({ short: 'fIE', long: ['--eval', '--file', '--makefile', '--include-dir'], text: /^[\w.-]+\s*[:+?!]*=/ });

const BY_OPTION: Readonly<Record<string, Refusal>> = {
  git: gitRefusal,
  find: FIND,
  gfind: FIND,
  fd: byOption({ short: 'xX', long: ['--exec', '--exec-batch'] }),
  fdfind: byOption({ short: 'xX', long: ['--exec', '--exec-batch'] }),
  tar: TAR,
  gtar: TAR,
  bsdtar: TAR,
  cpio: byOption({ long: ['--rsh-command'], text: /^[\w.@-]+:|=[\w.@-]+:/ }),
  env: onlyIf(ENV_HARMLESS),
  xargs: onlyIf(XARGS_HARMLESS),
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
  sed: SED,
  gsed: SED,
  ssh: byOption({ short: 'oFIEJ' }),
  scp: byOption({ short: 'oFSDJ' }),
  sftp: byOption({ short: 'oFSDbJ' }),
  rsync: byOption({ short: 'eM', long: ['--rsh', '--rsync-path', '--remote-option', '--daemon', '--config', '--files-from'] }),
  wget: byOption({ short: 'e', long: ['--use-askpass', '--execute', '--config'] }),
  zip: byOption({ long: ['--unzip-command'], text: /^-\w*TT/ }),
  // A list in the workspace may name files anywhere.
  sort: byOption({ long: ['--compress-program', '--files0-from'] }),
  wc: byOption({ long: ['--files0-from'] }),
  du: byOption({ long: ['--files0-from'] }),
  curl: byOption({ short: 'K', long: ['--config', '--proto-default', '--engine', '--unix-socket', '--abstract-unix-socket'] }),
  make: MAKE,
  gmake: MAKE,
  jq: byOption({ words: ['-L'], text: /\b(import|include)\b/ }),
  split: byOption({ long: ['--filter'] }),
  man: byOption({ short: 'PHXC', long: ['--pager', '--html', '--gxditview', '--config-file'] }),
  rg: byOption({ long: ['--pre', '--hostname-bin'] }),
  ag: byOption({ long: ['--pager'] }),
  tcpdump: byOption({ short: 'zZ', long: ['--relinquish-privileges'] }),
  ip: byOption({ words: ['-b', '-ba', '-bat', '-batc', '-batch', 'exec', 'vrf'] }),
  nmap: byOption({ long: ['--script', '--interactive', '--datadir'] }),
  gpg: byOption({ long: ['--photo-viewer', '--exec-path', '--agent-program', '--dirmngr-program', '--pinentry-program', '--options', '--homedir'] }),
  openssl: byOption({ words: ['engine'], long: ['-engine', '--engine', '-provider', '--provider', '-provider-path', '--provider-path', '-config', '--config'] }),
  sqlite: byOption({
    words: ['-cmd', '-init', '-interactive', '--cmd', '--init', '--interactive'],
    text: /(^|\n)[^\S\n]*\.|load_extension|edit\s*\(|writefile|readfile|\battach\b|\bvacuum\s+into\b/i,
  }),
  psql: byOption({ short: 'fo', long: ['--file', '--output'], text: /\\|program/i }),
  mysql: byOption({ text: /\\|\bsystem\b|\bsource\b|^--(pager|plugin-dir)/i }),
  gh: byOption({ words: ['--', 'alias', 'browse', 'codespace', 'config', 'cs', 'ext', 'extension', 'extensions'] }),
  svn: byOption({ long: ['--diff-cmd', '--diff3-cmd', '--merge-tool', '--editor-cmd', '--config-option', '--config-dir'] }),
  nc: byOption({ short: 'ec', long: ['--exec', '--sh-exec', '--lua-exec'] }),
  ncat: byOption({ short: 'ec', long: ['--exec', '--sh-exec', '--lua-exec'] }),
  netcat: byOption({ short: 'ec', long: ['--exec', '--sh-exec', '--lua-exec'] }),
};

/** Why the free words of a granted command may not be run; undefined when nothing speaks against them. */
export const programRefusal = (words: readonly string[], from: number): string | undefined => {
  const name = programName(words[0] ?? '');
  if (from === 0 && (ANYTHING.has(name) || (WRAPPERS.has(name) && !Object.hasOwn(BY_OPTION, name)))) return `${name} runs any code it is given, and no grant names it`;
  // Behind a wrapper stands the program that is really run; which word that is depends on the wrapper's options.
  const starts = WRAPPERS.has(name) ? words.keys() : [0];
  for (const start of starts) {
    const part = refusedPart(words.slice(start), from - start);
    if (part !== undefined) return `${programName(words[start] ?? '')} may not be called with ${part.slice(0, 100)}, which can run another program or write anywhere`;
  }
  const start = WRAPPERS.has(name) ? innerOf(words) : 0;
  // Which program a wrapper starts is for the grant to say; of env and xargs the rules above know it.
  if (start >= Math.max(from, 1) && start < words.length && !Object.hasOwn(BY_OPTION, name)) return `${name} may not be called with ${words[start]?.slice(0, 100)}, which would run another program`;
  const outside = outsideWord(words, from, Math.min(start, words.length - 1), programName(words[start] ?? ''));
  return outside === undefined ? undefined : `${name} may not be called with ${outside.slice(0, 100)}, which names something outside the workspace; name files by their path in the workspace`;
};

/** The place of the program that a wrapper starts; the number of words where there is none. */
const innerOf = (words: readonly string[]): number => {
  const inner = words.slice(1).findIndex((word) => !isWrapperOption(word));
  return inner < 0 ? words.length : inner + 1;
};

const refusedPart = (words: readonly string[], from: number): string | undefined => {
  const name = programName(words[0] ?? '');
  const rule = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name] : undefined;
  return rule?.(words, Math.max(from, 0));
};

/** Interpreters, build tools, containers and the like. */
export const runsAnything = (name: string): boolean => ANYTHING.has(name);

/** The word by which a program may start another one, whoever spelled it out; undefined where none is known. */
export const mayStartOthers = (words: readonly string[]): string | undefined => refusedPart(words, 0);

export type Worth = 'a program' | 'with options refused' | 'a shell';

/** What a pattern of `[capabilities] shell` is worth to somebody who wants more. */
export const worthOf = (pattern: string): Worth => {
  const words = pattern.trim().split(/\s+/);
  const [first = ''] = words;
  if (first.includes('*')) return 'a shell';
  const name = programName(first);
  if (ANYTHING.has(name)) return 'a shell';
  if (WRAPPERS.has(name) && words.length > 1) {
    const inner = words.slice(1).findIndex((word) => !isWrapperOption(word));
    if (inner >= 0) return (words[inner + 1] ?? '*') === '*' ? (Object.hasOwn(BY_OPTION, name) ? 'with options refused' : 'a shell') : worthOf(words.slice(inner + 1).join(' '));
  }
  return Object.hasOwn(BY_OPTION, name) ? 'with options refused' : WRAPPERS.has(name) ? 'a shell' : 'a program';
};

const isWrapperOption = (word: string): boolean => word.startsWith('-') || /^\d+(\.\d+)?[smhd]?$/.test(word) || /^[A-Za-z_]\w*=/.test(word);

/** Without folder, version and case: `/usr/bin/Python3.11` is `python`. */
export const programName = (word: string): string =>
  word
    .slice(word.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
    .replace(/(?<![-.\d])[-.\d]+$/, '');
