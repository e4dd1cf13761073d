/** Tables that a new build cannot change, or that a newer one has changed: the rest of the daemon runs, and says what to do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTable, type Migration } from '@svc/api';
import { bootTestKernel, describeDaemonOnEngines, fixtureExtension, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const init: Migration = { name: '0001_init', up: (m) => m.createTable('nests', { id: { kind: 'text', primaryKey: true } }) };
const Nests = defineTable('nests', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true } } });
const good: Migration = { name: '0002_eggs', up: (m) => m.addColumn('nests', 'eggs', { kind: 'integer' }) };
const bad: Migration = {
  name: '0002_eggs',
  up: (m) => {
    m.sql('DELETE FROM {nests}');
    m.addColumn('nests', 'eggs', { kind: 'integer' });
    m.sql('UPDATE {nests} SET nonsense = 1');
  },
};

describeDaemonOnEngines('an extension whose migration fails', function () {
  this.timeout(60_000);
  let home: string;

  before(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-failed-'));
  });
  after(() => rmSync(home, { recursive: true, force: true }));
  afterEach(() => stopTestKernels());

  const boot = (migrations: readonly Migration[]): Promise<TestKernel> =>
    bootTestKernel({
      home,
      config: '[extensions]\nenable = ["herons"]\n',
      extra: [fixtureExtension({ id: 'herons', manifest: { tables: ['nests'] }, definition: { activate: () => undefined, tables: [Nests], migrations } })],
    });
  const nestsIn = ({ daemon }: TestKernel) => daemon.parts.storage.dbFor({ id: 'herons', tables: ['nests'] });
  const rowsIn = (kernel: TestKernel) =>
    nestsIn(kernel)
      .system('a test')
      .read(`SELECT * FROM ${nestsIn(kernel).table('nests')}`);
  const statusOf = ({ daemon }: TestKernel) => daemon.kernel.extensions().find(({ id }) => id === 'herons');

  it('is left out with its tables and rows as they were, and the others serve', async () => {
    const first = await boot([init]);
    await nestsIn(first).commit([nestsIn(first).insert('nests', [{ id: 'a' }])]);
    await first.stop();

    const second = await boot([init, bad]);

    expect(statusOf(second)?.state).to.equal('failed');
    expect(statusOf(second)?.reason).to.contain('Migration 0002_eggs of herons failed and was undone');
    await second.http.expect(200, 'GET', '/api/agents');
    expect(await rowsIn(second)).to.deep.equal([{ id: 'a' }]);
    await second.stop();
    const third = await boot([init]);
    expect(statusOf(third)?.state).to.equal('active');
    expect(await rowsIn(third)).to.deep.equal([{ id: 'a' }]);
  });

  it('does not run on tables that a newer build has changed, and says so', async () => {
    const newer = await boot([init, good]);
    expect(statusOf(newer)?.state).to.equal('active');
    await newer.stop();

    const older = await boot([init]);

    expect(statusOf(older)?.state).to.equal('failed');
    expect(statusOf(older)?.reason).to.contain('was used by a newer version: it has migration 0002_eggs of herons');
    expect(await rowsIn(older)).to.deep.equal([{ id: 'a', eggs: null }]);
  });
});
