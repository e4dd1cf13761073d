/** What of storage a generation is given, by what its manifest asks for. */
import { createTables, defineTable, type ExtensionContext, type Write, actorFrom } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { createAreaActors } from '@svc/core';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const Rows = defineTable('rows', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true } } });
const init = createTables('0001_init', [Rows]);

const boot = async (manifests: Record<string, Partial<Manifest>>) => {
  const seen = new Map<string, ExtensionContext>();
  const ids = Object.keys(manifests);
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ${JSON.stringify(ids)}`,
    extra: ids.map((id) =>
      fixtureExtension({
        id,
        manifest: { tables: ['rows'], ...manifests[id] },
        contributions: { migrations: ['0001_init'] },
        definition: { tables: [Rows], migrations: [init], activate: (ctx) => void seen.set(ctx.id, ctx) },
      }),
    ),
  });
  const ctxOf = (id: string): ExtensionContext => {
    const ctx = seen.get(id);
    if (!ctx) throw new Error(`${id} did not start: ${JSON.stringify(kernel.daemon.lifecycle.statuses().find((one) => one.id === id))}`);
    return ctx;
  };
  return { kernel, ctxOf };
};

const refusal = async (work: () => unknown): Promise<{ code: string; message: string }> => {
  try {
    await work();
    return { code: 'none', message: '' };
  } catch (error) {
    return error as { code: string; message: string };
  }
};

describe('what an area is given of storage', () => {
  afterEach(stopTestKernels);

  it('is SQL text only with the grant; without it, the error names the grant and the line to add', async () => {
    const { ctxOf } = await boot({ plain: {}, fluent: { grants: [{ grant: 'db:sql', why: 'sums' }] } });
    const text = 'SELECT COUNT(*) AS n FROM fluent__rows';
    expect(await ctxOf('fluent').db.system('a test').readOne(text)).to.deep.equal({ n: 0 });
    expect(ctxOf('fluent').db.table('rows')).to.equal('fluent__rows');
    expect(await ctxOf('fluent').db.commit([ctxOf('fluent').db.sql('DELETE FROM fluent__rows', [])])).to.deep.equal({ changes: [0] });

    const { db } = ctxOf('plain');
    for (const attempt of [() => db.sql('DELETE FROM plain__rows', []), () => db.table('rows'), () => db.system('a test').read('SELECT 1'), () => db.system('a test').readOne('SELECT 1')]) {
      const { code, message } = await refusal(attempt);
      expect(code).to.equal('daemon_not_granted');
      expect(message).to.contain('plain has no grant "db:sql"').and.to.contain('add { "grant": "db:sql", "why": "…" } to "grants"');
    }
    await db.commit([db.insert('rows', [{ id: 'a' }])]);
    expect(await db.system('a test').select({ from: 'rows' })).to.deep.equal([{ id: 'a' }]);
  });

  it('ends with its own tables, with the grant as well', async () => {
    const { ctxOf } = await boot({ plain: {}, fluent: { grants: [{ grant: 'db:sql', why: 'sums' }] } });
    const { db } = ctxOf('fluent');
    for (const sql of ['SELECT * FROM plain__rows', 'SELECT * FROM journal__runs', 'SELECT * FROM kernel__events', 'SELECT * FROM agents__agents']) {
      expect((await refusal(() => db.system('a test').read(sql))).code, sql).to.equal('storage_foreign_table');
    }
    for (const sql of ['DELETE FROM plain__rows', "UPDATE journal__runs SET status = 'done'"]) expect((await refusal(() => db.sql(sql, []))).code, sql).to.equal('storage_foreign_table');
    expect((await refusal(() => db.insert('plain__rows', [{ id: 'x' }]))).code).to.equal('storage_unknown_table');
    expect((await refusal(() => db.system('a test').select({ from: 'runs' }))).code).to.equal('storage_unknown_table');
  });

  it('makes actors of its own work for what is shipped, each with its purpose, and none for a third party', async () => {
    const { ctxOf } = await boot({ plain: {} });
    expect((await refusal(() => ctxOf('plain').actors.system('x'))).code).to.equal('daemon_no_actors');
    const made = createAreaActors('llm');
    expect(made.system('budgets')).to.deep.equal({ id: 'system:llm:budgets', role: 'system', ownerId: 'system' });
    expect(made.only('purge', 'owner')).to.deep.equal({ id: 'system:llm:purge', role: 'user', ownerId: 'owner' });
    expect(made.of('user:ann')).to.deep.equal({ id: 'user:ann', role: 'user', ownerId: 'user:ann' });
    expect(() => made.system('')).to.throw('names no purpose');
  });

  it('cannot be forged into a commit of the journal', async () => {
    const { ctxOf, kernel } = await boot({ plain: { kinds: ['test'] }, other: {} });
    const { journal } = kernel.daemon.parts;
    const actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
    const forged = { insert: 'other__rows', rows: [{ id: 'forged' }] } as unknown as Write;
    expect((await refusal(() => ctxOf('plain').journal.open({ kind: 'test', actor, input: {} }, [forged]))).code).to.equal('storage_write_unsealed');
    expect(await journal.list({ kind: 'test', actor })).to.deep.equal([]);

    const handed = ctxOf('other').db.insert('rows', [{ id: 'handed' }]);
    await ctxOf('plain').journal.open({ kind: 'test', actor, input: {} }, [handed]);
    expect(await ctxOf('other').db.system('a test').select({ from: 'rows' })).to.deep.equal([{ id: 'handed' }]);
  });

  it('is nothing any more once it has stopped, but what it had sealed is committed by others', async () => {
    const { ctxOf, kernel } = await boot({ plain: {}, other: {} });
    const { db } = ctxOf('plain');
    const sealed = db.insert('rows', [{ id: 'late' }]);
    await kernel.daemon.kernel.disable('plain');
    for (const attempt of [
      () => db.system('a test').select({ from: 'rows' }),
      () => db.system('a test').first({ from: 'rows' }),
      () => db.system('a test').count('rows'),
      () => db.system('a test').page({ from: 'rows' }),
      () => db.commit([sealed]),
    ]) {
      expect((await refusal(attempt)).code).to.equal('daemon_extension_stopped');
    }
    expect((await ctxOf('other').db.commit([sealed])).changes).to.deep.equal([1]);
  });
});
