/** `svc reset` and `svc uninstall`: what they show, what goes and what stays. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { type PseudoTerminal, openTerminal } from '../chat/pseudo-terminal.js';
import { type Bench, createBench } from '../program.js';

const COMPLETION = 'source <(svc completion bash)';

describe('svc reset and svc uninstall', function () {
  this.timeout(30_000);
  let bench: Bench;
  let user: string;
  beforeEach(() => {
    bench = createBench(9);
    user = path.dirname(bench.home);
    const put = (file: string, text: string): void => {
      mkdirSync(path.dirname(path.join(bench.home, file)), { recursive: true });
      writeFileSync(path.join(bench.home, file), text);
    };
    put('config.toml', '[log]\nlevel = "debug"\n');
    put('data/svc.db', 'rows');
    put('data/ext/vault/vault.enc', 'sealed');
    put('workspaces/assistant/notes.txt', 'hello');
    put('logs/daemon-2026-01-01.log', '{}');
    put('backups/svc_backup_20260101_000000.tar.gz', 'archive');
    put('mine.txt', 'not of svc');
  });
  afterEach(() => bench.clean());

  const there = (): string[] => readdirSync(bench.home).sort();
  const json = async (args: readonly string[]) => {
    const ran = await bench.run([...args, '--json']);
    return { code: ran.code, value: JSON.parse(ran.stdout) as { status: string; code: string; deleted: Array<{ path: string }> } };
  };
  const runsHere = (): void => writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:9', port: 9 }));

  for (const [scope, kept] of [
    ['config', ['backups', 'data', 'logs', 'mine.txt', 'workspaces']],
    ['data', ['backups', 'config.toml', 'logs', 'mine.txt']],
    ['all', ['backups', 'mine.txt']],
  ] as const)
    it(`reset ${scope} deletes what it lists and leaves ${kept.join(', ')}`, async () => {
      const before = there();
      const dry = await json(['reset', scope, '--dry-run']);
      expect([dry.code, dry.value.status, there()]).to.deep.equal([0, 'dry_run', before]);
      const done = await json(['reset', scope, '--yes']);
      expect([done.code, done.value.status]).to.deep.equal([0, 'deleted']);
      expect(done.value.deleted).to.deep.equal(dry.value.deleted);
      expect(there()).to.deep.equal(kept);
      const again = await json(['reset', scope, '--yes']);
      expect([again.code, again.value.status]).to.deep.equal([0, 'empty']);
    });

  it('shows each path with its size, and what stays', async () => {
    const { stdout } = await bench.run(['reset', 'all', '--dry-run']);
    for (const said of [path.join(bench.home, 'data'), '10 bytes', 'files of the agents', `backups in ${path.join(bench.home, 'backups')}`, 'Nothing was changed.']) expect(stdout).to.contain(said);
  });

  it('says that the rows of a PostgreSQL server stay', async () => {
    writeFileSync(path.join(bench.home, 'config.toml'), '[storage]\nurl = "postgres://svc@127.0.0.1:1/svc"\n');
    expect((await bench.run(['reset', 'data', '--dry-run'])).stdout).to.contain('the PostgreSQL database');
  });

  it('deletes nothing without an answer, and is refused beside a daemon that runs', async () => {
    const before = there();
    const asked = await bench.run(['reset', 'all']);
    expect([asked.code, asked.stderr.includes('svc reset all --yes')]).to.deep.equal([2, true]);
    runsHere();
    for (const args of [
      ['reset', 'all', '--yes'],
      ['reset', 'config', '--yes'],
    ]) {
      const refused = await json(args);
      expect([refused.code, refused.value.code]).to.deep.equal([1, 'daemon_already_running']);
    }
    expect(there().filter((name) => name !== 'daemon.json')).to.deep.equal(before);
  });

  it('is refused by the lock of a daemon that has no daemon.json yet', async () => {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    writeFileSync(path.join(bench.home, 'daemon.lock'), JSON.stringify({ pid: process.pid, startedAt: started, bootId: boot }));
    const refused = await json(['reset', 'data', '--yes']);
    expect([refused.code, refused.value.code, existsSync(path.join(bench.home, 'data/svc.db'))]).to.deep.equal([1, 'daemon_already_running', true]);
  });

  it('asks a person to type the scope, and takes nothing else', async () => {
    const terminal: PseudoTerminal = openTerminal(['reset', 'data'], 100, { env: bench.env, cwd: user });
    await terminal.shows('Type data to continue');
    terminal.type('all\r');
    await terminal.shows('Type data, or press Ctrl-C.');
    terminal.type('\u007f\u007f\u007fdata\r');
    expect((await terminal.end).code).to.equal(0);
    expect(there()).to.deep.equal(['backups', 'config.toml', 'logs', 'mine.txt']);
  });

  it('deletes a link, and nothing behind it', async () => {
    const elsewhere = path.join(user, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'precious.txt'), 'x');
    symlinkSync(elsewhere, path.join(bench.home, 'checkpoints'));
    symlinkSync(elsewhere, path.join(bench.home, 'data/link'));
    expect((await json(['reset', 'data', '--yes'])).code).to.equal(0);
    expect([there(), readdirSync(elsewhere)]).to.deep.equal([['backups', 'config.toml', 'logs', 'mine.txt'], ['precious.txt']]);
  });

  it('uninstall removes completion lines and keeps the home, unless it is asked for', async () => {
    writeFileSync(path.join(user, '.bashrc'), `alias a=b\n${COMPLETION}\nexport C=d\n`);
    const before = there();
    const dry = await bench.run(['uninstall', '--dry-run']);
    expect(dry.stdout)
      .to.contain(`tab completion in ${path.join(user, '.bashrc')}`)
      .and.contain('--purge')
      .and.contain('Nothing was changed.');
    expect(readFileSync(path.join(user, '.bashrc'), 'utf8')).to.contain(COMPLETION);
    expect((await json(['uninstall', '--yes'])).value.status).to.equal('uninstalled');
    expect([readFileSync(path.join(user, '.bashrc'), 'utf8'), there()]).to.deep.equal(['alias a=b\nexport C=d\n', before]);
    expect((await json(['uninstall', '--data', '--yes'])).code).to.equal(0);
    expect(there()).to.deep.equal(['backups', 'mine.txt']);
    expect((await json(['uninstall', '--purge', '--yes'])).code).to.equal(0);
    expect(there()).to.deep.equal(['mine.txt']);
  });

  it('uninstall asks before it deletes data', async () => {
    const refused = await bench.run(['uninstall', '--data']);
    expect([refused.code, refused.stderr.includes('svc uninstall --data --yes'), existsSync(path.join(bench.home, 'data'))]).to.deep.equal([2, true, true]);
  });
});
