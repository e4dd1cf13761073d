/** A home is the old one or the restored one, wherever a restore is interrupted. */
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { REPLACED_PATHS } from '../../src/backup/home-files.js';
import { confirmSwap, lastRestore, revertOpenSwap, swapIn } from '../../src/backup/restore-swap.js';
import { put } from './backup-kit.js';

const AT = '2026-01-31T12:00:00.000Z';
const OLD = ['config.toml', 'workspaces/a/one.txt', 'data/svc.db', 'data/svc.db-identity.json', 'data/uploads/x'];
const NEW = ['config.toml', 'workspaces/b/two.txt', 'data/svc.db', 'templates/t.toml'];

describe('a restored home', () => {
  let dir: string;
  let home: string;
  const plan = () => ({ filename: 'x.tar.gz', staged: join(home, 'backups/.staged'), safety: 'safe.tar.gz', actor: 'owner' });
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-swap-'));
    home = join(dir, 'home');
    for (const path of OLD) await put(home, path, `old ${path}`);
    for (const path of NEW) await put(join(home, 'backups/.staged'), path, `new ${path}`);
    await put(home, 'logs/x.log', 'a line');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const isOld = async (): Promise<void> => {
    for (const path of OLD) expect(await readFile(join(home, path), 'utf8')).to.equal(`old ${path}`);
    for (const path of ['templates', 'workspaces/b', 'data/svc.db-wal', 'restore.json', 'backups/.staged', 'backups/.replaced']) expect(existsSync(join(home, path)), path).to.equal(false);
    expect(await readFile(join(home, 'logs/x.log'), 'utf8')).to.equal('a line');
  };

  it('has the parts of the backup and no other, and says so when it has started', async () => {
    await swapIn(home, plan());
    for (const path of NEW) expect(await readFile(join(home, path), 'utf8')).to.equal(`new ${path}`);
    for (const path of ['data/uploads', 'workspaces/a', 'data/svc.db-identity.json']) expect(existsSync(join(home, path)), path).to.equal(false);
    await confirmSwap(home, AT);
    expect(await lastRestore(home)).to.deep.equal({ filename: 'x.tar.gz', status: 'restored', at: AT, reason: null, safety_backup: 'safe.tar.gz', actor: 'owner' });
    expect(await revertOpenSwap(home, AT, 'late')).to.equal(false);
    expect(existsSync(join(home, 'backups/.replaced'))).to.equal(false);
  });

  it('X2 goes back whole, whatever its trial start has written', async () => {
    await swapIn(home, plan());
    await put(home, 'data/svc.db-wal', 'of the new database');
    await put(home, 'data/uploads/new', 'x');
    expect(await revertOpenSwap(home, AT, 'it did not start')).to.equal(true);
    await isOld();
    expect(await lastRestore(home)).to.include({ status: 'reverted', reason: 'it did not start' });
  });

  it('X1 X3 goes back from wherever it was interrupted, also when going back is interrupted', async () => {
    const [old, staged] = [join(home, 'backups/.replaced'), join(home, 'backups/.staged')];
    const moves = REPLACED_PATHS.flatMap((path) => [[path, join(home, path), join(old, path)] as const, [path, join(staged, path), join(home, path)] as const]);
    await swapIn(home, plan());
    const done = moves.filter(([path, , to]) => existsSync(to) && (to.startsWith(old) ? OLD.some((one) => one.startsWith(path)) : NEW.some((one) => one.startsWith(path))));
    // From the whole swap, one move less each time.
    const saved = join(dir, 'saved');
    for (let left = done.length; left >= 0; left -= 1) {
      await rm(saved, { recursive: true, force: true });
      await cp(home, saved, { recursive: true });
      await revertOpenSwap(home, AT, 'killed');
      await isOld();
      await rm(home, { recursive: true });
      await rename(saved, home);
      const last = done[left - 1];
      if (last) await rename(last[2], last[1]);
    }
  });
});
