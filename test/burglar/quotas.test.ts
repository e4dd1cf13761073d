/** Extensions of third parties that fill the disk: files, rows, secrets and events each have a limit, and the error says which. */
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-hoarder';
const MB = 1_048_576;

const route = (name: string, code: string): string =>
  `api.defineRoute({ id: '${name}', method: 'POST', path: '/api/acme/${name}', summary: 'x', auth: 'bearer', permission: 'acme.write', cost: 0, body: api.Type.Any(), responses: { 200: api.Type.Any() }, handler: async ({ body }) => { ${code} return api.reply(200, {}); } })`;

const hoarder = () =>
  thirdParty({
    id: ID,
    manifest: { tables: ['piles'], grants: [{ grant: `secrets:${ID}.*`, why: 'a test' }], events: { publishes: [`${ID}.seen`] } },
    before: `const Piles = api.defineTable('piles', '1.0.0', { columns: { id: { kind: 'integer', primaryKey: true }, text: { kind: 'text', notNull: true } } });
      const Seen = api.defineEvent('${ID}.seen', '1.0.0', api.Type.Any());`,
    rest: "tables: [Piles], migrations: [api.createTables('0001_init', [Piles])], contract: { Seen },",
    activate: `
      const filled = (n, kb) => ctx.ids.hex(kb * 512);
      async function* pieces(kb) { for (let i = 0; i < kb; i += 64) yield new Uint8Array(64 * 1024); }
      ctx.routes.add(
        ${route('write', 'await ctx.files[body.root ?? "data"].write(body.path, filled(0, body.kb));')},
        ${route('stream', 'await ctx.files.data.writeStream(body.path, pieces(body.kb), { maxBytes: 1e9 });')},
        ${route('sub', 'await ctx.files.data.dir("s/t").write(body.path, filled(0, body.kb));')},
        ${route('many', 'await Promise.all(Array.from({ length: body.count }, (_, n) => ctx.files.data.write("m" + n, filled(0, body.kb))));')},
        ${route('empty', 'for (let n = 0; n < body.count; n++) await ctx.files.data.write("deep/".repeat(20) + n, "");')},
        ${route('delete', 'await ctx.files.data.remove(body.path);')},
        ${route('rows', 'for (let n = 0; n < body.count; n++) await ctx.db.commit([ctx.db.insert("piles", [{ id: body.from + n, text: filled(0, body.kb) }])]);')},
        ${route('bulk', 'await Promise.all(Array.from({ length: body.count }, (_, n) => ctx.db.commit([ctx.db.upsert("piles", ["id"], [{ id: n, text: filled(0, body.kb) }])])));')},
        ${route('unrow', 'await ctx.db.commit([ctx.db.remove("piles", { id: { gte: 0 } })]);')},
        ${route('secrets', `for (let n = 0; n < body.count; n++) await ctx.secrets.put('${ID}.s' + n, 'x');`)},
        ${route('events', 'for (let n = 0; n < body.count; n++) await ctx.db.commit([ctx.events.event(Seen, { n })]);')},
      );`,
  });

