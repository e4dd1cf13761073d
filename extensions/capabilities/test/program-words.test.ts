import { expect } from 'chai';
import { gitRefusal } from '../src/git-command.js';
import { isRefused } from '../src/program-options.js';
import { programName, programRefusal, worthOf } from '../src/programs.js';
import { commandRefusal } from '../src/shell-command.js';

const refusal = (grant: string, command: string) => commandRefusal(command, { shell: [grant] });
const passing = (grant: string, commands: readonly string[]) => commands.filter((command) => refusal(grant, command) === undefined);

describe('options that a program would run another by', () => {
  it('are found whole, cut short, and joined to their value', () => {
    const options = { long: ['--exec-path'], except: ['--exe'] };
    for (const word of ['--exec-path', '--exec-path=/tmp', '--exec', '--ex', '--e']) expect(isRefused(options, word, 1), word).to.equal(true);
    for (const word of ['--', '-', '-e', '--exe', '--exe=1', '--exec-paths', 'exec-path', '--x']) expect(isRefused(options, word, 1), word).to.equal(false);
  });

  it('are found in a bundle of letters, up to where a value begins', () => {
    const options = { short: 'xI' };
    for (const word of ['-x', '-vx', '-vIf', '-x=1']) expect(isRefused(options, word, 1), word).to.equal(true);
    for (const word of ['-v', '-v=x', '--x', 'x', '-', '-v.x']) expect(isRefused(options, word, 1), word).to.equal(false);
    expect(isRefused({ ...options, bundled: true }, 'cxf', 1)).to.equal(true);
    expect(isRefused({ ...options, bundled: true }, 'cx-', 1)).to.equal(true);
    expect(isRefused({ ...options, bundled: true }, 'cxf', 2)).to.equal(false);
    expect(isRefused({ ...options, bundled: true }, '--x', 1)).to.equal(false);
  });

  it('are whole words, or texts without what is harmless in them', () => {
    expect([isRefused({ words: ['run'] }, 'run', 1), isRefused({ words: ['run'] }, 'runs', 1)]).to.deep.equal([true, false]);
    const options = { text: /\|/, without: /\|\|/g };
    expect([isRefused(options, 'a || b', 1), isRefused(options, 'a | b', 1), isRefused(options, 'a || b | c', 1), isRefused({}, 'a', 1)]).to.deep.equal([false, true, true, false]);
  });
});

