import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mayUseShell, parseCommandLine } from '@svc/api';
import { expect } from 'chai';
import { worthOf } from '../src/programs.js';
import { commandRefusal } from '../src/shell-command.js';

const refusal = (shell: string | readonly string[], command: string) => commandRefusal(command, { shell: typeof shell === 'string' ? [shell] : shell });

/** By grant: each must be refused. All of them once passed, or pass in a program that looks at the text alone. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'git *': [
    ...['git status; id', 'git log | sh', 'git log && id', 'git log & id', 'git $(id)', 'git `id`', 'git "`id`"', 'git "$(id)"', 'git log > /tmp/x', 'git apply < x', 'git log\nid', 'git log\r\nid'],
    ...[
      "git --version $'\\'' ; id #'",
      "git 'a' ; id",
      "git 'a\\' ; id",
      'git \\" ; id',
      'git $HOME',
      'git $\u007bHOME}',
      'git "$HOME"',
      'git log (id)',
      'git {log,id}',
      'git ~/x',
      'git log #x',
      'git log \\\n; id',
      "git 'open",
      'git "open',
      'git log \\',
    ],
    ...[
      "git -c alias.x='!id' x",
      "git -calias.x='!id' x",
      'git --config-env=alias.x=HOME x',
      'git --exec-path=/tmp x',
      'git --exec-path /tmp x',
      'git --git-dir=evil status',
      'git --work-tree=/ status',
      'git -C / diff a b',
      'git -C ../.. log',
    ],
    ...[
      'git x',
      'git difftool -x id',
      'git mergetool',
      'git -p x',
      'git filter-branch --tree-filter id',
      'git daemon',
      'git instaweb',
      'git send-email x',
      'git credential fill',
      'git gui',
      'git remote-ext a b',
      'git upload-pack .',
    ],
    ...[
      'git diff --no-index /etc/passwd /dev/null',
      'git diff --no-in a b',
      'git diff a /etc/passwd',
      'git diff a ../../config.toml',
      'git diff --ext-diff',
      'git log -p --textconv',
      'git log --output=/tmp/x',
      'git diff --outp=x',
    ],
    ...[
      'git clone --upload-pack=id x',
      'git clone -u id x',
      'git clone -qu id x',
      'git clone -c core.fsmonitor=id x',
      'git clone --config core.fsmonitor=id x',
      'git clone --template=/tmp/t x',
      "git clone 'ext::sh -c id'",
      'git fetch --upload-p id',
      'git push --receive-pack=id',
      'git push --exec=id',
    ],
    ...[
      'git remote add x ext::id',
      'git ls-remote --exec=id x',
      'git ls-remote -u id',
      'git archive --remote=ext::id HEAD',
      'git archive --exec=id HEAD',
      'git rebase -x id HEAD~1',
      'git rebase --exec id',
      'git rebase -ix id',
      'git bisect run id',
      'git submodule foreach id',
    ],
    ...[
      'git grep -Oid x',
      'git grep -nOid x',
      'git grep --open-files-in-pager=id x',
      "git config alias.x '!id'",
      'git config core.pager id',
      'git config --global core.sshCommand id',
      'git config set core.hooksPath x',
      'git config -e',
      'git init --template=/tmp',
      'git clone ssh://-oProxyCommand=id/x',
    ],
    ...['GIT_PAGER=id git log', 'env GIT_SSH_COMMAND=id git fetch', '/tmp/git status', './git status', 'gitx status', 'sudo git status', ' ', 'git\0 x'],
  ],
  'find *': [
    'find . -exec id {} +',
    "find . -exec id '{}' +",
    'find . -execdir id',
    'find . -ok id',
    'find . -okdir id',
    'find . -fprintf /tmp/x y',
    'find . -fls /tmp/x',
    'find . -delete',
    'find . -name *.ts',
  ],
  'tar *': [
    'tar cf x --to-command=id a',
    'tar --to-c id x',
    'tar -I id -cf x a',
    'tar -cIf id x',
    'tar cIf id x',
    'tar --use-compress-program=id -xf x',
    'tar --checkpoint=1 --checkpoint-action=exec=id -cf x a',
    'tar -F id -xf x',
    'tar --info-script=id -xf x',
    'tar -xf host:x --rsh-command=id',
    'tar -xf evil.example:x',
    'tar -cf x -T list',
    'tar --files-from=list -cf x',
  ],
  'env *': ['env id', 'env A=1 id', 'env -i id', 'env -S id', 'env -u A id', 'env --split-string=id'],
  'xargs *': ['xargs id', 'xargs -a list id', 'xargs -I x id'],
  'awk *': ['awk \'BEGIN{system("id")}\'', 'awk \'BEGIN{"id"|getline x}\'', 'awk \'BEGIN{print | "id"}\'', 'awk -f evil.awk', "awk -vf=system 'BEGIN{@f(1)}'", 'awk -i evil x', 'awk --file=evil.awk'],
  'sed *': ['sed 1e\\ id x', "sed 's/a/id/e' x", "sed -n '1w /tmp/x' x", 'sed -f evil x', 'sed'],
  'ssh *': ['ssh -oProxyCommand=id x', 'ssh -o ProxyCommand=id x', 'ssh -F evil x', 'ssh -vo ProxyCommand=id x', "ssh -J 'x`id`' y", 'ssh -- -oProxyCommand=id'],
  'rsync *': ['rsync -e id a b:c', 'rsync -ave id a b:c', 'rsync --rsh=id a b:c', 'rsync --rsync-path=id a b:c', 'rsync --rs id a b:c'],
  'sort *': ['sort --compress-program=id x', 'sort --comp id x'],
  'rg *': ['rg --pre id x', 'rg --pre=id x'],
  'wget *': ['wget --use-askpass=id x', 'wget -e use_askpass=id x', 'wget --execute=x y'],
  'zip *': ['zip x a -T -TT id', 'zip --unzip-command=id x'],
  'sqlite3 *': ["sqlite3 x '.shell id'", "sqlite3 x ' .system id'", "sqlite3 x 'select 1;\n.shell id'", 'sqlite3 x "select load_extension(\'x\')"', 'sqlite3 -cmd x y', 'sqlite3 --init evil x'],
  'man *': ['man -P id ls', 'man --pager=id ls', 'man -Hid ls'],
  'gh *': ['gh alias set x !id', 'gh config set pager id', 'gh repo clone x -- -c core.fsmonitor=id'],
  'psql *': ["psql -c '\\! id'", "psql -o '|id' -c x", "psql -c 'copy x to program $$id$$'"],
  'env LC_ALL=C git *': ["env LC_ALL=C git -c alias.x='!id' x", 'env LC_ALL=C sh -c id'],
  'timeout 5 git *': ["timeout 5 git -c alias.x='!id' x", 'timeout 5 git difftool', 'timeout 5 sh -c id'],
  'nice *': ['time id'],
  '** status': ['sh -c status', 'bash status', 'python3 status', 'nice sh status'],
};

const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  'git *': [
    ...[
      'git status',
      ' git  status ',
      'git diff',
      'git diff HEAD~1..HEAD -- src',
      'git diff --stat main...dev',
      'git log --oneline -20',
      "git log --format='%H {x} | %s'",
      'git log --since="2 weeks ago"',
      'git commit -m "a; b | c"',
      "git commit -m 'costs $5 `now`'",
      "git commit -m 'one\n\ntwo'",
    ],
    ...[
      'git -C sub status',
      'git --no-pager log',
      'git add -u',
      'git push -u origin main',
      'git clone https://example.org/x.git',
      'git fetch --all --prune',
      'git grep -n word',
      'git config user.name Ann',
      'git config --get remote.origin.url',
      'git config -l',
      'git rebase --continue',
      'git checkout -b x',
      'git stash',
      'git show HEAD:src/a.ts',
      'git log --exclude=x --all',
      'git branch --remotes',
    ],
  ],
  'find *': ["find . -name '*.ts' -type f", 'find src -newer a -print0'],
  'tar *': ['tar czf out.tgz src', 'tar -xzf out.tgz', 'tar --list --file out.tgz', 'tar xJf out.txz --strip-components=1'],
  'env *': ['env -0', 'env A=1'],
  'awk *': ["awk '{print $1}' x", "awk -F, '$2 > 5 || $3 {n++} END {print n}' x"],
  'sed *': ["sed --sandbox -n '1,5p' x", "sed --sandbox 's/a/b/g' x"],
  'ssh *': ['ssh -i id_rsa host uptime'],
  'env LC_ALL=C git *': ['env LC_ALL=C git status'],
  'ip *': ['ip -br address'],
  'ls *': ['ls -la src', 'ls "a b"', 'ls a\\ b', "ls 'it'\\''s'"],
  'cat notes.txt': ['cat notes.txt', "cat 'notes.txt'"],
  'timeout 5 git *': ['timeout 5 git status'],
  'python3 /opt/tool.py *': ['python3 /opt/tool.py --all'],
  'git -c color.ui=always *': ['git -c color.ui=always log'],
  '*': ['a | b; c $(d)'],
};

describe('commands of an agent', () => {
  for (const [grant, commands] of Object.entries(ATTACKS)) {
    it(`S1 S2 are refused under "${grant}" when they reach beyond the program`, () => {
      expect(commands.filter((command) => refusal(grant, command) === undefined)).to.deep.equal([]);
    });
  }

  it('S1 are known in at least 60 hostile and 30 harmless spellings', () => {
    expect(Object.values(ATTACKS).flat().length).to.be.above(60);
    expect(Object.values(HARMLESS).flat().length).to.be.above(30);
  });

  for (const [grant, commands] of Object.entries(HARMLESS)) {
    it(`S1 go on under "${grant}" when they are what was granted`, () => {
      expect(commands.map((command) => refusal(grant, command)).filter((why) => why !== undefined)).to.deep.equal([]);
    });
  }

  it('S1 are told why they are refused, and what is granted', () => {
    expect(refusal('git *', 'git log | head')).to.equal('This command is refused: it holds | outside quotes, but no shell interprets it. This agent runs single programs, without a shell: git *.');
    expect(refusal('git *', 'rm x')).to.equal('This command is refused: [capabilities] shell allows git *.');
    expect(refusal('git *', 'git diff --no-index a b')).to.match(/git may not be called with --no-index/);
    expect(refusal('ls *', 'ls *.txt')).to.match(/wildcard \*.*nothing expands it/);
  });

  it('S2 may do what the pattern itself spells out, and nothing more', () => {
    expect(refusal('git -c alias.x=!id *', 'git -c alias.x=!id status')).to.equal(undefined);
    expect(refusal('git -c alias.x=!id *', 'git -c alias.x=!id -c alias.y=!id y')).to.match(/-c/);
    expect(refusal('find . -exec wc -l *', 'find . -exec wc -l x')).to.equal(undefined);
    expect(refusal(['git log *', 'git *'], 'git status')).to.equal(undefined);
  });

  it('S2 keep a word with a space apart from two words', () => {
    expect(refusal('cat notes txt', "cat 'notes txt'")).to.match(/allows/);
  });

  it('S3 reach a shell only by *, and not where exec_policy narrows to programs', () => {
    expect(mayUseShell({ shell: ['*'] })).to.equal(true);
    for (const shell of [['**'], ['git *'], ['* *'], []]) expect(mayUseShell({ shell }), shell.join()).to.equal(false);
    const exec = { mode: 'allowlist', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null } as const;
    expect(mayUseShell({ shell: ['*'], exec })).to.equal(false);
    expect(commandRefusal('ls -l; id', { shell: ['*'], exec })).to.match(/outside quotes/);
    expect(commandRefusal('bash -c id', { shell: ['*'], exec })).to.match(/no grant names it/);
    expect(commandRefusal('ls -l', { shell: ['*'], exec })).to.equal(undefined);
    expect(commandRefusal('ls -l', { shell: ['*'], exec: { ...exec, programs: ['git'] } })).to.match(/exec_policy allows git/);
  });

  it('are weighed by what their program can do', () => {
    const worth = (kind: string, patterns: string[]) => expect(patterns.map((pattern) => `${pattern}: ${worthOf(pattern)}`)).to.deep.equal(patterns.map((pattern) => `${pattern}: ${kind}`));
    worth('a shell', [
      '*',
      '**',
      'g*',
      'bash *',
      '/bin/sh *',
      'python3.11 *',
      'node x.js',
      'npm test',
      'make *',
      'docker *',
      'vim *',
      'less *',
      'timeout 5 *',
      'sudo *',
      'nice -n 5 python3 *',
      'env bash *',
    ]);
    worth('with options refused', ['git *', '/usr/bin/git log', 'find *', 'env *', 'xargs *', 'awk *', 'tar *', 'ssh *', 'timeout 5 git *', 'sqlite3 *', 'jq *']);
    worth('a program', ['ls *', 'cat notes.txt', './run.sh *', 'timeout 5 ls *']);
  });
});

describe('a command line without a shell', () => {
  it('is split into the words that /bin/sh would give the program, or refused', async () => {
    const lines = acceptedLines(20_000);
    expect(lines.length).to.be.above(500);
    const script = lines.map(({ text }) => `printf '%s\\0' ${text}\nprintf '\\001'`).join('\n');
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script], { maxBuffer: 10_000_000 });
    const read = stdout.split('\u0001').map((part) => part.split('\0').slice(0, -1));
    expect(read.slice(0, -1)).to.deep.equal(lines.map(({ words }) => words));
  });

  it('is refused when nobody could have written it', () => {
    expect(parseCommandLine('a '.repeat(3_000))).to.deep.equal({ problem: 'it has more than 2000 words' });
    expect(parseCommandLine('')).to.deep.equal({ problem: 'it names no program' });
    expect(parseCommandLine("'' a")).to.deep.equal({ problem: 'it names no program' });
    expect(parseCommandLine('A=1 b'))
      .to.have.property('problem')
      .that.matches(/variable/);
  });
});

/** Lines of odd characters that were accepted, from a fixed seed. */
const acceptedLines = (tries: number): Array<{ text: string; words: readonly string[] }> => {
  const letters = ['a', 'b', '-', '=', ' ', '\t', "'", "'", '"', '"', '\\', '$', '`', ';', '|', '&', '*', '?', '[', ']', '~', '#', '!', '%', '^', '{', '}', '(', '<', '\n', ':', 'é'];
  let seed = 20_260;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const found: Array<{ text: string; words: readonly string[] }> = [];
  for (let i = 0; i < tries && found.length < 2_000; i++) {
    const text = Array.from({ length: 1 + next(12) }, () => letters[next(letters.length)]).join('');
    const line = parseCommandLine(text);
    if ('words' in line) found.push({ text, words: line.words });
  }
  return found;
};