describeDaemonOnEngines('what an extension of a third party may store', function (engine) {
  this.timeout(60_000);
  let kernel: TestKernel;
  let home: string;
  const booted = async (): Promise<TestKernel> =>
    bootTestKernel({
      home,
      config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\nquota_rows_mb = 4\n[extensions.quotas.${ID}]\nfiles_mb = 2\n`,
      thirdParties: [await hoarder()],
    });
  const ask = async (what: string, body: object): Promise<string> => {
    const { body: answer, status } = await kernel.http.post(`/api/acme/${what}`, body);
    return status === 200 ? 'done' : `${status} ${answer.code}`;
  };
  const stored = async () => {
    // A question has it measured: the figure is right when it does not change any more.
    let last = '';
    for (let tries = 0; tries < 40; tries++) {
      const { stored: found } = (await kernel.http.expect(200, 'GET', `/api/extensions/${ID}`)).body;
      if (found?.filesBytes && found.rowsBytes && JSON.stringify(found) === last) return found;
      last = JSON.stringify(found);
      await new Promise((done) => setTimeout(done, 400));
    }
    throw new Error(`it was never measured: ${last}`);
  };
  before(async function () {
    this.timeout(60_000);
    home = await realpath(await mkdtemp(join(tmpdir(), 'svc-quota-')));
    kernel = await booted();
  });
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
    await rm(home, { recursive: true, force: true });
  });

  it('ends at the limit of its files, in data and cache together, whatever the way', async () => {
    expect(await ask('write', { path: 'a', kb: 1_000 })).to.equal('done');
    expect(await ask('write', { path: 'b', kb: 900, root: 'cache' })).to.equal('done');
    for (const [what, path] of [
      ['write', 'c'],
      ['stream', 'c'],
      ['sub', 'c'],
    ] as const)
      expect(await ask(what, { path, kb: 512 }), what).to.equal('507 daemon_quota_files');
    expect(await ask('write', { path: 'c', kb: 512, root: 'cache' })).to.equal('507 daemon_quota_files');
    const { body } = await kernel.http.post('/api/acme/write', { path: 'c', kb: 512 });
    expect(body.error).to.match(/^acme-hoarder has 1\.9 MB of files, and 2 MB is its limit: nothing was written/);
    expect(JSON.stringify(body)).to.contain('quota_files_mb');
    const left = await readdir(join(home, 'data/ext', ID), { recursive: true });
    expect(
      left.filter((name) => !['a', 's', join('s', 't')].includes(name)),
      'nothing half written is left',
    ).to.deep.equal([]);
  });

  it('may replace what it has, and has room again for what it deleted', async () => {
    expect(await ask('write', { path: 'a', kb: 1_050 })).to.equal('done');
    expect(await ask('stream', { path: 'a', kb: 1_024 })).to.equal('done');
    expect(await ask('delete', { path: 'a' })).to.equal('done');
    expect(await ask('stream', { path: 'c', kb: 1_024 })).to.equal('done');
    expect(await ask('delete', { path: 'c' })).to.equal('done');
  });

  it('is not passed by many at once, nor by many empty files', async () => {
    expect(await ask('many', { count: 40, kb: 100 })).to.equal('507 daemon_quota_files');
    expect(await ask('empty', { count: 2_000 })).to.equal('507 daemon_quota_files');
    const { filesBytes, filesLimit } = await stored();
    expect(filesLimit).to.equal(2 * MB);
    expect(filesBytes)
      .to.be.at.most(2 * MB)
      .and.at.least(1.5 * MB);
    expect(await ask('delete', { path: 'deep' })).to.equal('done');
  });

  it('ends at the limit of its rows, and has room again for what it deleted', async () => {
    expect(await ask('rows', { from: 0, count: 30, kb: 100 })).to.equal('done');
    expect(await ask('rows', { from: 100, count: 30, kb: 100 })).to.equal('507 daemon_quota_rows');
    expect(await ask('bulk', { count: 60, kb: 100 })).to.equal('507 daemon_quota_rows');
    const { rowsBytes, rowsLimit } = await stored();
    expect(rowsLimit).to.equal(4 * MB);
    if (engine.name === 'SQLite')
      expect(rowsBytes)
        .to.be.at.most(4.5 * MB)
        .and.at.least(2.5 * MB);
    expect(await ask('unrow', {})).to.equal('done');
    expect(await ask('rows', { from: 0, count: 30, kb: 100 })).to.equal('done');
  });

  it('has a limit for secrets and for events of a minute', async () => {
    expect(await ask('secrets', { count: 60 })).to.equal('507 daemon_quota_secrets');
    expect(await ask('events', { count: 1_100 })).to.equal('429 daemon_quota_events');
  });

  it('is known again after a restart, also where somebody took files away by hand', async () => {
    const before = await stored();
    await kernel.stop();
    await rm(join(home, 'data/cache', ID), { recursive: true });
    kernel = await booted();
    const after = await stored();
    expect(after.filesBytes).to.equal(before.filesBytes - 900 * 1_024);
    expect(Math.abs(after.rowsBytes - before.rowsBytes)).to.be.at.most(before.rowsBytes / 4);
    expect(await ask('write', { path: 'z', kb: 1_900 })).to.equal('507 daemon_quota_files');
  });

  it('is no limit for what comes with the daemon', async () => {
    const all = (await kernel.http.expect(200, 'GET', '/api/extensions')).body;
    const list: Array<{ bundled: boolean; stored: unknown }> = all.items ?? all.extensions ?? all;
    for (const one of list) if (one.bundled) expect(one.stored).to.equal(null);
  });
});
