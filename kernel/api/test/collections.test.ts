/** A collection over HTTP, on both databases: what one declaration gives. */
import { createHash } from 'node:crypto';
import { defineCollection, defineErrors, defineExtension, type ExtensionContext, type Item, itemOf, Nullable, OneOf, openCollection, type OpenCollection, Type } from '@svc/api';
import { collectionErrors } from '@svc/api/internal';
import { bootTestKernel, describeOnEngines, fixtureExtension, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const errors = defineErrors('books', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no book ${id}.` },
  too_long: { status: 400, retry: false, message: () => 'The book has too many pages.' },
});

const fields = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 100 }),
  shelf: OneOf(['read', 'wanted'], { default: 'wanted' }),
  pages: Type.Integer({ minimum: 0, default: 0 }),
  lent: Type.Boolean({ default: false }),
  price: Nullable(Type.Number()),
  tags: Type.Array(Type.String(), { default: [] }),
});

const Books = defineCollection({
  area: 'books',
  one: 'book',
  path: '/api/books',
  fields,
  unique: [['title']],
  list: { filters: ['shelf', 'lent'], search: ['title', 'shelf'], sort: ['created_at', 'title', 'pages'] },
  actions: { lend: { summary: 'Lend a book', answer: itemOf({ fields }, 'Book') } },
  missing: errors.not_found,
});
type Book = Item<(typeof Books)['spec']['fields']>;

const LONGEST = 9_000;

const activate = (ctx: ExtensionContext): void => {
  const books: OpenCollection<typeof fields> = openCollection(ctx, Books, {
    check: ({ item }) => {
      if (item.pages > LONGEST) throw errors.too_long();
      return { ...item, title: item.title.trim() };
    },
    actions: { lend: ({ actor, item }): Promise<Book> => books.update(actor, item.id, { lent: true }) },
  });
  ctx.routes.add(...books.routes);
};

const KEYS = { owner: 'books-root-key', alice: 'books-alice-key', bob: 'books-bob-key', eve: 'books-eve-key' };
const ROLES = { alice: 'user', bob: 'user', eve: 'viewer' } as const;

interface Changed {
  readonly id: string;
  readonly ownerId: string;
  readonly change: string;
}

interface World {
  readonly kernel: TestKernel;
  readonly owner: TestHttp;
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly eve: TestHttp;
  readonly emitted: Changed[];
  add(http: TestHttp, registry: Partial<Book>): Promise<Book>;
}

const listener = (emitted: Changed[]) =>
  fixtureExtension({
    id: 'listener',
    manifest: { events: { listens: [Books.changed.name] } },
    definition: defineExtension({ activate: (ctx) => void ctx.events.on(Books.changed, (data) => void emitted.push(data)) }),
  });

const open = async (): Promise<World> => {
  const emitted: Changed[] = [];
  const people = Object.entries(ROLES).map(
    ([name, role]) =>
      `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256')
        .update(KEYS[name as keyof typeof ROLES])
        .digest('hex')}"\n`,
  );
  const kernel = await bootTestKernel({
    config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[extensions]\nenable = ["books", "listener"]\n${people.join('')}`,
    extra: [
      fixtureExtension({
        id: 'books',
        manifest: { tables: ['books'], events: { publishes: [Books.changed.name] } },
        contributions: {
          migrations: ['0001_init'],
          routes: ['DELETE /api/books/{id}', 'GET /api/books', 'GET /api/books/{id}', 'POST /api/books', 'POST /api/books/{id}/lend', 'PUT /api/books/{id}'],
        },
        definition: defineExtension({ collections: [Books], activate }),
      }),
      listener(emitted),
    ],
  });
  const [owner, alice, bob, eve] = [kernel.as(KEYS.owner), kernel.as(KEYS.alice), kernel.as(KEYS.bob), kernel.as(KEYS.eve)];
  return { kernel, owner, alice, bob, eve, emitted, add: async (http, registry) => (await http.expect(201, 'POST', '/api/books', registry)).body };
};

const titles = async (http: TestHttp, query = ''): Promise<string[]> => (await http.expect(200, 'GET', `/api/books${query}`)).body.books.map(({ title }: Book) => title);

describeOnEngines('a collection', function () {
  this.timeout(30_000);
  let world: World;
  before(async () => {
    world = await open();
  });
  after(stopTestKernels);
  afterEach(async () => {
    for (const { id } of (await world.owner.expect(200, 'GET', '/api/books')).body.books) await world.owner.expect(200, 'DELETE', `/api/books/${id}`);
    world.emitted.length = 0;
  });

  it('creates an item with its defaults, answers with where it is, and gives it back as it was written', async () => {
    const { alice } = world;
    const made = await alice.expect(201, 'POST', '/api/books', { title: ' Emma ', price: 7.5, tags: ['old', 'novel'] });
    expect(made.body).to.deep.include({ title: 'Emma', shelf: 'wanted', pages: 0, lent: false, price: 7.5, tags: ['old', 'novel'], revision: 1 });
    expect([made.headers.get('location'), made.headers.get('etag')]).to.deep.equal([`/api/books/${made.body.id}`, '"1"']);
    expect((await alice.expect(200, 'GET', `/api/books/${made.body.id}`)).body).to.deep.equal(made.body);
  });

  it('changes what a change names and leaves the rest, defaults too', async () => {
    const { alice, add } = world;
    const { id } = await add(alice, { title: 'Emma', pages: 400, shelf: 'read', price: 3 });
    const changed = await alice.expect(200, 'PUT', `/api/books/${id}`, { price: null, lent: true });
    expect(changed.body).to.deep.include({ title: 'Emma', pages: 400, shelf: 'read', price: null, lent: true, revision: 2 });
  });

  it('refuses what its schema or its rules refuse, and writes nothing of it', async () => {
    const { alice, add } = world;
    const { id } = await add(alice, { title: 'Emma' });
    for (const bad of [{}, { title: '' }, { title: 'x', shelf: 'lost' }, { title: 'x', nothing: 1 }, { title: 'x', pages: null }, { title: 'x', owner_id: 'owner' }, { title: 'x', revision: 4 }])
      expect((await alice.post('/api/books', bad)).status, JSON.stringify(bad)).to.equal(400);
    expect((await alice.expect(400, 'POST', '/api/books', { title: 'Long', pages: LONGEST + 1 })).body.code).to.equal('books_too_long');
    expect((await alice.expect(400, 'PUT', `/api/books/${id}`, { pages: LONGEST + 1 })).body.code).to.equal('books_too_long');
    expect(await titles(alice)).to.deep.equal(['Emma']);
  });

  it('shows nobody the items of another person, and lets nobody change them; a viewer changes nothing', async () => {
    const { alice, bob, eve, owner, add } = world;
    const { id } = await add(alice, { title: 'Hers' });
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { title: 'His' }],
      ['DELETE', '', undefined],
      ['POST', '/lend', undefined],
    ] as const) {
      const { status, body: said } = await bob.send(method, `/api/books/${id}${path}`, body);
      expect([status, said.code], `${method} ${path}`).to.deep.equal([404, 'books_not_found']);
    }
    expect([await titles(bob), await titles(owner)]).to.deep.equal([[], ['Hers']]);
    expect((await eve.post('/api/books', { title: 'Mine' })).status).to.equal(403);
    expect((await bob.expect(200, 'GET', '/api/books')).body.total).to.equal(0);
  });

  it('lists by offset with a total, and by a cursor that neither repeats nor hides while items come and go', async () => {
    const { alice, add } = world;
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      ids.push((await add(alice, { title: `book ${n}`, pages: n })).id);
      // Two of one millisecond have no order between them.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const second = (await alice.expect(200, 'GET', '/api/books?sort=pages&order=asc&limit=5&offset=5')).body;
    expect([second.total, second.offset, second.limit, second.books.map(({ pages }: Book) => pages)]).to.deep.equal([12, 5, 5, [5, 6, 7, 8, 9]]);
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const { body } = await alice.expect(200, 'GET', `/api/books?limit=5${after && `&after=${encodeURIComponent(after)}`}`);
      seen.push(...body.books.map(({ title }: Book) => title));
      after = body.next;
      await add(alice, { title: `later ${seen.length}` });
      await alice.expect(200, 'DELETE', `/api/books/${ids.pop()}`);
    }
    expect(seen).to.deep.equal(Array.from({ length: 12 }, (_, n) => `book ${11 - n}`));
    expect((await alice.expect(400, 'GET', '/api/books?after=x&offset=2')).body.code).to.equal('collection_two_pages');
    expect((await alice.get('/api/books?after=nonsense')).status).to.equal(400);
  });

  it('narrows a list by its filters and by words, and counts what fits', async () => {
    const { alice, bob, add } = world;
    await add(alice, { title: 'War and Peace', shelf: 'read', pages: 3 });
    await add(alice, { title: 'Peace 100%', pages: 2, lent: true });
    await add(alice, { title: 'Emma', pages: 1 });
    await add(bob, { title: 'Peace of his' });
    const asked = (query: string): Promise<string[]> => titles(alice, `?sort=pages&${query}`);
    expect(await asked('shelf=read')).to.deep.equal(['War and Peace']);
    expect(await asked('lent=true')).to.deep.equal(['Peace 100%']);
    expect(await asked('q=peace')).to.deep.equal(['War and Peace', 'Peace 100%']);
    expect(await asked('q=PEACE%20read')).to.deep.equal(['War and Peace']);
    expect(await asked('q=0%25')).to.deep.equal(['Peace 100%']);
    expect(await asked('q=_')).to.deep.equal([]);
    expect((await alice.expect(200, 'GET', '/api/books?q=peace&limit=1')).body).to.include({ total: 2, limit: 1 });
    for (const bad of ['shelf=lost', 'sort=price', 'order=up', 'limit=0', 'offset=-1', 'pages=1']) expect((await alice.get(`/api/books?${bad}`)).status, bad).to.equal(bad === 'pages=1' ? 200 : 400);
  });

  it('keeps what must be unique unique for each person', async () => {
    const { alice, bob, add } = world;
    await add(alice, { title: 'Emma' });
    const { id } = await add(alice, { title: 'Other' });
    const refused = await alice.expect(409, 'POST', '/api/books', { title: 'Emma' });
    expect([refused.body.code, refused.body.error]).to.deep.equal(['collection_taken', collectionErrors.taken('book', ['title']).message]);
    expect((await alice.expect(409, 'PUT', `/api/books/${id}`, { title: 'Emma' })).body.code).to.equal('collection_taken');
    await add(bob, { title: 'Emma' });
  });

  it('applies changes made at once one after the other, so that none is lost', async () => {
    const { alice, add } = world;
    const { id } = await add(alice, { title: 'Emma' });
    const changes = [{ pages: 5 }, { shelf: 'read' }, { lent: true }, { price: 9 }];
    await Promise.all(changes.map((change) => alice.expect(200, 'PUT', `/api/books/${id}`, change)));
    expect((await alice.expect(200, 'GET', `/api/books/${id}`)).body).to.deep.include({ pages: 5, shelf: 'read', lent: true, price: 9, revision: 5 });
  });

  it('refuses a change or a deletion that is based on an older revision, where the caller asks for that', async () => {
    const { alice, add } = world;
    const { id } = await add(alice, { title: 'Emma' });
    await alice.expect(200, 'PUT', `/api/books/${id}`, { pages: 1 }, { 'if-match': '"1"' });
    for (const [method, body] of [
      ['PUT', { pages: 2 }],
      ['DELETE', undefined],
    ] as const)
      expect((await alice.expect(412, method, `/api/books/${id}`, body, { 'if-match': '"1"' })).body.code, method).to.equal('collection_changed');
    expect((await alice.expect(400, 'PUT', `/api/books/${id}`, { pages: 2 }, { 'if-match': 'yesterday' })).body.code).to.equal('collection_bad_revision');
    await alice.expect(200, 'DELETE', `/api/books/${id}`, undefined, { 'if-match': '"2"' });
  });

  it('creates once per idempotency key', async () => {
    const { alice, emitted } = world;
    const key = { 'idempotency-key': 'book-1' };
    const first = await alice.expect(201, 'POST', '/api/books', { title: 'Once' }, key);
    expect((await alice.expect(201, 'POST', '/api/books', { title: 'Once' }, key)).body).to.deep.equal(first.body);
    await alice.expect(409, 'POST', '/api/books', { title: 'Twice' }, key);
    expect([await titles(alice), emitted.length]).to.deep.equal([['Once'], 1]);
  });

  it('emits each change once, with whose it is, and none for what was refused', async () => {
    const { alice, add, emitted } = world;
    const { id, owner_id: ownerId } = await add(alice, { title: 'Emma' });
    await alice.expect(200, 'POST', `/api/books/${id}/lend`);
    await alice.expect(409, 'POST', '/api/books', { title: 'Emma' });
    expect((await alice.expect(200, 'DELETE', `/api/books/${id}`)).body).to.deep.equal({ status: 'deleted', book_id: id });
    await alice.expect(404, 'DELETE', `/api/books/${id}`);
    expect(emitted).to.deep.equal(['created', 'updated', 'deleted'].map((change) => ({ id, ownerId, change })));
  });

  it('goes with its owner', async () => {
    const { alice, bob, kernel, add } = world;
    const { owner_id: hers } = await add(alice, { title: 'Hers' });
    await add(bob, { title: 'His' });
    await kernel.daemon.parts.purges.purge({ ownerId: hers });
    expect([await titles(alice), await titles(bob)]).to.deep.equal([[], ['His']]);
  });
});

describe('the declaration of a collection', () => {
  const declared = (fields: Parameters<typeof defineCollection>[0]['fields'], rest = {}) =>
    defineCollection({ area: 'things', one: 'thing', path: '/api/things', fields, missing: errors.not_found, ...rest });

  it('refuses a field that every item has, and a search in what is no text', () => {
    expect(() => declared(Type.Object({ id: Type.String() }))).to.throw('the field id is one that every item has');
    expect(() => declared(Type.Object({ n: Type.Integer() }), { list: { search: ['n'] } })).to.throw('which is not a text field');
    expect(() => declared(Type.Object({ n: Type.Integer() }), { list: { filters: ['m'] } })).to.throw('m, which is not a field');
  });

  it('gives the commands and names of its words', () => {
    const things = declared(Type.Object({ name: Type.String() }), { one: 'odd thing', operations: { delete: false, update: { id: 'fixOddThing' } } });
    expect(things.commands.map(({ command, operation }) => [command, operation])).to.deep.equal([
      ['things list', 'listOddThings'],
      ['things get', 'getOddThing'],
      ['things create', 'createOddThing'],
      ['things update', 'fixOddThing'],
    ]);
    expect([things.table.name, things.changed.name]).to.deep.equal(['odd_things', 'odd_things.changed']);
  });
});