describe('programs', () => {
  it('are known by name, without folder, version, case and ending', () => {
    for (const [word, name] of [
      ['/usr/bin/Python3.11', 'python'],
      ['python.exe', 'python'],
      ['BASH', 'bash'],
      ['gcc-12', 'gcc'],
      ['a/b/c', 'c'],
      ['7z', '7z'],
    ] as const)
      expect(programName(word), word).to.equal(name);
  });

  it('are each refused what makes them run another, and nothing else', () => {
    const table: ReadonlyArray<readonly [grant: string, bad: readonly string[], good: readonly string[]]> = [
      ['fd *', ['fd a -x id', 'fd -X id', 'fd --exec id', 'fd --exec-batch id'], ['fd a', 'fd --extension ts']],
      ['scp *', ['scp -S id a b:', 'scp -oProxyCommand=id a b:', 'scp -J x a b:'], ['scp a b:c']],
      ['sftp *', ['sftp -b batch x', 'sftp -D id x'], ['sftp host']],
      ['cpio *', ['cpio --rsh-command=id', 'cpio -F host:x', 'cpio --file=host:x'], ['cpio -t']],
      ['split *', ['split --filter=id a', 'split --fil id a'], ['split -l 9 a']],
      ['ag *', ['ag --pager id x'], ['ag x']],
      ['rg *', ['rg --hostname-bin id x'], ['rg -n x', 'rg --files']],
      ['tcpdump *', ['tcpdump -z id', 'tcpdump -Z root'], ['tcpdump -n']],
      ['ip *', ['ip netns exec a id', 'ip vrf exec a id', 'ip -batch x'], ['ip link']],
      ['nmap *', ['nmap --script x', 'nmap --interactive', 'nmap --datadir=x'], ['nmap -p 80 x']],
      ['gpg *', ['gpg --photo-viewer id', 'gpg --homedir=x', 'gpg --options x'], ['gpg --list-keys']],
      ['openssl *', ['openssl engine x', 'openssl req -engine x', 'openssl req -config x'], ['openssl dgst a']],
      ['mysql *', ["mysql -e '\\! id'", "mysql -e 'system id'", 'mysql --pager=id', "mysql -e 'source x'"], ["mysql -e 'select 1'"]],
      ['svn *', ['svn diff --diff-cmd id', 'svn --config-dir x', 'svn --editor-cmd=id ci'], ['svn log']],
      ['nc *', ['nc -e id x 1', 'nc -c id x 1', 'nc --exec id', 'nc --lua-exec x'], ['nc -z x 1']],
      ['gh *', ['gh extension install x', 'gh codespace ssh', 'gh browse'], ['gh pr list']],
      ['wget *', ['wget --config=x y'], ['wget -q https://example.org']],
      ['rsync *', ['rsync --daemon', 'rsync --config=x', 'rsync -M--x a b', 'rsync --remote-option=x a b'], ['rsync -a b c']],
      ['man *', ['man -X ls', 'man -C x ls', 'man --html=id ls', 'man --config-file=x ls'], ['man ls']],
      ['psql *', ['psql -f x', 'psql --file=x', 'psql --output=x'], ["psql -c 'select 1'"]],
      ['gawk *', ['gawk \'@include "x"\'', 'gawk -E x', 'gawk --load=x a', 'gawk -D x'], ["gawk '{print}' x"]],
      ['xargs *', ['xargs -0 id', 'xargs --null id'], ['xargs -0', 'xargs -r -t --no-run-if-empty']],
      ['sed --sandbox *', [], ['sed --sandbox -n 1p x']],
      ['env -i *', ['env -i id'], ['env -i A=1']],
    ];
    for (const [grant, bad, good] of table) {
      expect(passing(grant, bad), grant).to.deep.equal([]);
      expect(passing(grant, good), grant).to.deep.equal(good);
    }
  });

  it('are granted by a pattern however many blanks stand in and around it', () => {
    expect(passing('  git   log  * ', ['git log -3'])).to.deep.equal(['git log -3']);
    expect(passing('  git   log  * ', ['git status'])).to.deep.equal([]);
  });

  it('are named with the word that would run another, a hundred letters of it', () => {
    expect(programRefusal(['find', '.', '-exec'], 1)).to.match(/^find may not be called with -exec, /);
    expect(programRefusal(['timeout', '5', 'git', '-c', 'x'], 3)).to.match(/^git may not be called with -c, /);
    expect(programRefusal(['wget', `--execute=${'x'.repeat(200)}`], 1)).to.match(/ with --execute=x{90}, /);
    expect(programRefusal(['bash', 'x'], 0)).to.match(/^bash runs any code it is given, and no grant names it/);
    expect(programRefusal(['bash', 'x'], 1)).to.equal(undefined);
    expect(programRefusal(['nice', 'x'], 0)).to.match(/^nice runs any code/);
    expect(programRefusal(['env'], 0)).to.equal(undefined);
    expect(programRefusal(['ls', '--exec'], 1)).to.equal(undefined);
    expect(programRefusal([], 0)).to.equal(undefined);
  });

  it('are worth what they can be made to do, also behind others', () => {
    for (const [pattern, worth] of [
      ['env', 'with options refused'],
      ['env *', 'with options refused'],
      ['env -i', 'with options refused'],
      ['env A=1 ls *', 'a program'],
      ['nice', 'a shell'],
      ['nice *', 'a shell'],
      ['nice -n 5', 'a shell'],
      ['nice -n 5 ls', 'a program'],
      ['timeout 1.5m sudo git *', 'with options refused'],
      ['timeout 5 ls*', 'a shell'],
      ['timeout 5 l* x', 'a shell'],
      [' git  log ', 'with options refused'],
      ['toString *', 'a program'],
      ['constructor', 'a program'],
    ] as const)
      expect(worthOf(pattern), pattern).to.equal(worth);
  });
});

