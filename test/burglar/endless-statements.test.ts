/** Extensions of others whose statements never end, or read far too much: people go on at once, and the extension is taken out of service. */
import { setTimeout as sleep } from 'node:timers/promises';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

/** Each endless statement of the claims takes as long of a processor. */
const LIMIT_MS = 400;
const SETTINGS = `${OPEN_RATE}[extensions]\nenable = ["acme-hog", "acme-hang"]\nstatement_seconds = 0.4\nmigration_seconds = 0.4\n`;

const route = (id: string, handler: string): string =>
  `api.defineRoute({ id: '${id}', method: 'POST', path: '/api/acme/${id}', summary: 'Tries', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() },
    handler: async () => { try { return api.reply(200, { got: await (${handler})() ?? null }); } catch (error) { return api.reply(200, { code: String(error.code ?? error.message) }); } } })`;

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';
/** A text of 2 MiB is looked through for each place of a pattern. */
const LONG = "WITH RECURSIVE t(x, i) AS (SELECT 'a', 1 UNION ALL SELECT x || x, i + 1 FROM t WHERE i < 22)";
const ROWS = "const Rows = api.defineTable('rows', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, body: { kind: 'text' } } });";

const hog = (isolation: 'isolated' | 'walled') =>
  thirdParty({
    id: 'acme-hog',
    isolation,
    manifest: { tables: ['rows'], grants: [{ grant: 'db:sql', why: 'it counts' }] },
    before: ROWS,
    rest: "tables: [Rows], migrations: [api.createTables('0001_init', [Rows])],",
    activate: `const write = () => ctx.db.commit([ctx.db.sql("INSERT INTO " + ctx.db.table('rows') + " (id) SELECT 'x' FROM (${ENDLESS} SELECT i FROM n WHERE i < 0) AS e", [])]);
      ctx.routes.add(
        ${route('read', `() => ctx.db.system("a test").read("${ENDLESS} SELECT COUNT(*) AS n FROM n")`)},
        ${route('write', 'write')},
        ${route('writes', 'async () => { const all = await Promise.allSettled(Array.from({ length: 40 }, write)); return [...new Set(all.map((one) => one.reason?.code ?? "ok"))].sort(); }')},
        ${route('pattern', `() => ctx.db.system("a test").read("${LONG} SELECT COUNT(*) AS n FROM t WHERE x LIKE '%' || SUBSTR(x, 1, 45) || 'b%'")`)},
        ${route('replace', `() => ctx.db.system("a test").read("${LONG} SELECT MAX(LENGTH(REPLACE(x, SUBSTR(x, 1, 1000000) || 'b', ''))) AS n FROM t")`)},
        ${route('grow', `() => ctx.db.system("a test").read("WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM t) SELECT MAX(LENGTH(x)) AS n FROM t")`)},
        ${route('double', '() => ctx.db.system("a test").read("WITH c0 AS (SELECT id FROM " + ctx.db.table("rows") + ")" + Array.from({ length: 24 }, (_, i) => ", c" + (i + 1) + " AS (SELECT x.id FROM c" + i + " AS x, c" + i + " AS y)").join("") + " SELECT COUNT(*) AS n FROM c24")')},
        ${route('fill', 'async () => { for (let i = 0; i < 12; i++) await ctx.db.commit([ctx.db.insert("rows", [{ id: "r" + i, body: "x".repeat(1000000) }])]); }')},
        ${route('all', '() => ctx.db.system("a test").select({ from: "rows" })')},
        ${route('page', 'async () => (await ctx.db.system("a test").page({ from: "rows", columns: ["id"], limit: 2 })).rows.length')},
      );`,
  });

/** It asks for no grant: its migration alone would hold the writer. */
const hang = (isolation: 'isolated' | 'walled') =>
  thirdParty({
    id: 'acme-hang',
    isolation,
    manifest: { tables: ['rows'] },
    before: ROWS,
    rest: `tables: [Rows], migrations: [api.createTables('0001_init', [Rows]), { name: '0002_hang', up: (m) => m.sql("INSERT INTO {rows} (id) SELECT 'x' FROM (${ENDLESS} SELECT i FROM n WHERE i < 0) AS e") }],`,
    activate: '',
  });

