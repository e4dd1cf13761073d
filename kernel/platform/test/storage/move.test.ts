/** All data of a database in another one, of the other engine and back. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresCluster, sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { openPostgres } from '../../src/storage/postgres/postgres-connection.js';
import { openSqlite } from '../../src/storage/sqlite/sqlite-connection.js';
import { fill, move, openAt, owners, type Place, ROWS, type Step } from './move-world.js';

describe('a move to another database', function () {
  this.timeout(60_000);
  let cluster: PostgresCluster;
  let home: string;
  let files = 0;

  before(async () => {
    cluster = await sharedCluster();
    home = mkdtempSync(join(tmpdir(), 'svc-move-'));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  const sqlite = (): Place => {
    files += 1;
    return { file: join(home, `${files}.db`) };
  };
  const postgres = async (): Promise<Place> => ({ ...sqlite(), url: await cluster.fresh() });
  const filled = async (place: Place): Promise<Place> => {
    await fill(place);
    return place;
  };
  const refusal = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
    work.then(
      () => ({ code: 'none', message: '' }),
      (error: { code: string; message: string }) => error,
    );
  const sqlIn = async ({ file, url }: Place, sql: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
    const connection = url === undefined ? undefined : await openPostgres(url);
    if (connection) {
      const results = await connection.query(sql).finally(connection.close);
      return results.at(-1)?.rows ?? [];
    }
    const local = await openSqlite({ file, readOnly: false, maxStatements: 2 });
    return local.all(sql, []).finally(local.close);
  };
  /** All that an extension can read of it, in the order of the keys. */
  const seen = async (place: Place) => {
    const storage = await openAt(place);
    for (const owner of owners) await storage.migrate(owner, owner.migrations);
    const [all, book] = owners.map((owner) => storage.dbFor({ ...owner, isThirdParty: false }).system('a test'));
    const read = {
      kinds: await all?.select({ from: 'kinds', order: [{ column: 'id' }] }),
      pairs: await all?.select({ from: 'pairs', order: [{ column: 'a' }, { column: 'b' }], limit: ROWS }),
      bare: await all?.select({ from: 'bare', order: [{ column: 'text' }] }),
      red: await book?.select({ from: 'notes', columns: ['id'], where: { words: { has: [['red', 'door']] } } }),
      spare: await book?.select({ from: 'notes', columns: ['id'], where: { words: { has: [['spare']] } } }),
      other: await book?.select({ from: 'notes', columns: ['id'], where: { words: { has: [['schlussel', '鍵']] } } }),
      applied: [...storage.appliedMigrations()].map(([name, done]) => [name, [...done]]).sort(),
    };
    await storage.close();
    return read;
  };

  it('brings every row, index of words, migration and number to PostgreSQL, and back again', async () => {
    const first = await filled(sqlite());
    await sqlIn(first, "UPDATE all_kinds__kinds SET whole = 9223372036854775807, bytes = X'00ff10' WHERE id = 'least'");
    await sqlIn(first, "UPDATE sqlite_sequence SET seq = 41 WHERE name = 'kernel__events'");
    const exact = "SELECT CAST(whole AS TEXT) AS whole, part FROM all_kinds__kinds WHERE id = 'least'";
    const server = await postgres();
    const before = await sqlIn(first, exact);

    const there = await move(first, server);

    expect(before[0]?.whole).to.equal('9223372036854775807');
    expect(there.isResumed).to.equal(false);
    expect(there.tables.find(({ name }) => name === 'all_kinds__pairs')?.rows).to.equal(ROWS - 1);
    expect(await sqlIn(server, exact)).to.deep.equal(before);
    expect(await sqlIn(server, "INSERT INTO kernel__events(name, data, at) VALUES ('n', '{}', '') RETURNING id")).to.deep.equal([{ id: 42 }]);

    // A fraction whose text SQLite reads as its neighbour.
    await sqlIn(server, "UPDATE all_kinds__kinds SET part = -0.3427916336136205 WHERE id = 'least'");
    const back = sqlite();
    await move(server, back);

    expect(await sqlIn(back, exact)).to.deep.equal([{ whole: '9223372036854775807', part: -0.3427916336136205 }]);
    expect(await sqlIn(back, "SELECT hex(bytes) AS bytes FROM all_kinds__kinds WHERE id = 'least'")).to.deep.equal([{ bytes: '00FF10' }]);
    await sqlIn(back, "UPDATE all_kinds__kinds SET whole = 1, part = 0.5, bytes = NULL WHERE id = 'least'");
    const untouched = await filled(sqlite());
    await sqlIn(untouched, "UPDATE all_kinds__kinds SET whole = 1, part = 0.5 WHERE id = 'least'");
    const expected = await seen(untouched);
    expect(expected.red).to.deep.equal([{ id: 7 }]);
    expect(expected.spare).to.deep.equal([]);
    expect(expected.other).to.deep.equal([{ id: 3 }]);
    expect(await seen(back)).to.deep.equal(expected);
  });

  it('leaves a database that opens no more, and a target that opens only when it is complete', async () => {
    for (const [from, to] of [
      [await filled(sqlite()), await postgres()],
      [await filled(await postgres()), sqlite()],
    ] as const) {
      await refusal(
        move(from, to, {
          onProgress: ({ step }) => {
            if (step === 'compare') throw new Error('it ends here');
          },
        }),
      );
      expect(await refusal(openAt(to))).to.include({ code: 'storage_move_unfinished' });
      expect((await move(from, to)).isResumed).to.equal(true);
      await (await openAt(to)).close();
      const refused = await refusal(openAt(from));
      expect(refused.code).to.equal('storage_moved');
      expect(refused.message).to.contain(to.url === undefined ? to.file : new URL(to.url).pathname.slice(1));
      // What is left of an earlier attempt to reach it.
      expect((await move(from, to)).tables).to.deep.equal([]);
    }
  });

  it('ends between its two marks with neither database in use, and the next attempt opens the target', async () => {
    for (const [from, to] of [
      [await filled(sqlite()), await postgres()],
      [await filled(await postgres()), sqlite()],
    ] as const) {
      expect((await refusal(move(from, to, { isCutOff: true }))).message).to.equal('it was cut off');
      expect(await refusal(openAt(from))).to.include({ code: 'storage_moved' });
      expect(await refusal(openAt(to))).to.include({ code: 'storage_move_unfinished' });
      expect((await move(from, to)).isResumed).to.equal(true);
      await (await openAt(to)).close();
    }
  });

  it('begins anew where the source was used in between', async () => {
    const [from, to] = [await filled(sqlite()), await postgres()];
    await refusal(
      move(from, to, {
        onProgress: ({ step, table }) => {
          if (step === 'compare' && table === 'all_kinds__kinds') throw new Error('it ends here');
        },
      }),
    );
    const storage = await openAt(from);
    const db = storage.dbFor({ id: 'all-kinds', tables: ['bare'] });
    await db.commit([db.insert('bare', [{ text: 'later' }])]);
    await storage.close();

    const outcome = await move(from, to);

    expect(outcome.isResumed).to.equal(false);
    expect(await sqlIn(to, "SELECT text FROM all_kinds__bare WHERE text = 'later'")).to.have.length(1);
  });

  it('keeps out a daemon that comes back to a server whose data has left', async () => {
    const [from, to] = [await filled(await postgres()), sqlite()];
    const late = await openPostgres(from.url ?? '', "SET application_name = 'not yet known'");
    await move(from, to);
    const failed = await refusal(late.query("INSERT INTO kernel_batches VALUES ('w', 1, now())").finally(late.close));
    expect(failed.message).to.contain('kernel_moved');
  });

  it('refuses while a daemon is connected, and names the server', async () => {
    const from = await filled(await postgres());
    const storage = await openAt(from);
    const refused = await refusal(move(from, sqlite()));
    await storage.close();
    expect(refused.code).to.equal('storage_move_daemons');
  });

  it('refuses a target that holds something, and a source with tables of nobody', async () => {
    const from = await filled(sqlite());
    expect(await refusal(move(from, await filled(await postgres())))).to.include({ code: 'storage_move_target_used' });
    const unknown = await refusal(move(from, await postgres(), { owners: owners.slice(1) }));
    expect(unknown.code).to.equal('storage_move_unknown_tables');
    expect(unknown.message).to.contain('all-kinds (4 tables)');
    expect(await refusal(move(from, await postgres(), { owners: owners.map((owner) => ({ ...owner, migrations: owner.migrations.slice(1) })) }))).to.include({
      code: 'storage_move_other_version',
    });
    const outcome = await move(from, await postgres(), { owners: owners.slice(1), without: ['all-kinds'] });
    expect(outcome.tables.map(({ name }) => name)).to.deep.equal(['kernel__events', 'note_book__migrations', 'note_book__notes']);
  });

  it('names the text that PostgreSQL cannot store, and goes on with U+FFFD in its place where that is wanted', async () => {
    const [from, to] = [await filled(sqlite()), await postgres()];
    await sqlIn(from, "UPDATE all_kinds__pairs SET body = CAST(X'610062' AS TEXT) WHERE a = 'k3' AND b = -2");
    const refused = await refusal(move(from, to));
    expect(refused.code).to.equal('storage_move_nul');
    expect(refused.message).to.contain('all_kinds__pairs.body, row a "k3", b "-2"');
    expect((await move(from, to, { replacesNul: true })).isResumed).to.equal(true);
    expect(await sqlIn(to, "SELECT body FROM all_kinds__pairs WHERE a = 'k3' AND b = -2")).to.deep.equal([{ body: 'a\ufffdb' }]);
  });

  it('names the row that the target refuses', async () => {
    const from = await filled(sqlite());
    await sqlIn(from, "UPDATE all_kinds__kinds SET whole = 'seven' WHERE id = 'least'");
    const refused = await refusal(move(from, await postgres()));
    expect(refused.code).to.equal('storage_move_row');
    expect(refused.message).to.contain('all_kinds__kinds, row id "least"').and.contain('seven');
  });

  it('names the table whose copy differs, and copies it anew the next time', async () => {
    const [from, to] = [await filled(sqlite()), await postgres()];
    const refused = await refusal(move(from, to, { beforeCompare: () => sqlIn(to, 'DELETE FROM note_book__notes WHERE id = 9') }));
    expect(refused.code).to.equal('storage_move_differs');
    expect(refused.message).to.contain('note_book__notes has 2 rows instead of 3');
    expect(await refusal(openAt(to))).to.include({ code: 'storage_move_unfinished' });
    await move(from, to);
    expect(await sqlIn(to, 'SELECT id FROM note_book__notes')).to.have.length(3);
  });

  it('holds little in memory: a batch ends at some megabytes, and a larger row travels alone', async () => {
    const large = 'x'.repeat(1_500_000);
    for (const [from, to] of [
      [await filled(sqlite()), await postgres()],
      [await filled(await postgres()), sqlite()],
    ] as const) {
      const storage = await openAt(from);
      const db = storage.dbFor({ id: 'all-kinds', tables: ['bare'] });
      for (let n = 0; n < 4; n += 1) await db.commit([db.insert('bare', [{ text: `${n}${large}` }])]);
      await db.commit([db.insert('bare', [{ text: large.repeat(4) }])]);
      await storage.close();
      const all: Step[] = [];
      await move(from, to, { onProgress: (one) => void all.push(one) });
      const steps = all.filter(({ step, table }) => step === 'copy' && table === 'all_kinds__bare').map(({ rows }) => rows);
      expect(steps.length).to.be.greaterThan(3);
      expect(steps.at(-1)).to.equal(8);
    }
  });

  it('goes on where it was killed, at any point', async () => {
    const program = new URL('./move.program.js', import.meta.url);
    for (const [from, to] of [
      [await filled(sqlite()), await postgres()],
      [await filled(await postgres()), sqlite()],
    ] as const) {
      // Each life ends a little later than the one before: within the first table, between tables, in the comparison.
      const ends: string[] = [];
      for (let point = 1; ends.at(-1) !== 'done'; point += 5) {
        const life = fork(program, [JSON.stringify({ from, to, point })]);
        const [code, signal] = (await once(life, 'exit')) as [number | null, string | null];
        ends.push(signal ?? (code === 0 ? 'done' : `exit ${code}`));
        if (ends.length > 20) break;
      }
      expect(ends.at(-1)).to.equal('done');
      expect(ends.filter((end) => end === 'SIGKILL').length).to.be.greaterThan(3);
      expect(new Set(ends)).to.deep.equal(new Set(['SIGKILL', 'done']));
      await sqlIn(to, 'UPDATE all_kinds__kinds SET bytes = NULL');
      expect(await seen(to)).to.deep.equal(await seen(await filled(sqlite())));
    }
  });
});