describe('git', () => {
  const git = (command: string, from = 1) => gitRefusal(command.split(' '), from);

  it('is refused every option before its subcommand that is not listed, and every subcommand', () => {
    for (const command of ['git', 'git -p', 'git --version', 'git --no-pager -C sub log', 'git -C sub/dir status', 'git -C a..b status']) expect(git(command), command).to.equal(undefined);
    expect(git('git -C .. log')).to.equal('-C ..');
    expect(git('git -C a/../b log')).to.equal('-C a/../b');
    expect(git('git -C ~ log')).to.equal('-C ~');
    expect(git('git --git-dir=x log')).to.equal('--git-dir=x');
    expect(git('git nonsense')).to.match(/^nonsense \(an alias/);
    expect(git('git constructor')).to.match(/^constructor \(an alias/);
  });

  it('may do what the grant spells out: options with their values, a subcommand, words behind it', () => {
    expect(git('git -c a=b log', 3)).to.equal(undefined);
    for (const option of ['-c', '--git-dir', '--work-tree', '--namespace', '--exec-path']) expect(git(`git ${option} value log`, 3), option).to.equal(undefined);
    expect(git('git -C / log', 3)).to.equal(undefined);
    expect(git('git -C / log', 2)).to.equal('-C /');
    expect(git('git -c a=b -c c=d log', 3)).to.equal('-c');
    expect(git('git nonsense x', 2)).to.equal(undefined);
    expect(git('git log --output=x', 3)).to.equal(undefined);
    expect(git('git log --output=x --output=y', 3)).to.equal('--output=y');
  });

  it('is refused behind a subcommand what runs a program or leads out', () => {
    const bad = [
      'git archive --remote=x',
      'git bisect visualize',
      'git bisect view',
      'git diff a ~/x',
      'git diff /a',
      'git clone -u x',
      'git merge -s x',
      'git pull --strategy=x',
      'git help -m x',
      'git help --web x',
      'git log a::b',
      'git fetch x=ext::y',
      'git grep --ext-grep x',
      'git difftool --extcmd=x',
    ];
    expect(bad.filter((command) => git(command) === undefined)).to.deep.equal([]);
    const good = [
      'git log -s',
      'git add -u',
      'git show -c',
      'git diff a..b',
      'git diff a...b',
      'git log a:b',
      'git clone https://x/y',
      'git bisect start',
      'git submodule update',
      'git help log',
      'git merge --squash x',
    ];
    expect(good.filter((command) => git(command) !== undefined)).to.deep.equal([]);
  });

  it('may read any setting, and set those that name no program', () => {
    const good = [
      'git config get a.b',
      'git config --get-all a.b',
      'git config list',
      'git config --local --list',
      'git config a.b',
      'git config --global user.email x',
      'git config set pull.rebase true',
      'git config --add branch.x.remote origin',
      'git config USER.NAME x',
      'git config --unset color.ui',
    ];
    expect(good.filter((command) => git(command) !== undefined)).to.deep.equal([]);
    expect(git('git config core.editor id')).to.equal('config core.editor');
    expect(git('git config --global core.editor')).to.equal('config core.editor');
    expect(git('git config -e')).to.equal('config -e');
    expect(git('git config')).to.equal('config ');
    expect(git('git config --edit user.name')).to.equal('config --edit');
    expect(git('git config user.name.x y')).to.equal('config user.name.x');
    // Spelled out by the grant.
    expect(git('git config core.editor id', 3)).to.equal(undefined);
    expect(git('git config core.editor id', 2)).to.equal('config core.editor');
  });
});
