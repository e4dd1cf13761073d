/** The database file alone is nearly current, and one that was exchanged, emptied or set back is known for it. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { identityFileOf } from '../../src/config/home.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const owner = { id: 'notes', tables: ['notes'] };

describe('the database file', () => {
  let root: string;
  let open: Storage[];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-identity-'));
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map((storage) => storage.close()));
    await rm(root, { recursive: true, force: true });
  });

  /** Opens what stands in a folder, a new database where there is none. */
  const start = async (folder: string): Promise<Storage> => {
    const storage = await openStorage({ file: join(root, folder, 'svc.db'), clock: systemClock(), log: silent, onEvents: () => undefined });
    open.push(storage);
    await storage.migrate(owner, [{ name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'text', primaryKey: true } }) }]);
    return storage;
  };
  const startNew = async (folder: string): Promise<Storage> => {
    await mkdir(join(root, folder));
    return start(folder);
  };
  const write = (storage: Storage, id: string): Promise<unknown> => storage.dbFor(owner).commit([storage.dbFor(owner).insert('notes', [{ id }])]);
  const notes = async (storage: Storage): Promise<string[]> => (await storage.dbFor(owner).system('a test').read<{ id: string }>('SELECT id FROM notes__notes ORDER BY id')).map(({ id }) => id);
  const rest = async (storage: Storage): Promise<void> => {
    for (let seconds = 0; seconds < 5; seconds++) await storage.tend();
  };
  /** What a copy of files by name finds on the disk at this moment. */
  const copy = async (from: string, to: string, isCopied: (name: string) => boolean): Promise<void> => {
    await mkdir(join(root, to), { recursive: true });
    for (const name of (await readdir(join(root, from))).filter(isCopied)) await copyFile(join(root, from, name), join(root, to, name));
  };
  const only = (name: string): boolean => name === 'svc.db';
  const withoutWal = (name: string): boolean => !/-(wal|shm)$/.test(name);

  it('holds what migrations made as soon as it is looked after, and what was written after a rest', async () => {
    const first = await startNew('a');
    await first.tend();
    await copy('a', 'b', only);
    expect(await notes(await start('b'))).to.deep.equal([]);

    await write(first, 'one');
    await rest(first);
    await copy('a', 'c', only);

    const copied = await start('c');
    expect([await notes(copied), copied.identityProblem()]).to.deep.equal([['one'], undefined]);
  });

  it('holds what was written under steady load for a minute', async () => {
    const first = await startNew('a');
    for (let second = 0; second < 70; second++) {
      await write(first, `note-${second}`);
      await first.tend();
    }
    await copy('a', 'b', only);

    expect((await notes(await start('b'))).length).to.be.greaterThan(50);
  });

  it('that lost what was written after its rest is known to be older', async () => {
    const first = await startNew('a');
    await rest(first);
    await write(first, 'late');
    await first.tend();
    await copy('a', 'b', withoutWal);

    expect((await start('b')).identityProblem()).to.contain('older');
  });

  it('with its -wal is the same after a death at any moment', async () => {
    const first = await startNew('a');
    await rest(first);
    await copy('a', 'b', () => true);
    await write(first, 'late');
    await copy('a', 'c', () => true);
    await first.tend();
    await copy('a', 'd', () => true);

    for (const folder of ['b', 'c', 'd']) expect((await start(folder)).identityProblem(), folder).to.equal(undefined);
  });

  it('that was set back to an earlier copy is known to be older, also one of before the end', async () => {
    const first = await startNew('a');
    await rest(first);
    await copy('a', 'kept', only);
    await write(first, 'late');
    await first.close();
    await copy('kept', 'a', only);

    expect((await start('a')).identityProblem()).to.contain('older');
  });

  it('that was exchanged, emptied or taken away is known not to be the one that was here', async () => {
    const first = await startNew('a');
    await rest(first);
    await first.close();
    const other = await startNew('other');
    await rest(other);
    await other.close();
    await copy('a', 'exchanged', withoutWal);
    await copy('other', 'exchanged', only);
    await copy('a', 'emptied', withoutWal);
    await writeFile(join(root, 'emptied', 'svc.db'), '');
    await copy('a', 'gone', (name) => name.endsWith('.json'));

    expect((await start('exchanged')).identityProblem()).to.contain('another database');
    expect((await start('emptied')).identityProblem()).to.contain('is missing');
    expect((await start('gone')).identityProblem()).to.contain('is missing');
  });

  it('beside a note that cannot be read is said to be unknown', async () => {
    const first = await startNew('a');
    await rest(first);
    await first.close();
    await writeFile(identityFileOf(join(root, 'a', 'svc.db')), '{"id": 3');

    expect((await start('a')).identityProblem()).to.contain('cannot be read');
  });

  it('that does not fit is said to over restarts, until it is accepted while it runs', async () => {
    const first = await startNew('a');
    await rest(first);
    await first.close();
    await rm(join(root, 'a', 'svc.db'));
    const second = await start('a');
    await write(second, 'new');
    await rest(second);
    await second.close();
    const third = await start('a');
    await rest(third);
    expect(third.identityProblem()).to.contain('is missing');

    await rm(identityFileOf(join(root, 'a', 'svc.db')));
    await rest(third);

    expect(third.identityProblem()).to.equal(undefined);
    expect(JSON.parse(await readFile(identityFileOf(join(root, 'a', 'svc.db')), 'utf8'))).to.have.keys('id', 'mark');
    await third.close();
    expect((await start('a')).identityProblem()).to.equal(undefined);
  });
});
