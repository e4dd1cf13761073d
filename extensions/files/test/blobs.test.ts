/** The bytes of uploads and the rows that tell of them: kept once, counted by rows, and whole whatever a crash cuts. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, type Dir, type Logger, isSvcError } from '@svc/api';
import { systemIds } from '@svc/platform/clock/ids';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { uploads as tables } from '../migrations/0001_uploads.js';
import { bin } from '../migrations/0002_bin.js';
import { type Blobs, createBlobs } from '../src/uploads/blobs.js';
import type { UploadRow } from '../src/tables.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const OWNED = { id: 'files', tables: ['uploads', 'blobs', 'strays'] };
const ROOM = 1_000_000_000;
const DAY_MS = 86_400_000;

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describeOnEngines('the bytes of uploads', (engine) => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let root: Dir;
  let nowMs: number;
  const ids = systemIds();
  const clock = { now: () => nowMs, iso: () => new Date(nowMs).toISOString(), mono: () => nowMs, sleep: async () => undefined };

  const blobsOver = (over: { db?: Db; root?: Dir } = {}): Blobs => createBlobs({ db, root, ids, clock, log: silent, trash: { holds: async () => false }, ...over });
  const rowOf = (ownerId: string, agentId = 'agent') => ({ id: ids.uuid(), owner_id: ownerId, agent_id: agentId, filename: 'a.txt', created_at: clock.iso(), path: null, keep_until: null });
  const send = async (blobs: Blobs, text: string, ownerId = 'owner', room = ROOM): Promise<UploadRow> =>
    blobs.keep(await blobs.receive({ name: 'a.txt', declared: 'text/plain', bytes: pieces(text) }, 1_000_000), rowOf(ownerId), room);
  const drop = async (blobs: Blobs, { id, sha256 }: UploadRow): Promise<void> => {
    await db.commit([db.remove('uploads', { id }, { expect: 1 }), ...(await blobs.noted(sha256))]);
    await blobs.letGo(sha256);
  };
  /** Folders with a file, and anything else that was left on the disk. */
  const onDisk = async (): Promise<string[]> => {
    const found = await readdir(join(home, 'uploads'), { recursive: true, withFileTypes: true }).catch(() => []);
    return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(join(home, 'uploads').length + 1));
  };
  const count = (table: string): Promise<number> => db.system('a test').count(table);

  beforeEach(async () => {
    nowMs = Date.parse('2026-01-01T00:00:00Z');
    home = await mkdtemp(join(tmpdir(), 'svc-blobs-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(OWNED, [tables, bin]);
    db = storage.dbFor(OWNED);
    root = openDir(join(home, 'uploads'));
  });
  afterEach(async () => {
    await storage.close();
    await rm(home, { recursive: true });
  });

  it('U2 are kept once for all who have them, and go with the last', async () => {
    const blobs = blobsOver();
    const [mine, theirs] = [await send(blobs, 'same'), await send(blobs, 'same', 'user:alice')];
    const other = await send(blobs, 'other');
    expect(await onDisk()).to.have.length(2);
    expect(await blobs.place(mine.sha256)).to.equal(await blobs.place(theirs.sha256));

    await drop(blobs, mine);
    expect(await onDisk()).to.have.length(2);
    await drop(blobs, theirs);
    expect(await onDisk()).to.deep.equal([await blobs.place(other.sha256)]);
    expect([await count('blobs'), await count('strays')]).to.deep.equal([1, 0]);
  });

  it('U2 are kept once when they come twenty times at the same moment', async () => {
    const blobs = blobsOver();
    const rows = await Promise.all(Array.from({ length: 20 }, () => send(blobs, 'at once')));
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(20);
    expect(await onDisk()).to.have.length(1);
    expect([await count('uploads'), await count('blobs'), await count('strays')]).to.deep.equal([20, 1, 0]);
  });

  it('U2 stay for whoever comes while the last of the others goes', async () => {
    for (let round = 0; round < 10; round++) {
      const blobs = blobsOver();
      const old = await send(blobs, `round ${round}`);
      const [fresh] = await Promise.all([send(blobs, `round ${round}`), drop(blobs, old)]);
      const path = await blobs.place(fresh.sha256);
      expect(path && (await root.stat(path))?.sizeBytes, `round ${round}`).to.equal(`round ${round}`.length);
    }
  });

  it('U2 stay for whoever comes between the count of who has them and their end', async () => {
    let late: Promise<UploadRow> | undefined;
    const counting: Db = {
      ...db,
      system: (why) => ({
        ...db.system(why),
        count: async (table, where) => {
          const found = await db.system(why).count(table, where);
          late ??= send(blobsOver(), 'wanted again');
          await late;
          return found;
        },
      }),
    };
    await drop(blobsOver({ db: counting }), await send(blobsOver(), 'wanted again'));
    const path = (await blobsOver().place((await late)?.sha256 ?? '')) ?? '';
    expect(await root.readText(path)).to.equal('wanted again');
  });

  it('U2 that somebody removed by hand come back with the next upload of the same', async () => {
    const blobs = blobsOver();
    const lost = await send(blobs, 'lost');
    await rm(join(home, 'uploads'), { recursive: true });
    const found = await send(blobs, 'lost');
    expect(await blobs.place(lost.sha256)).to.equal(await blobs.place(found.sha256));
    expect(await root.readText((await blobs.place(lost.sha256)) ?? '')).to.equal('lost');
  });

  it('leave nothing when they are refused on the way', async () => {
    const blobs = blobsOver();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('begun');
      throw new Error('cut off');
    }
    for (const [bytes, declared] of [
      [broken(), 'text/plain'],
      [pieces(''), 'text/plain'],
      [pieces('x'.repeat(101)), 'text/plain'],
      [pieces('no picture, but text'), 'image/png'],
    ] as const)
      expect(await blobs.receive({ name: 'a', declared, bytes }, 100).catch(() => 'refused')).to.equal('refused');
    expect([await onDisk(), await count('strays')]).to.deep.equal([[], 0]);
  });

  it('of one owner fit into the room that the owner has, also when they come at the same moment', async () => {
    const blobs = blobsOver();
    const room = 3 * (4_096 + 5);
    const came = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => send(blobs, `file${index}`, 'owner', room)));
    const refused = came.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).to.have.length(5);
    for (const error of refused) expect(isSvcError(error) && error.code).to.equal('upload_quota_exceeded');
    expect([await blobs.used('owner'), (await onDisk()).length, await count('strays')]).to.deep.equal([room, 3, 0]);
    await send(blobs, 'file0', 'user:alice', room);
  });

  it('that no upload has any more, because somebody was erased, go when they are looked for', async () => {
    const blobs = blobsOver();
    const rows = [await send(blobs, 'one'), await send(blobs, 'two'), await send(blobs, 'one', 'user:alice')];
    await db.commit([db.remove('uploads', { owner_id: 'owner' })]);
    await blobs.letGoUnnamed();
    expect(await onDisk()).to.deep.equal([await blobs.place(rows[0]?.sha256 ?? '')]);
  });

  /** A process that dies at its n-th effect: that one and all after it do not happen. */
  const dying = (after: number) => {
    let left = after;
    const or =
      <A extends unknown[], T>(effect: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (left-- <= 0) throw new Error('the process has died');
        return effect(...args);
      };
    return {
      isDead: () => left < 0,
      blobs: blobsOver({ db: { ...db, commit: or(db.commit) }, root: { ...root, remove: or(root.remove), writeStream: or(root.writeStream) } }),
    };
  };

  it('U1 U3 are whole after a death at any moment: what has a row has its bytes, and what has none goes', async () => {
    for (const work of ['the first', 'the same again', 'the last goes'] as const) {
      let deaths = 0;
      for (let after = 0; ; after++) {
        const text = `${work} ${after}`;
        const before = work === 'the first' ? undefined : await send(blobsOver(), text);
        const life = dying(after);
        const done = work === 'the last goes' && before ? dropDying(life.blobs, before) : send(life.blobs, text);
        await done.catch(() => undefined);
        if (!life.isDead()) break;
        deaths++;
        // An upload that is under way is left alone for long.
        const kept = await onDisk();
        if (work === 'the first') await blobsOver().sweep(100);
        if (work === 'the first') expect(await onDisk()).to.deep.equal(kept);
        nowMs += 3 * DAY_MS;
        await blobsOver().sweep(100);
        await expectWhole(`${work}, dead after ${after}`);
      }
      expect(deaths, work).to.be.greaterThan(1);
    }
  });

  /** The row goes in a commit of the life that is about to end. */
  const dropDying = async (blobs: Blobs, row: UploadRow): Promise<void> => {
    await db.commit([db.remove('uploads', { id: row.id }), ...(await blobs.noted(row.sha256))]);
    await blobs.letGo(row.sha256);
  };

  const expectWhole = async (when: string): Promise<void> => {
    const rows = await db.system('a test').select<UploadRow>({ from: 'uploads', limit: 100 });
    const named = new Set<string>();
    for (const { sha256, size_bytes } of rows) {
      const path = (await blobsOver().place(sha256)) ?? '';
      named.add(path);
      expect((await stat(join(home, 'uploads', path))).size, when).to.equal(size_bytes);
    }
    expect(new Set(await onDisk()), when).to.deep.equal(named);
    expect([await count('strays'), await count('blobs')], when).to.deep.equal([0, named.size]);
  };
});
