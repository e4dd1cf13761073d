/** Rows of people, as an area handles them by the declaration of their table; and the migration that makes it. */
import { type Actor, type ExtensionContext, type OwnedRows, type RowOf, createTables, defineErrors, defineTable, ownedRows, actorFrom } from '@svc/api';
import { bootTestKernel, describeOnEngines, fixtureExtension, OPEN_RATE, OWNER, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const Cards = defineTable('cards', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, n: { kind: 'integer', notNull: true }, mark: { kind: 'text' } },
  owner: 'owner_id',
  indexes: [['owner_id', 'n'], ['mark']],
});
const Bare = defineTable('bare', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true } } });
const Named = defineTable('named', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, who: { kind: 'text' } }, owner: 'who' });
const Pairs = defineTable('pairs', '1.0.0', { columns: { a: { kind: 'text' }, b: { kind: 'text' }, owner_id: { kind: 'text' } }, primaryKey: ['a', 'b'], owner: 'owner_id' });

const errors = defineErrors('cards', { not_found: { status: 404, retry: false, message: (id: string) => `There is no card ${id}.` } });
const spec = { order: [{ column: 'n' }], missing: errors.not_found };
const person = (name: string): Actor => actorFrom({ id: name, role: 'user', ownerId: name });
const [ann, bob] = [person('ann'), person('bob')];

interface World {
  readonly ctx: ExtensionContext;
  readonly cards: OwnedRows<RowOf<typeof Cards>>;
}

const open = async (): Promise<World> => {
  const seen: ExtensionContext[] = [];
  await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["cards"]\n`,
    extra: [
      fixtureExtension({
        id: 'cards',
        manifest: { tables: ['cards'], grants: [{ grant: 'actors', why: 'this test makes its people' }] },
        contributions: { migrations: ['0001_init', '0002_mark'] },
        definition: {
          tables: [Cards],
          migrations: [
            createTables('0001_init', [Cards], { later: ['mark'] }),
            {
              name: '0002_mark',
              up: (m) => {
                m.addColumn('cards', 'mark', { kind: 'text' });
                m.createIndex('cards', ['mark']);
              },
            },
          ],
          activate: (ctx) => void seen.push(ctx),
        },
      }),
    ],
  });
  const [ctx] = seen;
  if (!ctx) throw new Error('the area did not start');
  return { ctx, cards: ownedRows(ctx.db, Cards, spec) };
};

const card = (id: string, n: number, owner_id = 'ann') => ({ id, owner_id, n, mark: null });

const refusal = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describeOnEngines('rows of people', () => {
  afterEach(stopTestKernels);

  it('are given to who may see them; for others they are missing, in the words of the area', async () => {
    const { ctx, cards } = await open();
    await ctx.db.commit([cards.insert(card('c', 1))]);
    expect(await cards.get(ann, 'c')).to.deep.equal(card('c', 1));
    expect(await cards.get(OWNER, 'c')).to.deep.equal(card('c', 1));
    expect(await refusal(cards.get(bob, 'c'))).to.equal('cards_not_found');
    expect(await refusal(cards.get(ann, 'd'))).to.equal('cards_not_found');
  });

  it('come in pages, in the order that was said, of one person, and narrowed further', async () => {
    const { ctx, cards } = await open();
    await ctx.db.commit([card('x', 3), card('y', 1), card('z', 2), card('b', 0, 'bob')].map(cards.insert));
    const first = await cards.page(ann, { limit: 2 });
    expect(first.rows.map(({ id }) => id)).to.deep.equal(['y', 'z']);
    expect(await cards.page(ann, { limit: 2, after: first.next ?? '' })).to.deep.equal({ rows: [card('x', 3)], next: null });
    expect((await cards.page(ann, {}, { n: { gte: 2 } })).rows.map(({ id }) => id)).to.deep.equal(['z', 'x']);
  });

  it('are changed and removed where they still are, and otherwise nothing of the commit happens', async () => {
    const { ctx, cards } = await open();
    await ctx.db.commit([cards.insert(card('c', 1))]);
    await ctx.db.commit([cards.update({ ...card('c', 7), mark: 'new' })]);
    expect(await cards.get(ann, 'c')).to.deep.equal({ ...card('c', 7), mark: 'new' });
    await ctx.db.commit([cards.remove(card('c', 7))]);
    expect(await refusal(ctx.db.commit([cards.insert(card('d', 1)), cards.update(card('c', 8))]))).to.equal('storage_conflict');
    expect(await refusal(ctx.db.commit([cards.insert(card('d', 1)), cards.remove(card('c', 8))]))).to.equal('storage_conflict');
    expect((await cards.page(ann, {})).rows).to.deep.equal([]);
  });

  it('are those of a table that says who owns them and what names one: another is refused', async () => {
    const { ctx } = await open();
    for (const table of [Bare, Named, Pairs]) expect(() => ownedRows(ctx.db, table, spec), table.name).to.throw(`the table ${table.name} `);
  });
});
