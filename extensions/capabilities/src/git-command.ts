/**
 * git runs other programs by a dozen roads: aliases, helpers, transports,
 * pagers, filters, hooks. So what is allowed is listed, not what is refused:
 * the options before the subcommand, and the subcommands.
 *
 * What a repository's own configuration makes git run stays out of reach here;
 * a grant for git says so when it is given.
 */
import { isRefused, type Options } from './program-options.js';

const FLAGS = new Set(
  '-p -P -v -h --paginate --no-pager --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --version --help'.split(
    ' ',
  ),
);
const SUBCOMMANDS = new Set(
  [
    'add annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout cherry cherry-pick clean clone column commit commit-tree config count-objects',
    'describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mktree mv name-rev notes pack-refs',
    'prune pull push range-diff read-tree rebase reflog remote repack reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref',
    'tag update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree',
  ]
    .join(' ')
    .split(' '),
);

/** Refused behind every subcommand. A word such as `ext::sh` names a transport, which is a program. */
const EVERYWHERE: Options = {
  long: [
    '--upload-pack',
    '--receive-pack',
    '--exec',
    '--open-files-in-pager',
    '--ext-diff',
    '--textconv',
    '--no-index',
    '--output',
    '--template',
    '--config-env',
    '--exec-path',
    '--extcmd',
    '--ext-grep',
  ],
  text: /(^|=)[A-Za-z0-9+.-]+::|:\/\/-/,
};
const OUTSIDE = /^[/~]|(^|\/)\.\.(\/|$)/;
const BEHIND: Readonly<Record<string, Options>> = {
  archive: { long: ['--remote'] },
  bisect: { words: ['run', 'visualize', 'view'] },
  // Two paths of which one lies outside are compared as with --no-index.
  diff: { text: OUTSIDE },
  clone: { short: 'cu', long: ['--config'] },
  'ls-remote': { short: 'u' },
  grep: { short: 'O' },
  rebase: { short: 'x' },
  submodule: { words: ['foreach'] },
  help: { short: 'miw', long: ['--man', '--info', '--web'] },
  merge: { short: 's', long: ['--strategy'] },
  pull: { short: 's', long: ['--strategy'] },
};
const CONFIG_READS = new Set(['get', 'list', '--get', '--get-all', '--get-regexp', '--list', '-l']);
/** Keys that name no program. */
const CONFIG_SETS = /^(user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.default|core\.(autocrlf|filemode|quotepath)|color\.ui|merge\.conflictstyle|branch\.[\w./-]+\.(remote|merge))$/i;
const CONFIG_OPTIONS = new Set(['set', 'unset', '--local', '--global', '--add', '--replace-all', '--unset', '--bool', '--type=bool', '--type=int']);

export const gitRefusal = (words: readonly string[], from: number): string | undefined => {
  let at = 1;
  for (; at < words.length && (words[at] ?? '').startsWith('-'); at++) {
    const word = words[at] ?? '';
    if (word === '-C') {
      at += 1;
      if (at >= from && OUTSIDE.test(words[at] ?? '')) return `-C ${words[at]}`;
    } else if (at >= from && !FLAGS.has(word)) return word;
    // A global option that the grant spells out may have its value in the next word, spelled out as well.
    else if (at < from && ['-c', '--git-dir', '--work-tree', '--namespace', '--exec-path'].includes(word)) at += 1;
  }
  const subcommand = words[at];
  if (subcommand === undefined) return undefined;
  if (at >= from && !SUBCOMMANDS.has(subcommand)) return `${subcommand} (an alias, or a command that runs others)`;
  const behind = Object.hasOwn(BEHIND, subcommand) ? BEHIND[subcommand] : undefined;
  const free = words.map((word, index) => ({ word, index })).filter(({ index }) => index > at && index >= from);
  const refused = free.find(({ word, index }) => isRefused(EVERYWHERE, word, index) || (behind && isRefused(behind, word, index)))?.word;
  return refused ?? (subcommand === 'config' && from <= at + 1 ? configRefusal(words.slice(at + 1)) : undefined);
};

/** Reading is harmless; writing only for keys that name no program. */
const configRefusal = (words: readonly string[]): string | undefined => {
  const rest = words.filter((word) => !CONFIG_OPTIONS.has(word));
  const [first = ''] = rest;
  if (CONFIG_READS.has(first)) return undefined;
  // `git config user.name` reads, `git config user.name x` writes.
  if (rest.length === words.length && rest.length === 1 && !first.startsWith('-')) return undefined;
  return CONFIG_SETS.test(first) ? undefined : `config ${first}`;
};
