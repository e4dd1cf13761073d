/** A collection that is described as data, as the page draws it: its table in each envelope of the interface, its forms from schemas. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type CollectionView, defineErrors, defineRoute, Nullable, OneOf, reply, type Static, Type } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expectWellMade, picture, useBrowser } from '@svc/test/page/browser';
import { logInAs, person } from '@svc/test/page/callers';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';

const closed = { additionalProperties: false };
const SHELF_SIZES = ['small', 'large'] as const;
const Fields = {
  name: Type.String({ minLength: 1, maxLength: 40, pattern: '^[a-z][a-z0-9 -]*$', description: 'In small letters' }),
  size: OneOf(SHELF_SIZES, { default: 'small' }),
  books: Type.Integer({ minimum: 0, maximum: 500 }),
  price: Nullable(Type.Number({ minimum: 0 })),
  notes: Type.String({ maxLength: 4_000, default: '' }),
  tags: Type.Array(Type.String({ minLength: 2 }), { maxItems: 3, default: [] }),
  is_open: Type.Boolean({ default: true }),
  checked_at: Nullable(Type.String({ format: 'date-time' })),
  room: Type.Object({ floor: Type.Integer({ minimum: -2, maximum: 9 }), door: Type.Optional(Type.String()) }, closed),
};
const Draft = Type.Object({ ...Fields, size: Type.Optional(Fields.size), notes: Type.Optional(Fields.notes), tags: Type.Optional(Fields.tags), is_open: Type.Optional(Fields.is_open) }, closed);
const Change = Type.Partial(
  Type.Object({ ...Fields, size: OneOf(SHELF_SIZES), notes: Type.String({ maxLength: 4_000 }), tags: Type.Array(Type.String({ minLength: 2 }), { maxItems: 3 }), is_open: Type.Boolean() }, closed),
  closed,
);

interface Shelf {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  readonly size: string;
  readonly books: number;
  readonly [field: string]: unknown;
}

const view = (form: string, more: Partial<CollectionView> = {}): CollectionView => ({
  path: `/api/shelves/${form}`,
  idField: 'id',
  nameField: 'name',
  title: { en: 'Shelves', zh: '书架' },
  one: { en: 'shelf', zh: '书架' },
  note: { en: 'Where books stand.', zh: '放书的地方。' },
  columns: [
    { field: 'name' },
    { field: 'size', format: 'badge', tones: { large: 'info' } },
    { field: 'books', format: 'number', title: { en: 'Books', zh: '书' } },
    { field: 'room.floor', title: 'Floor', isMinor: true },
    { field: 'checked_at', format: 'ago' },
  ],
  fields: { name: { label: { en: 'Name', zh: '名称' } }, size: { values: { small: { en: 'Small', zh: '小' }, large: { en: 'Large', zh: '大' } } } },
  create: Draft,
  update: { method: 'PATCH', schema: Change },
  remove: true,
  revisionField: 'revision',
  search: true,
  filters: [{ field: 'size', values: SHELF_SIZES }],
  sort: ['name', 'books'],
  limit: 5,
  permissions: { create: 'shelves.write', update: 'shelves.write', remove: 'shelves.write' },
  ...more,
});

const PANELS = {
  rows: { view: view('rows') },
  items: { view: view('items', { event: 'shelves.changed' }) },
  named: { view: view('named', { rows: 'shelves' }) },
  bare: { view: view('bare') },
  detail: {
    view: view('items'),
    slots: "{ detail: (item) => <p>It has {item.books} books.</p>, cells: { books: ({ books }) => <b>{books} volumes</b> }, actions: ({ name }) => <i>{'act on ' + name}</i> }",
  },
} as const;

const shelfErrors = defineErrors('shelves', {
  name_taken: { status: 409, retry: false, message: (name: string) => `There is a shelf ${name} already.`, hint: 'Choose another name.' },
  stale: { status: 412, retry: false, message: () => 'The shelf was changed meanwhile.' },
  missing: { status: 404, retry: false, message: () => 'There is no such shelf.' },
});

describe('a collection that is described as data', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  /** What it has is made anew for each test. */
  let kernel: TestKernel;
  let folder: string;
  let shelves: Shelf[];
  let asked: string[];
  let sent: Array<{ method: string; body: unknown; ifMatch: string | undefined }>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-collections-'));
    const kit = {
      name: 'kit',
      setup: (made: { onResolve(options: { filter: RegExp }, fn: (args: { path: string }) => { path: string; external: boolean }): void }) =>
        made.onResolve({ filter: /^@svc\/kit/ }, ({ path }) => ({ path: path.endsWith('collection') ? '/ui/collection.js' : '/ui/kit.js', external: true })),
    };
    for (const [id, { view, ...rest }] of Object.entries(PANELS)) {
      const contents = `import { definePanel } from '@svc/kit'; import { CollectionPanel } from '@svc/kit/collection';
        const view = ${JSON.stringify(view)};
        export const panel = definePanel({ view: ({ path }) => <CollectionPanel view={view} path={path} slots={${'slots' in rest ? rest.slots : '{}'}} /> });`;
      const { outputFiles } = await build({ stdin: { contents, loader: 'jsx' }, bundle: true, format: 'esm', write: false, jsx: 'automatic', jsxImportSource: '@svc/kit', plugins: [kit] });
      const text = outputFiles[0]?.contents ?? '';
      await Promise.all([writeFile(join(folder, `${id}.js`), text), writeFile(join(folder, `${id}.js.br`), brotliCompressSync(text)), writeFile(join(folder, `${id}.js.gz`), gzipSync(text))]);
    }
  });
  before(async () => {
    kernel = await boot();
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    asked = [];
    sent = [];
    shelves = Array.from({ length: 12 }, (_, n) => ({
      id: `s${n}`,
      revision: 1,
      name: `shelf ${String(n).padStart(2, '0')}`,
      size: n % 3 === 0 ? 'large' : 'small',
      books: n * 10,
      price: null,
      notes: `note ${n}`,
      tags: ['old'],
      is_open: true,
      checked_at: null,
      room: { floor: n % 4 },
    }));
  });
  afterEach(() => stopTestKernels(kernel));

  const head = (id: string, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string) => ({
    id,
    method,
    path,
    summary: id,
    auth: 'bearer' as const,
    permission: method === 'GET' ? 'shelves.read' : 'shelves.write',
    cost: 0,
  });
  const Query = Type.Object({
    limit: Type.Optional(Type.Integer()),
    offset: Type.Optional(Type.Integer()),
    after: Type.Optional(Type.String()),
    q: Type.Optional(Type.String()),
    sort: Type.Optional(Type.String()),
    order: Type.Optional(Type.String()),
    size: Type.Optional(Type.String()),
  });
  const answerAs = (form: string, { limit = 100, offset = 0, after, q = '', sort = '', order, size }: Static<typeof Query>): unknown => {
    const found = shelves.filter((one) => one.name.includes(q) && (size === undefined || one.size === size));
    if (sort !== '') found.sort((one, other) => (String(one[sort]) < String(other[sort]) ? -1 : 1) * (order === 'desc' ? -1 : 1));
    const from = form === 'rows' ? Number(after ?? 0) : offset;
    const page = found.slice(from, from + limit);
    if (form === 'rows') return { rows: page, next: from + limit < found.length ? String(from + limit) : null };
    if (form === 'items') return { items: page, total: found.length, offset, limit };
    return form === 'named' ? { shelves: found, total: found.length } : found;
  };
  const Place = Type.Object({ form: Type.String() });
  const ItemPlace = Type.Object({ form: Type.String(), id: Type.String() });
  const at = (id: string): Shelf => {
    const found = shelves.find((one) => one.id === id);
    if (!found) throw shelfErrors.missing();
    return found;
  };
  const routes = [
    defineRoute({
      ...head('listShelves', 'GET', '/api/shelves/{form}'),
      params: Place,
      query: Query,
      responses: { 200: Type.Unknown() },
      handler: async ({ params, query, path }) => {
        asked.push(`${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`);
        return reply(200, answerAs(params.form, query));
      },
    }),
    defineRoute({
      ...head('createShelf', 'POST', '/api/shelves/{form}'),
      params: Place,
      body: Draft,
      responses: { 201: Type.Unknown() },
      handler: async ({ body, headers }) => {
        sent.push({ method: 'POST', body, ifMatch: headers['if-match'] });
        if (shelves.some(({ name }) => name === body.name)) throw shelfErrors.name_taken(body.name).with({ details: { path: 'name' } });
        if (body.books === 13) throw shelfErrors.missing();
        const made = { id: `s${shelves.length}`, revision: 1, ...body, size: body.size ?? 'small' };
        shelves = [made, ...shelves];
        return reply(201, made);
      },
    }),
    defineRoute({ ...head('getShelf', 'GET', '/api/shelves/{form}/{id}'), params: ItemPlace, responses: { 200: Type.Unknown() }, handler: async ({ params }) => reply(200, at(params.id)) }),
    defineRoute({
      ...head('changeShelf', 'PATCH', '/api/shelves/{form}/{id}'),
      params: ItemPlace,
      body: Change,
      responses: { 200: Type.Unknown() },
      handler: async ({ params, body, headers }) => {
        sent.push({ method: 'PATCH', body, ifMatch: headers['if-match'] });
        const before = at(params.id);
        if (headers['if-match'] !== `"${before.revision}"`) throw shelfErrors.stale();
        const made = { ...before, ...body, revision: before.revision + 1 };
        shelves = shelves.map((one) => (one === before ? made : one));
        return reply(200, made);
      },
    }),
    defineRoute({
      ...head('deleteShelf', 'DELETE', '/api/shelves/{form}/{id}'),
      params: ItemPlace,
      responses: { 200: Type.Unknown() },
      handler: async ({ params }) => {
        shelves = shelves.filter((one) => one !== at(params.id));
        return reply(200, {});
      },
    }),
  ];
  const boot = (people = ''): Promise<TestKernel> => {
    const panels = Object.keys(PANELS).map((id) => ({ id, title: { en: `Shelves ${id}`, zh: `书架 ${id}` }, icon: 'box', hub: 'more' as const, permission: 'shelves.read' }));
    const extension = {
      ...fixtureExtension({
        id: 'shelves',
        manifest: { panels, events: { publishes: ['shelves.changed'] } },
        contributions: { live: { 'shelves.changed': { permission: 'shelves.read', owner: 'ownerId', id: 'id' } }, routes: routes.map(({ method, path }) => `${method} ${path}`) },
        definition: { activate: (ctx) => void ctx.routes.add(...routes) },
      }),
      panels: { folder, files: Object.fromEntries(panels.map(({ id }) => [id, { script: `${id}.js` }])) },
    };
    return bootTestKernel({ config: `${people === '' ? '' : 'api_key = "root"\n'}${OPEN_RATE}[extensions]\nenable = ["shelves"]\n${people}`, extra: [extension] });
  };
  const visit = async (panel: keyof typeof PANELS): Promise<{ page: Page; mistakes: string[] }> => {
    const visited = await chromium.open(`${kernel.url}/#/${panel}`);
    await visited.page.getByRole('cell', { name: 'shelf 00', exact: true }).or(visited.page.getByText('No results.')).waitFor();
    return visited;
  };
  const names = (page: Page): Promise<string[]> => page.getByRole('table').locator('tbody tr td:first-child').allInnerTexts();
  const dialog = (page: Page) => page.getByRole('dialog');
  const openForm = (page: Page) => page.getByRole('button', { name: 'New shelf' }).click();

  for (const form of ['rows', 'items', 'named', 'bare'] as const)
    it(`shows a list that answers as ${form} page by page, there and back`, async () => {
      const { page, mistakes } = await visit(form);
      expect(await names(page)).to.deep.equal(['shelf 00', 'shelf 01', 'shelf 02', 'shelf 03', 'shelf 04']);
      const next = page.getByRole('button', { name: 'Next', exact: true });
      await next.click();
      await page.getByRole('cell', { name: 'shelf 09', exact: true }).waitFor();
      await next.click();
      // The number of the page is drawn at once, its rows when they have come.
      await page.getByRole('cell', { name: 'shelf 11', exact: true }).waitFor();
      await page.getByText(form === 'rows' ? 'Page 3' : '11 to 12 of 12').waitFor();
      expect(await names(page)).to.deep.equal(['shelf 10', 'shelf 11']);
      expect(await next.isDisabled()).to.equal(true);
      await page.getByRole('button', { name: 'Previous' }).click();
      await page.getByRole('cell', { name: 'shelf 05', exact: true }).waitFor();
      expect(mistakes).to.deep.equal([]);
    });

  it('seeks, filters and sorts at the daemon, and keeps that in the address', async () => {
    const { page } = await visit('items');
    await page.getByRole('searchbox').fill('1');
    await page.getByRole('combobox', { name: 'Filter by Size' }).selectOption({ label: 'Small' });
    await page.getByRole('cell', { name: 'shelf 11', exact: true }).waitFor();
    expect(await names(page)).to.deep.equal(['shelf 01', 'shelf 10', 'shelf 11']);
    await page.getByRole('button', { name: 'Books' }).click();
    await page.getByRole('button', { name: 'Books' }).click();
    await page.waitForFunction(() => document.querySelector('tbody td')?.textContent === 'shelf 11');
    expect(asked.at(-1)).to.contain('q=1').and.contain('sort=books').and.contain('order=desc').and.contain('size=small');
    await page.reload();
    await page.getByRole('cell', { name: 'shelf 11', exact: true }).waitFor();
    expect(await names(page)).to.deep.equal(['shelf 11', 'shelf 10', 'shelf 01']);
    await page.getByRole('searchbox').fill('nowhere');
    await page.getByRole('button', { name: 'Clear search' }).click();
    await page.getByText('1 to 5 of 12').waitFor();
    expect(page.url()).to.not.contain('q=').and.not.contain('size=');
  });

  it('is well made: the list, what is not found, the form and what is wrong in it; in both themes, at every width', async () => {
    const { page, mistakes } = await visit('items');
    await expectWellMade(page, 'a collection');
    await openForm(page);
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).getByText('This field is required.').first().waitFor();
    await expectWellMade(page, 'a form from a schema');
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('nowhere');
    await page.getByText('No results.').waitFor();
    await expectWellMade(page, 'a collection in which nothing was found');
    expect(mistakes).to.deep.equal([]);
  });

  it('is filled in and sent by keyboard alone: each kind of field becomes the value that its schema wants', async () => {
    const { page } = await visit('items');
    await page.getByRole('button', { name: 'New shelf' }).focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest('[data-field]')?.getAttribute('data-field'))).to.equal('name');
    const type = async (text: string): Promise<void> => {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    };
    await type('new shelf');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await type('7');
    await type('2.5');
    await type('two\nlines');
    await type('red\n\n blue ');
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await dialog(page).getByLabel('Checked at').fill('2026-05-04T10:30');
    await dialog(page).getByLabel('Floor').fill('-1');
    await picture(page, 'a form that is filled in');
    await dialog(page).getByLabel('Floor').press('Enter');
    await page.getByText('Created new shelf.').waitFor();
    const at = await page.evaluate(() => new Date('2026-05-04T10:30').toISOString());
    expect(sent).to.deep.equal([
      {
        method: 'POST',
        ifMatch: undefined,
        body: { name: 'new shelf', size: 'large', books: 7, price: 2.5, notes: 'two\nlines', tags: ['red', 'blue'], is_open: false, checked_at: at, room: { floor: -1 } },
      },
    ]);
    await page.getByRole('cell', { name: 'new shelf', exact: true }).waitFor();
  });

  it('says at its field what does not fit, sends nothing, and goes to the first of them', async () => {
    const { page } = await visit('items');
    await openForm(page);
    const field = (name: string) => dialog(page).locator(`[data-field="${name}"]`);
    expect(await field('name').locator('label').innerText()).to.equal('Name *');
    expect(await field('price').locator('label').innerText()).to.equal('Price');
    expect(await field('notes').locator('label').innerText()).to.equal('Notes');
    await dialog(page).getByLabel('Name', { exact: false }).first().fill('Not Small');
    await dialog(page).getByLabel('Books').fill('501');
    await dialog(page).getByLabel('Tags').fill('a\nbb\ncc\ndd');
    await dialog(page).getByLabel('Floor').fill('1.5');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await field('books').getByText('Must be 500 or less.').waitFor();
    await field('name').getByText('This value has the wrong format', { exact: false }).waitFor();
    await field('tags').getByText('4 entries, 3 allowed.').waitFor();
    await field('room.floor').getByText('Enter a whole number.').waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest('[data-field]')?.getAttribute('data-field'))).to.equal('name');
    expect(sent).to.deep.equal([]);
  });

  it('shows what the daemon refuses at the field that it names, else below the form; what was typed stays', async () => {
    const { page } = await visit('items');
    await openForm(page);
    await dialog(page).getByLabel('Name', { exact: false }).first().fill('shelf 03');
    await dialog(page).getByLabel('Books').fill('13');
    await dialog(page).getByLabel('Floor').fill('1');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).locator('[data-field="name"]').getByText('There is a shelf shelf 03 already. Choose another name.').waitFor();
    await dialog(page).getByLabel('Name', { exact: false }).first().fill('shelf x');
    expect(await dialog(page).getByText('There is a shelf', { exact: false }).count()).to.equal(0);
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).locator('.failure').getByText('There is no such shelf.').waitFor();
    expect(await dialog(page).getByLabel('Books').inputValue()).to.equal('13');
  });

  it('keeps what was typed over Escape, and gives it up by Cancel', async () => {
    const { page } = await visit('items');
    const name = () => dialog(page).getByLabel('Name', { exact: false }).first();
    await openForm(page);
    await name().fill('half done');
    await page.keyboard.press('Escape');
    await openForm(page);
    expect(await name().inputValue()).to.equal('half done');
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await openForm(page);
    expect(await name().inputValue()).to.equal('');
  });

  it('sends of a change what was changed, with the revision it is based on; one that was overtaken is shown beside it', async () => {
    const { page } = await visit('items');
    await page.getByRole('button', { name: 'Edit shelf 02' }).click();
    await dialog(page).getByLabel('Notes').fill('');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved shelf 02.').waitFor();
    expect(sent).to.deep.equal([{ method: 'PATCH', body: { notes: '' }, ifMatch: '"1"' }]);
    await page.getByRole('button', { name: 'Edit shelf 03' }).click();
    await dialog(page).getByLabel('Books').fill('99');
    shelves = shelves.map((one) => (one.id === 's3' ? { ...one, notes: 'by somebody else', revision: 5 } : one));
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).getByText('Changed by someone else').waitFor();
    await expectWellMade(page, 'a change that was overtaken');
    await dialog(page).getByRole('button', { name: 'Keep mine and merge' }).click();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved shelf 03.').waitFor();
    expect(sent.at(-1)).to.deep.equal({ method: 'PATCH', body: { books: 99 }, ifMatch: '"5"' });
    expect(shelves.find(({ id }) => id === 's3')).to.include({ notes: 'by somebody else', books: 99 });
  });

  it('shows what changed at the daemon as soon as its event comes', async () => {
    const { page } = await visit('items');
    await page.getByText('Connected', { exact: true }).waitFor();
    shelves = [{ id: 'new', revision: 1, name: 'another one', size: 'small', books: 0 }, ...shelves];
    kernel.daemon.parts.events.emit('shelves.changed', { id: 'new', ownerId: 'somebody' });
    await page.getByRole('cell', { name: 'another one', exact: true }).waitFor();
    expect((await names(page))[0]).to.equal('another one');
  });

  it('deletes after a question that names it; a page that becomes empty leads to the one before', async () => {
    shelves = shelves.slice(0, 6);
    const { page } = await visit('items');
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    const remove = page.getByRole('button', { name: 'Delete shelf 05' });
    await remove.click();
    await dialog(page).getByText('shelf 05 will be deleted.', { exact: false }).waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    expect(shelves).to.have.length(6);
    await remove.click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted shelf 05.').waitFor();
    await page.getByRole('cell', { name: 'shelf 00', exact: true }).waitFor();
    expect(shelves).to.have.length(5);
  });

  it('works by touch at the width of a phone, in Chinese', async () => {
    const { page } = await chromium.open(`${kernel.url}/#/items`, { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true, locale: 'zh-CN' });
    await page.getByRole('heading', { level: 1, name: '书架' }).waitFor();
    await page.getByRole('button', { name: '新建书架' }).tap();
    await dialog(page).getByRole('button', { name: '创建' }).tap();
    await dialog(page).getByText('此项必填。').first().waitFor();
    expect(await dialog(page).getByRole('combobox').first().locator('option').allInnerTexts()).to.deep.equal(['小', '大']);
    await dialog(page).getByRole('button', { name: '取消' }).tap();
    await page.getByRole('button', { name: '删除 shelf 00' }).tap();
    await dialog(page).getByRole('button', { name: '删除' }).tap();
    await page.getByText('已删除 shelf 00。').waitFor();
  });

  it('draws by hand what the panel says: a cell, actions, and an item with an address of its own', async () => {
    const { page } = await visit('detail');
    await page.getByText('20 volumes').waitFor();
    await page.getByText('act on shelf 02').waitFor();
    await page.getByRole('link', { name: 'shelf 02' }).click();
    await page.getByText('It has 20 books.').waitFor();
    await expectWellMade(page, 'one item of a collection');
    expect(page.url()).to.match(/#\/detail\/s2$/);
    await page.getByRole('button', { name: 'Edit shelf 02' }).click();
    await dialog(page).getByLabel('Books').fill('21');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('It has 21 books.').waitFor();
    await page.getByRole('button', { name: 'Delete shelf 02' }).click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 to 5 of 11').waitFor();
  });

  it('offers a viewer no change', async () => {
    const own = await boot(person('vera', 'viewer'));
    const { page } = await chromium.open(`${own.url}/#/items`);
    await logInAs(page, 'vera');
    await page.getByRole('cell', { name: 'shelf 00', exact: true }).waitFor();
    for (const name of ['New shelf', 'Edit shelf 00', 'Delete shelf 00']) expect(await page.getByRole('button', { name }).isDisabled(), name).to.equal(true);
  });
});
