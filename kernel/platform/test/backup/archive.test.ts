/** What a backup holds, and that an archive is used whole or not at all. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isSvcError } from '@svc/api';
import { mountSmall } from '@svc/testing/small-disk';
import { expect } from 'chai';
import { type Header, pack } from 'tar-stream';
import { createBackupList } from '../../src/backup/backups-folder.js';
import type { CreatedBackup } from '../../src/backup/create-backup.js';
import { findHomeFiles } from '../../src/backup/home-files.js';
import { databaseFault, stageBackup } from '../../src/backup/staged-backup.js';
import { openSqlite } from '../../src/storage/sqlite/sqlite-connection.js';
import type { Storage } from '../../src/storage/storage.js';
import { addNumber, backUp, newHome, openHome, put, VERSION } from './backup-kit.js';

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (isSvcError(error)) return error.code;
    throw error;
  }
};

describe('a backup', () => {
  let home: string;
  let storage: Storage;
  let made: CreatedBackup;
  let whole: Buffer;
  before(async () => {
    ({ home, storage } = await newHome());
    for (let n = 1; n <= 30; n += 1) await addNumber(storage, 1, n);
    await put(home, 'workspaces/a/notes.txt', 'buy milk');
    await put(home, 'data/ext/vault/vault.enc', 'sealed');
    await put(home, 'data/ext/vault/vault.key', 'the-key');
    await put(home, 'logs/today.log', 'a line');
    await symlink('/etc/passwd', join(home, 'workspaces/a/link'));
    made = await backUp(home, storage);
    whole = await readFile(made.path);
  });
  after(async () => {
    await storage.close();
    await rm(home, { recursive: true, force: true });
  });
  const staged = () => join(home, 'backups', '.staged');
  const stage = async (bytes: Uint8Array, version = VERSION): Promise<string> => {
    const archive = join(home, 'backups', 'changed.tar.gz');
    await writeFile(archive, bytes);
    const code = await codeOf(stageBackup({ archive, folder: staged(), version }));
    if (code !== 'done') expect(existsSync(staged()), 'something was left').to.equal(false);
    return code;
  };
  const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const fileOf = (path: string, bytes: string | Buffer) => ({ path, size: bytes.length, sha256: digest(bytes), mode: 0o600 });
  /** An archive as somebody could write it by hand. */
  const archiveOf = async (manifest: object | undefined, entries: ReadonlyArray<readonly [Partial<Header> & { name: string }, string | Buffer]>): Promise<Buffer> => {
    const tar = pack();
    if (manifest) tar.entry({ name: 'manifest.json' }, JSON.stringify({ ...made.manifest, ...manifest }));
    for (const [header, bytes] of entries) tar.entry(header, bytes as Buffer);
    tar.finalize();
    const pieces: Buffer[] = [];
    for await (const piece of tar as AsyncIterable<Buffer>) pieces.push(piece);
    return gzipSync(Buffer.concat(pieces));
  };

  it('H1 H2 holds the database and the files of the home, and no key, link or log', async () => {
    expect(made.manifest.files.map(({ path }) => path)).to.deep.equal(['data/svc.db', 'workspaces/a/notes.txt', 'data/ext/vault/vault.enc']);
    expect(made.manifest.left_out).to.deep.equal(['workspaces/a/link: not a file', 'data/ext/vault/vault.key: a key']);
    expect(made.manifest.tables).to.include({ acme__numbers: 30, acme__migrations: 1 });
    expect(made.manifest.components).to.deep.equal(['database', 'workspaces', 'extension data']);
    expect(gunzipSync(whole).includes('the-key')).to.equal(false);
    expect(statSync(made.path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(join(home, 'backups')).filter((name) => name.startsWith('.'))).to.deep.equal([]);
  });

  it('H2 H3 brings back names with a backslash, and leaves out and names what holds more hole than bytes or cannot be read', async () => {
    await put(home, 'workspaces/a/back\\slash.txt', 'kept');
    await put(home, 'workspaces/a/hole.bin', '');
    await truncate(join(home, 'workspaces/a/hole.bin'), 4 * 2 ** 40);
    await put(home, 'workspaces/a/locked/x.txt', 'x');
    await writeFile(Buffer.concat([Buffer.from(join(home, 'workspaces/a/')), Buffer.from([0xe9, 0x2e])]), 'latin');
    const all = await findHomeFiles(home);
    expect(all.leftOut.find((one) => one.includes('hole.bin'))).to.match(/^workspaces\/a\/hole\.bin: it is a file with holes: 4398046511104 bytes/);
    expect(all.leftOut).to.include('workspaces/a/\ufffd.: its name is no UTF-8');
    const again = await backUp(home, storage);
    for (const name of ['back\\slash.txt', 'hole.bin', 'locked']) await rm(join(home, 'workspaces/a', name), { recursive: true });
    expect(await stage(await readFile(again.path))).to.equal('done');
    expect(await readFile(join(staged(), 'workspaces/a/back\\slash.txt'), 'utf8')).to.equal('kept');
    await rm(staged(), { recursive: true });
    await rm(again.path);
  });

  it('unpacks to what it was made of', async () => {
    expect(await stage(whole)).to.equal('done');
    expect(await readFile(join(staged(), 'workspaces/a/notes.txt'), 'utf8')).to.equal('buy milk');
    await rm(staged(), { recursive: true });
  });

  it('R1 is refused when it is cut, changed by one byte, incomplete, newer, or no backup at all', async () => {
    const changed = Buffer.from(whole);
    changed[changed.length - 60] = (changed[changed.length - 60] ?? 0) ^ 1;
    expect(await stage(changed)).to.equal('backup_broken');
    for (const length of [0, 5, 400, Math.floor(whole.length / 2), whole.length - 9]) expect(await stage(whole.subarray(0, length)), `${length} bytes`).to.equal('backup_broken');
    expect(await stage(Buffer.from('not a backup'))).to.equal('backup_broken');
    expect(await stage(await archiveOf(undefined, [[{ name: 'data/svc.db' }, 'x']]))).to.equal('backup_broken');
    expect(await stage(await archiveOf({}, []))).to.equal('backup_broken');
    expect(await stage(await archiveOf({ files: [fileOf('data/svc.db', 'no database')] }, [[{ name: 'data/svc.db' }, 'no database']]))).to.equal('backup_broken');
    expect(await stage(await archiveOf({ files: [fileOf('data/svc.db', 'one')] }, [[{ name: 'data/svc.db' }, 'two']]))).to.equal('backup_broken');
    for (const manifest of [{ version: 2 }, { svc_version: '1.2.4' }, { svc_version: '2.0.0' }]) expect(await stage(await archiveOf(manifest, [])), JSON.stringify(manifest)).to.equal('backup_newer');
    expect(await stage(whole, '1.2.2')).to.equal('backup_newer');
  });

  it('R1 is refused when its database has other rows than its manifest says', async () => {
    const tar = gunzipSync(whole);
    const text = tar.subarray(512).toString('latin1');
    // As long as before, so that the header stays right.
    const at = text.indexOf('"acme__numbers":30');
    tar.write('"acme__numbers":31', 512 + at, 'latin1');
    expect(await stage(gzipSync(tar))).to.equal('backup_broken');
  });

  it('R2 is refused when an entry leads out of the home, or is no file', async () => {
    for (const path of ['/etc/cron.d/x', '../x', 'workspaces/../../x', 'workspaces//x', 'data/ext/vault/vault.key', 'owner.key', 'backups/x', 'data/other', 'workspaces\\x'])
      expect(await stage(await archiveOf({ files: [...made.manifest.files, fileOf(path, 'x')] }, [[{ name: path }, 'x']])), path).to.equal('backup_unsafe');
    const named = { files: [fileOf('data/svc.db', 'x'), fileOf('workspaces/x', '')] };
    for (const type of ['symlink', 'link', 'character-device', 'block-device', 'fifo'] as const)
      expect(await stage(await archiveOf(named, [[{ name: 'workspaces/x', type, linkname: '/etc/passwd' }, '']])), type).to.equal('backup_unsafe');
    expect(await stage(await archiveOf({}, [[{ name: 'workspaces/other' }, 'x']]))).to.equal('backup_unsafe');
    expect(existsSync('/etc/cron.d/x')).to.equal(false);
  });

  it('R3 is refused when it unpacks to more than it announces, or than the disk holds', async () => {
    const zeros = Buffer.alloc(32 * 1_048_576);
    expect(await stage(await archiveOf({ files: [fileOf('data/svc.db', 'x')] }, [[{ name: 'data/svc.db' }, zeros]]))).to.equal('backup_broken');
    const huge = { files: [{ ...fileOf('data/svc.db', 'x'), size: Math.floor(Number.MAX_SAFE_INTEGER / 4) }] };
    expect(await stage(await archiveOf(huge, []))).to.equal('backup_no_space');
  });

  it('C2 leaves nothing on a disk that fills up, and says that it is full', async function () {
    const disk = await mountSmall();
    if (!disk) return this.skip();
    const small = await openHome(disk.dir);
    try {
      expect(await codeOf(backUp(disk.dir, small))).to.equal('backup_no_space');
      expect(readdirSync(join(disk.dir, 'backups'))).to.deep.equal([]);
    } finally {
      await small.close();
      await disk.unmount();
    }
  });

  it('C2 says when the folder cannot be written', async function () {
    const disk = await mountSmall();
    if (!disk) return this.skip();
    const run = promisify(execFile);
    await mkdir(join(disk.dir, 'backups'));
    await run('mount', ['-o', 'remount,ro', disk.dir]);
    try {
      expect(await codeOf(backUp(disk.dir, storage))).to.equal('backup_unwritable');
    } finally {
      await disk.unmount();
    }
  });

  it('is listed by its manifest, also when it cannot be restored, and deleted by its plain name alone', async () => {
    await mkdir(join(home, 'backups'), { recursive: true });
    await writeFile(join(home, 'backups', 'broken.tar.gz'), 'x');
    await writeFile(join(home, 'backups', 'config.toml.prev'), 'x');
    const list = createBackupList(home, VERSION);
    const rows = (await list.all()).filter(({ filename }) => filename !== 'changed.tar.gz');
    expect(rows.map(({ filename, problem }) => [filename, problem !== undefined])).to.have.deep.members([
      [made.filename, false],
      ['broken.tar.gz', true],
    ]);
    for (const name of ['../data/svc.db', 'config.toml.prev', '.staged', '..tar.gz', 'a/b.tar.gz', 'a\\b.tar.gz', '', `${'x'.repeat(130)}.tar.gz`])
      expect(await codeOf(list.remove(name)), name).to.equal('backup_bad_name');
    expect(await codeOf(list.remove('missing.tar.gz'))).to.equal('backup_not_found');
    await list.remove('broken.tar.gz');
    expect(existsSync(join(home, 'backups', 'broken.tar.gz'))).to.equal(false);
  });

  it('gets a name of its own, also two in one second', async () => {
    const now = '2026-01-31T12:00:00.000Z';
    const names = [await backUp(home, storage, { now }), await backUp(home, storage, { now, cause: 'scheduled' }), await backUp(home, storage, { now })].map(({ filename }) => filename);
    expect(names).to.deep.equal(['svc_backup_20260131_120000.tar.gz', 'svc_backup_20260131_120000_scheduled.tar.gz', 'svc_backup_20260131_120000_2.tar.gz']);
  });

  it('says which table holds other values, though it has as many rows', async () => {
    const { manifest } = made;
    const restored = join(home, 'backups', '.sums');
    await stageBackup({ archive: made.path, folder: restored, version: VERSION });
    expect(await databaseFault(restored, manifest)).to.equal(undefined);
    const database = await openSqlite({ file: join(restored, 'data/svc.db'), readOnly: false, maxStatements: 1 });
    await database.exec("UPDATE acme__numbers SET n = 31 WHERE id = '1-30'");
    await database.close();
    expect(await databaseFault(restored, manifest)).to.equal('the table acme__numbers has the same 30 rows, but other values in them');
    const { sums: _, ...earlier } = manifest;
    expect(await databaseFault(restored, earlier), 'of an earlier svc').to.equal(undefined);
  });

  it('of an earlier svc has no sums, and can be restored', async () => {
    expect(await stage(gzipSync(Buffer.from(gunzipSync(whole).toString('latin1').replace('"sums":', '"xums":'), 'latin1')))).to.equal('done');
  });
});
