import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { mountSmall } from '@svc/testing';
import { expect } from 'chai';
import { bytesOf } from '../src/repository/compaction.js';
import { openRepository, removeRepositories } from './repository-kit.js';

describe('a snapshot repository', () => {
  afterEach(removeRepositories);

  it('S1 holds the files that svc has written, as they were before a call, and the one that the call writes over', async () => {
    const repo = openRepository();
    repo.write('theirs.txt', 'never written by svc');
    repo.write('notes.txt', 'a person wrote this');
    const { commit } = await repo.take(['notes.txt', 'new.txt']);
    expect(repo.git('ls-tree', '-r', '--name-only', commit)).to.equal('notes.txt');
    expect(repo.git('show', `${commit}:notes.txt`)).to.equal('a person wrote this');
    repo.fsck();
  });

  it('S2 has in the next snapshot what a call wrote, and what another program changed since is in the first one of a process', async () => {
    const repo = openRepository();
    await repo.take(['src/a.txt']);
    repo.write('src/a.txt', 'one');
    await repo.follow(['src/a.txt']);
    const { commit } = await repo.take(['src/b.txt']);
    expect(repo.git('show', `${commit}:src/a.txt`)).to.equal('one');
    repo.write('src/a.txt', 'two, by an editor');
    expect(repo.git('show', `${(await repo.take([])).commit}:src/a.txt`)).to.equal('one');
    expect(repo.git('show', `${(await repo.take([], { is_first: true })).commit}:src/a.txt`)).to.equal('two, by an editor');
    rmSync(repo.path('src/a.txt'));
    expect(repo.git('ls-tree', '-r', '--name-only', (await repo.take([], { is_first: true })).commit)).to.equal('');
    repo.fsck();
  });

  it('brings back content, executable bits and links, and leaves what came later', async () => {
    const repo = openRepository();
    repo.write('run.sh', '#!/bin/sh\n', 0o755);
    repo.write('deep/down/text.txt', 'before');
    symlinkSync('deep/down/text.txt', repo.path('link'));
    const { commit } = await repo.take(['run.sh', 'deep/down/text.txt', 'link']);
    chmodSync(repo.path('run.sh'), 0o600);
    rmSync(repo.path('deep'), { recursive: true });
    rmSync(repo.path('link'));
    repo.write('link', 'no link any more');
    repo.write('later.txt', 'stays');
    const { restored, skipped, unchanged } = await repo.restore(commit.slice(0, 8));
    expect([[...restored].sort(), skipped, unchanged]).to.deep.equal([['deep/down/text.txt', 'link', 'run.sh'], [], 0]);
    expect(readFileSync(repo.path('deep/down/text.txt'), 'utf8')).to.equal('before');
    expect(readlinkSync(repo.path('link'))).to.equal('deep/down/text.txt');
    expect((statSync(repo.path('run.sh')).mode & 0o777).toString(8)).to.equal('700');
    expect(readFileSync(repo.path('later.txt'), 'utf8')).to.equal('stays');
  });

  it('R1 keeps the present state as a snapshot, so that a restore can be undone', async () => {
    const repo = openRepository();
    repo.write('a.txt', 'one');
    const { commit } = await repo.take(['a.txt']);
    repo.write('a.txt', 'two, which nobody noted');
    const { safety_commit: safety, restored } = await repo.restore(commit);
    expect([restored, readFileSync(repo.path('a.txt'), 'utf8')]).to.deep.equal([['a.txt'], 'one']);
    await repo.restore(safety);
    expect(readFileSync(repo.path('a.txt'), 'utf8')).to.equal('two, which nobody noted');
    expect((await repo.restore(safety)).unchanged).to.equal(1);
  });

  it('C2 leaves out excluded folders wherever they are, and files of more than 50 KB, and says so', async () => {
    const repo = openRepository();
    const excluded = ['node_modules/x.js', 'a/target/x', '.venv/x', 'a/venv/x', 'env/x', '.git/config', 'a/__pycache__/x', 'dist/x', 'b/build/x', 'sub/.git'];
    for (const path of excluded) repo.write(path, 'x');
    repo.write('just.bin', Buffer.alloc(50 * 1024));
    repo.write('large.bin', Buffer.alloc(50 * 1024 + 1));
    repo.write('build.txt', 'a file may have the name');
    const { commit, left_out: leftOut } = await repo.take([...excluded, 'just.bin', 'large.bin', 'build.txt', '../out', '/etc/passwd', 'a//b', 'a\0b']);
    expect(repo.git('ls-tree', '-r', '--name-only', commit).split('\n')).to.deep.equal(['build.txt', 'just.bin']);
    expect(leftOut.filter(({ why }) => why === 'excluded').map(({ path }) => path)).to.deep.equal(excluded);
    expect(leftOut.filter(({ why }) => why !== 'excluded').map(({ why }) => why)).to.deep.equal(['too_large', 'bad_path', 'bad_path', 'bad_path', 'bad_path']);
    expect(repo.git('log', '-1', '--format=%b', commit)).to.contain('left-out: "large.bin" too_large');
  });

  it('never holds what lies behind a link in the way of a path, and writes nothing through one', async () => {
    const repo = openRepository();
    const outside = join(repo.folder, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret.txt'), 'secret');
    repo.write('in/secret.txt', 'mine');
    const { commit } = await repo.take(['in/secret.txt']);
    rmSync(repo.path('in'), { recursive: true });
    symlinkSync(outside, repo.path('in'));
    const taken = await repo.take(['in/secret.txt']);
    expect(taken.left_out).to.deep.equal([{ path: 'in/secret.txt', why: 'through_a_link' }]);
    expect(repo.git('ls-tree', '-r', '--name-only', taken.commit)).to.equal('');
    const { skipped, restored } = await repo.restore(commit);
    expect([restored, skipped]).to.deep.equal([[], [{ path: 'in/secret.txt', why: 'through_a_link' }]]);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).to.equal('secret');
  });

  it('names what could not be brought back, path by path', async () => {
    const repo = openRepository();
    repo.write('a', 'a file');
    repo.write('b/c', 'a file');
    const { commit } = await repo.take(['a', 'b/c']);
    rmSync(repo.path('a'));
    mkdirSync(repo.path('a'));
    rmSync(repo.path('b'), { recursive: true });
    repo.write('b', 'a file now');
    const { skipped, restored } = await repo.restore(commit);
    expect(restored).to.deep.equal([]);
    expect(skipped.map(({ path, why }) => `${path} ${why}`)).to.deep.equal(['a folder_in_place', 'b/c through_a_link']);
  });

  it('finds what a command changed, tracks it from then on, and says what no snapshot holds', async () => {
    const repo = openRepository();
    repo.write('ours.txt', 'one');
    await repo.take(['ours.txt']);
    repo.write('theirs.txt', 'theirs');
    repo.write('gone.txt', 'gone');
    repo.write('large.bin', Buffer.alloc(60_000));
    const before = await repo.take([], { command: 'call-1' });
    repo.write('ours.txt', 'two');
    repo.write('theirs.txt', 'changed');
    repo.write('constructor', 'made');
    rmSync(repo.path('gone.txt'));
    rmSync(repo.path('large.bin'));
    expect(await repo.follow([], 'call-1')).to.deep.include({ created: 1, changed: 2, removed: 2, left_out: 0 });
    const after = await repo.take([], { command: 'call-2' });
    expect(repo.git('ls-tree', '-r', '--name-only', after.commit).split('\n')).to.deep.equal(['constructor', 'ours.txt', 'theirs.txt']);
    const result = await repo.restore(before.commit);
    expect(readFileSync(repo.path('ours.txt'), 'utf8')).to.equal('one');
    expect(result.not_kept.map(({ path, why }) => `${path} ${why}`).sort()).to.deep.equal(['gone.txt not_tracked', 'large.bin too_large', 'theirs.txt not_tracked']);
    expect((await repo.restore(after.commit)).not_kept).to.deep.equal([]);
    repo.fsck();
  });

  it('names what tools and commands created since and is there, also what no snapshot holds, and nothing that was there before', async () => {
    const repo = openRepository();
    repo.write('theirs.txt', 'theirs');
    const { commit } = await repo.take([], { command: 'call-1' });
    repo.write('made.txt', 'made');
    repo.write('large.log', Buffer.alloc(60_000));
    repo.write('gone.txt', 'for a while');
    await repo.follow([], 'call-1');
    await repo.take(['theirs.txt', 'tool.txt']);
    repo.write('theirs.txt', 'changed');
    repo.write('tool.txt', 'by a tool');
    await repo.follow(['theirs.txt', 'tool.txt']);
    const { commit: last } = await repo.take([], { command: 'call-2' });
    rmSync(repo.path('gone.txt'));
    await repo.follow([], 'call-2');
    const { created_later: later, created_later_more: more } = await repo.compare(commit);
    expect([later, more]).to.deep.equal([['large.log', 'made.txt', 'tool.txt'], 0]);
    expect((await repo.compare(last)).created_later).to.deep.equal([]);
  });

  it('holds the whole folder before a command where the scope says so', async () => {
    const repo = openRepository();
    repo.write('src/theirs.txt', 'theirs');
    repo.write('node_modules/x.js', 'x');
    const { commit } = await repo.take([], { command: 'c', scope: 'workspace' });
    rmSync(repo.path('src'), { recursive: true });
    await repo.follow([], 'c');
    const { restored, not_kept: notKept } = await repo.restore(commit);
    expect([restored, notKept]).to.deep.equal([['src/theirs.txt'], []]);
  });

  it('notices a change that leaves size and time as they were', async () => {
    const repo = openRepository();
    repo.write('a.txt', 'one');
    const { mtime, atime } = statSync(repo.path('a.txt'));
    await repo.take(['a.txt'], { command: 'c' });
    repo.write('a.txt', 'two');
    const { utimesSync } = await import('node:fs');
    utimesSync(repo.path('a.txt'), atime, mtime);
    expect(await repo.follow([], 'c')).to.include({ changed: 1 });
  });

  it('lists snapshots, newest first, and previews a restore', async () => {
    const repo = openRepository();
    repo.write('a.txt', 'one\ntwo\n');
    repo.write('bin', Buffer.from([0, 1]));
    repo.write('same', 'same');
    const { commit } = await repo.take(['a.txt', 'bin', 'same'], { message: 'first\n\ntool: x\n' });
    await repo.take([], { message: 'second\n' });
    expect((await repo.list()).snapshots.map(({ message }) => message)).to.deep.equal(['second', 'first\n\ntool: x']);
    repo.write('a.txt', 'one\nthree\n');
    rmSync(repo.path('bin'));
    const { files } = await repo.compare(commit);
    expect(files.map(({ path, state }) => `${path} ${state}`)).to.deep.equal(['a.txt changed', 'bin missing', 'same same']);
    expect(files[0]?.diff).to.contain('-three\n+two\n');
    expect(files[1]?.diff).to.equal(null);
  });

  it('refuses a commit that is none, is ambiguous or does not exist, and a folder without snapshots', async () => {
    const repo = openRepository();
    expect((await repo.refused('abcd')).failed).to.equal('no_repository');
    repo.write('a', 'x');
    const { commit } = await repo.take(['a']);
    expect((await repo.refused('0'.repeat(40))).failed).to.equal('unknown_commit');
    expect((await repo.refused(repo.git('rev-parse', `${commit}^{tree}`))).failed).to.equal('unknown_commit');
    for (let i = 0; i < 300; i++) repo.write(`many/${i}`, `${i}`);
    await repo.take(Array.from({ length: 300 }, (_, i) => `many/${i}`));
    const oids = repo.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)').split('\n');
    const first = oids.map((oid) => oid.slice(0, 3)).find((start, at, all) => all.indexOf(start) !== at) ?? '';
    expect((await repo.refused(first)).failed).to.equal('ambiguous_commit');
  });

  it('C1 refuses a link, a file and the root as a working folder, and touches no .git of it', async () => {
    const repo = openRepository();
    repo.write('.git/HEAD', 'ref: refs/heads/theirs\n');
    repo.write('a', 'x');
    await repo.take(['a', '.git/HEAD']);
    expect(readFileSync(repo.path('.git/HEAD'), 'utf8')).to.equal('ref: refs/heads/theirs\n');
    renameSync(repo.folder, `${repo.folder}-real`);
    symlinkSync(`${repo.folder}-real`, repo.folder);
    expect(await repo.take(['a'])).to.deep.include({ failed: 'bad_root', detail: `${repo.folder} is a link` });
    rmSync(repo.folder);
    writeFileSync(repo.folder, 'a file');
    expect(await repo.take(['a'])).to.deep.include({ failed: 'bad_root' });
    rmSync(repo.folder);
    expect(await repo.take(['a']), 'a folder that is not there yet').to.have.property('commit');
  });

  it('K1, K2 stays below its limit: the newest snapshots stay with their ids, the real git accepts what is left', async () => {
    const repo = openRepository();
    const random = (seed: number): Buffer => {
      // Does not compress, so that sizes are what they seem.
      const bytes = Buffer.alloc(20_000);
      for (let i = 0, at = seed; i < bytes.length; i++) {
        at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
        bytes[i] = at >> 16;
      }
      return bytes;
    };
    const commits: string[] = [];
    for (let i = 0; i < 16; i++) {
      repo.write('data.bin', random(i));
      commits.push((await repo.take(['data.bin'])).commit);
    }
    const whole = await repo.compact(1_000_000_000);
    expect(whole).to.include({ snapshots: 16, dropped: 0 });
    repo.fsck();
    expect(readdirSync(join(repo.gitdir, 'objects')).filter((name) => name.length === 2)).to.deep.equal([]);
    const cut = await repo.compact(200_000);
    expect(cut.bytes).to.be.below(200_000);
    expect(cut.snapshots).to.be.within(3, 8);
    repo.fsck();
    expect(repo.git('log', '--format=%H').split('\n')).to.deep.equal(commits.slice(-cut.snapshots).reverse());
    const oldest = commits.at(-cut.snapshots) ?? '';
    await repo.restore(oldest);
    expect(Buffer.compare(readFileSync(repo.path('data.bin')), random(16 - cut.snapshots))).to.equal(0);
    expect((await repo.refused(commits[0] ?? '')).failed).to.equal('unknown_commit');
    repo.write('data.bin', 'next');
    await repo.take(['data.bin']);
    repo.fsck();
  });

  it('P3 moves a repository aside that cannot be read and starts a new one; a restore from it changes nothing', async () => {
    const repo = openRepository();
    repo.write('a.txt', 'one');
    repo.write('0-first.txt', 'one');
    const { commit } = await repo.take(['a.txt', '0-first.txt']);
    const blob = repo.git('rev-parse', `${commit}:a.txt`);
    const fileOf = (oid: string): string => join(repo.gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
    chmodSync(fileOf(blob), 0o644);
    truncateSync(fileOf(blob), 3);
    repo.write('a.txt', 'two');
    repo.write('0-first.txt', 'two');
    expect((await repo.refused(commit)).failed).to.equal('broken');
    expect(['a.txt', '0-first.txt'].map((name) => readFileSync(repo.path(name), 'utf8'))).to.deep.equal(['two', 'two']);
    const tree = repo.git('rev-parse', 'main^{tree}');
    chmodSync(fileOf(tree), 0o644);
    truncateSync(fileOf(tree), 3);
    const taken = await repo.take(['a.txt']);
    expect(taken.moved_aside).to.equal(`${repo.gitdir}.broken`);
    expect(existsSync(join(repo.gitdir, 'HEAD')) && existsSync(join(`${repo.gitdir}.broken`, 'HEAD'))).to.equal(true);
    expect((await repo.restore(taken.commit)).unchanged).to.equal(1);
    const again = repo.git('rev-parse', 'main^{tree}');
    chmodSync(fileOf(again), 0o644);
    truncateSync(fileOf(again), 3);
    expect((await repo.take(['a.txt'])).moved_aside).to.equal(`${repo.gitdir}.broken-2`);
    expect(existsSync(join(`${repo.gitdir}.broken`, 'HEAD'))).to.equal(true);
  });

  it('C2 leaves out names that no git reads, names them, and keeps its history readable', async () => {
    const repo = openRepository();
    const names = ['a\\b.txt', 'GIT~1', '.git\u200c', '.Git. '];
    for (const name of ['kept.txt', ...names]) repo.write(name, 'one');
    const first = await repo.take(['kept.txt', ...names]);
    expect(first.left_out).to.deep.equal(names.map((path) => ({ path, why: 'bad_path' })));
    repo.write('kept.txt', 'two');
    const second = await repo.take(['kept.txt', ...names]);
    expect([first.moved_aside, second.moved_aside]).to.deep.equal([null, null]);
    await repo.restore(first.commit);
    expect(readFileSync(repo.path('kept.txt'), 'utf8')).to.equal('one');
  });

  it('C4 stores no more of a folder than 8 MB of names, and says that what a command changes is not followed', async () => {
    const repo = openRepository();
    repo.write('kept.txt', 'one');
    await repo.take(['kept.txt'], { command: 'before', scope: 'workspace' });
    const deep = Array.from({ length: 14 }, (_, n) => `${n}`.repeat(200).slice(0, 200)).join('/');
    for (let n = 0; n < 3_200; n += 1) repo.write(`${deep}/${n}`, '');
    const taken = await repo.take([], { command: 'c', scope: 'workspace' });
    expect([taken.is_followed, await repo.follow([], 'c')]).to.deep.equal([false, { created: 0, changed: 0, removed: 0, bytes: 0, left_out: 0 }]);
    expect(bytesOf(repo.gitdir)).to.be.below(500_000);
    rmSync(repo.path(deep.split('/')[0] ?? ''), { recursive: true });
    expect((await repo.take([], { command: 'd' })).is_followed).to.equal(true);
  });

  it('C4 takes no more than 64 MB with one call, and leaves the rest to the next', async () => {
    const repo = openRepository();
    const names = Array.from({ length: 1_400 }, (_, n) => `${n}`.padStart(4, '0'));
    for (const name of names) repo.write(name, Buffer.alloc(50_000));
    const taken = await repo.take(names);
    expect(taken.left_out).to.deep.equal(names.slice(1_343).map((path) => ({ path, why: 'too_many' })));
    expect(taken.bytes).to.be.within(10_000, 1_000_000);
    expect((await repo.take(names.slice(1_343))).left_out).to.deep.equal([]);
    const first = await repo.take(['0000'], { is_first: true });
    expect(first.bytes).to.equal(bytesOf(repo.gitdir));
  });

  it('takes nothing on a full disk, keeps what it has, and goes on once there is room', async function () {
    const disk = await mountSmall();
    if (!disk) return this.skip(); // not root, or not Linux
    try {
      const repo = openRepository(disk.dir);
      repo.write('a.txt', 'one');
      const { commit } = await repo.take(['a.txt']);
      // Random, so that no block is left for it.
      for (let n = 0; n < 10; n += 1) repo.write(`b${n}.bin`, randomBytes(40_000));
      await disk.fill();
      const failure: unknown = await repo.take(Array.from({ length: 10 }, (_, n) => `b${n}.bin`)).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'ENOSPC');
      await disk.empty();
      const later = await repo.take(['a.txt', 'b0.bin']);
      expect([later.moved_aside, (await repo.list()).snapshots.map((one) => one.commit)]).to.deep.equal([null, [later.commit, commit]]);
      repo.fsck();
    } finally {
      await disk.unmount();
    }
  });

  it('clears away what a crash left', async () => {
    const repo = openRepository();
    repo.write('a.txt', 'one');
    await repo.take(['a.txt'], { command: 'c' });
    const left = [join(repo.gitdir, 'HEAD.99.tmp'), join(repo.gitdir, 'svc', 'look.json.tmp')];
    for (const file of left) writeFileSync(file, 'half');
    writeFileSync(join(repo.gitdir, 'svc', 'changes.jsonl'), '{"commit":"ab');
    await repo.compact(1_000_000_000);
    expect(left.filter((file) => lstatSync(file, { throwIfNoEntry: false }))).to.deep.equal([]);
    expect((await repo.list()).total).to.equal(1);
    await repo.restore((await repo.list()).snapshots[0]?.commit ?? '');
  });
});