for (const isolation of ['isolated', 'walled'] as const) {
  const isFirst = isolation === 'isolated';
  describeDaemonOnEngines(`statements of an extension of others, ${isolation},`, function () {
    this.timeout(60_000);
    let kernel: TestKernel;

    before(async function () {
      this.timeout(60_000);
      const fault = isolation === 'walled' ? await wallFault() : undefined;
      if (fault !== undefined) {
        console.log(`  (not tried: ${fault})`);
        this.skip();
      }
      kernel = await bootTestKernel({ config: SETTINGS, thirdParties: [await hog(isolation), await hang(isolation)] });
    });
    after(async () => {
      await stopTestKernels();
      await removeThirdParties();
    });

    const statusOf = (id: string) => kernel.daemon.kernel.extensions().find((one) => one.id === id);
    const tryIt = async (name: string): Promise<{ code?: string; got?: unknown }> => (await kernel.http.expect(200, 'POST', `/api/acme/${name}`)).body;
    let agents = 0;
    /** What a person waits for: a read and a write. */
    const personMs = async (): Promise<number> => {
      const begun = performance.now();
      await kernel.http.expect(200, 'GET', '/api/agents');
      await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "one-${agents++}"\n` });
      return performance.now() - begun;
    };
    const until = async (what: () => boolean): Promise<void> => {
      while (!what()) await sleep(20);
    };

    /** What the database does with a statement is the same however the extension that sends it is confined. */
    const databaseClaims = (): void => {
      it('a read of far too much ends on the way, and pages go', async () => {
        expect(await tryIt('fill')).to.deep.equal({ got: null });
        expect(await tryIt('all')).to.deep.equal({ code: 'storage_read_too_large' });
        expect(await tryIt('page')).to.deep.equal({ got: 2 });
      });

      it('a statement that would grow without end while it is prepared is refused', async () => {
        expect(await tryIt('double')).to.deep.equal({ code: 'storage_sql_refused' });
        expect(await tryIt('replace')).to.deep.equal({ code: 'storage_sql_refused' });
      });

      it('what no interrupt ends is bounded by the length of what it looks at', async () => {
        const begun = performance.now();
        const { code } = await tryIt('pattern');
        // One comparison of 2 MiB with 48 letters lasts a tenth of a second, and is not cut off within.
        expect(code).to.be.oneOf(['storage_too_slow', undefined]);
        expect(performance.now() - begun).to.be.lessThan(20_000);
        expect((await tryIt('grow')).code).to.be.oneOf(['storage_too_large', 'storage_too_slow', 'storage_full', 'storage_failed', 'storage_io']);
      });
    };

    it('a migration that never ends is undone, its extension does not start, and everything else does', async () => {
      expect(statusOf('acme-hang')?.state).to.equal('failed');
      expect(statusOf('acme-hang')?.reason).to.contain('Migration 0002_hang of acme-hang took more than 0.4 s; it was interrupted and undone.');
      await until(() => statusOf('acme-hog')?.state === 'active');
      expect(await personMs()).to.be.lessThan(10_000);
    });

    if (isFirst) databaseClaims();

    it('three endless reads leave a person in peace', async () => {
      const reads = [1, 2, 3].map(() => tryIt('read'));
      await sleep(50);
      expect(Math.min(await personMs(), await personMs(), await personMs())).to.be.lessThan(LIMIT_MS - 100);
      expect(await Promise.all(reads)).to.deep.equal([1, 2, 3].map(() => ({ code: 'storage_too_slow' })));
    });

    it('forty endless commits cost a person two deadlines', async () => {
      const writes = kernel.http.post('/api/acme/writes');
      await sleep(100);
      expect(await personMs()).to.be.lessThan(2 * LIMIT_MS + 5_000);
      // It may have been taken out of service before it could say so.
      const { body, status } = await writes;
      if (status === 200) expect(body.got).to.deep.equal(['storage_late_owner', 'storage_too_slow']);
      else expect(statusOf('acme-hog')?.state).not.to.equal('active');
    });

    if (isFirst)
      it('an extension whose statements are late again and again is taken out of service', async () => {
        for (let times = 0; times < 12 && statusOf('acme-hog')?.state === 'active'; times += 1) await kernel.http.post('/api/acme/read');
        await until(() => statusOf('acme-hog')?.state === 'quarantined');
        expect(statusOf('acme-hog')?.reason).to.match(/its statements took \d+ s too long within ten minutes/);
        expect(await personMs()).to.be.lessThan(10_000);
      });
  });
}
