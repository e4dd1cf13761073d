import { Lifetime, type Contributor } from '@svc/core';
import { expect } from 'chai';
import { matchRoute } from '../../src/http/routes/route-match.js';
import { checkRow, emptyTable, nextTable, type RouteTable } from '../../src/http/routes/route-table.js';
import { route } from './http-fixture.js';

type Decl = ReturnType<typeof route>;

const ownerOf = (id: string): Contributor => ({ id, generation: 1, lifetime: new Lifetime(id) });
const handler = async () => ({ kind: 'json', status: 200, body: {}, headers: {} }) as const;
const rows = (...entries: string[]) =>
  entries.map((entry) => {
    const [method = 'GET', path = '/', id = 'area', auth = 'bearer'] = entry.split(' ');
    return { owner: ownerOf(id), value: route({ method: method as Decl['method'], path, auth: auth as Decl['auth'], id: entry, handler }) };
  });
const tableOf = (...entries: string[]): RouteTable<Decl> => nextTable(emptyTable<Decl>(), rows(...entries));
const answer = (table: RouteTable<Decl>, method: string, path: string): string => {
  const found = matchRoute(table, method, path);
  return found.kind === 'row' ? `${found.row.pattern.path} ${JSON.stringify(found.params)}` : found.kind === 'method' ? `allow ${found.allow.join()}` : found.kind;
};

describe('route-table', () => {
  const entries = ['GET /api/m/{*rest}', 'GET /api/m/{id}', 'GET /api/m/list', 'POST /api/m/{id}', 'GET /api/m/{id}/parts/{part}', 'GET /', 'GET /mcp', 'GET /hooks/{id}', 'GET /{*page}'];

  it('prefers literal to parameter to rest, whatever the order of registration', () => {
    for (const order of [entries, [...entries].reverse()]) {
      const table = tableOf(...order);
      expect(answer(table, 'GET', '/api/m/list')).to.equal('/api/m/list {}');
      expect(answer(table, 'GET', '/api/m/7')).to.equal('/api/m/{id} {"id":"7"}');
      expect(answer(table, 'GET', '/api/m/a/b')).to.equal('/api/m/{*rest} {"rest":"a/b"}');
      expect(answer(table, 'GET', '/api/m/7/parts/2')).to.equal('/api/m/{id}/parts/{part} {"id":"7","part":"2"}');
      expect(answer(table, 'GET', '/')).to.equal('/ {}');
      expect(answer(table, 'GET', '/mcp')).to.equal('/mcp {}');
      expect(answer(table, 'GET', '/hooks/x')).to.equal('/hooks/{id} {"id":"x"}');
      expect(answer(table, 'GET', '/index.html')).to.equal('/{*page} {"page":"index.html"}');
    }
  });

  it('tells apart what is done with one thing, the thing, and the list with a slash at its end', () => {
    const actions = ['GET /t/x/{id}', 'POST /t/x/{id}:cancel', 'POST /t/x/{id}', 'POST /t/x/{id}:pause', 'GET /t/', 'GET /t', 'POST /t/x/all:cancel'];
    for (const order of [actions, [...actions].reverse()]) {
      const table = tableOf(...order);
      expect(answer(table, 'POST', '/t/x/7:cancel')).to.equal('/t/x/{id}:cancel {"id":"7"}');
      expect(answer(table, 'POST', '/t/x/all:cancel')).to.equal('/t/x/all:cancel {}');
      expect(answer(table, 'POST', '/t/x/a:b:pause')).to.equal('/t/x/{id}:pause {"id":"a:b"}');
      expect(answer(table, 'POST', '/t/x/7')).to.equal('/t/x/{id} {"id":"7"}');
      expect(answer(table, 'GET', '/t/x/7:cancel')).to.equal('/t/x/{id} {"id":"7:cancel"}');
      expect([answer(table, 'GET', '/t/'), answer(table, 'GET', '/t')]).to.deep.equal(['/t/ {}', '/t {}']);
      expect(answer(table, 'POST', '/t/x/:cancel')).to.equal('/t/x/{id} {"id":":cancel"}');
    }
    expect(() => tableOf('GET /t/{*rest}:cancel')).to.throw('nothing follows {*name}');
  });

  it('falls through a literal row of another method to the parameter row', () => {
    expect(answer(tableOf('POST /api/m/bulk', 'GET /api/m/{id}'), 'GET', '/api/m/bulk')).to.equal('/api/m/{id} {"id":"bulk"}');
  });

  it('names the methods a known path takes, HEAD with GET', () => {
    expect(answer(tableOf('GET /api/m/{id}', 'DELETE /api/m/{id}'), 'PATCH', '/api/m/7')).to.equal('allow DELETE,GET,HEAD');
  });

  it('matches neither empty segments, nor another case, nor a slash at the end', () => {
    const table = tableOf('GET /api/m/{id}', 'GET /api/m/{*rest}', 'GET /api/{*rest}', 'GET /api/n');
    for (const path of ['/api//x', '/api/m//', '/API/m/7', '/api/n/']) expect(answer(tableOf('GET /api/m/{id}', 'GET /api/n'), 'GET', path), path).to.equal('none');
    expect(answer(table, 'GET', '/api/m//x')).to.equal('none');
  });

  it('decodes parameters and refuses what is not valid percent-encoding', () => {
    const table = tableOf('GET /api/m/{id}', 'GET /api/models/{*id}');
    expect(answer(table, 'GET', '/api/m/a%2Fb%20c')).to.equal('/api/m/{id} {"id":"a/b c"}');
    expect(answer(table, 'GET', '/api/models/org/model%3A1')).to.equal('/api/models/{*id} {"id":"org/model:1"}');
    expect(answer(table, 'GET', '/api/m/%E0%A4%A')).to.equal('encoding');
  });

  it('takes characters that mean something to the router as they are', () => {
    expect(answer(tableOf('GET /.well-known/agent.json', 'GET /api/a:b(c)'), 'GET', '/api/a:b(c)')).to.equal('/api/a:b(c) {}');
    expect(answer(tableOf('GET /.well-known/agent.json'), 'GET', '/.well-known/agentXjson')).to.equal('none');
  });

  it('rebuilds only the buckets that a change touched', () => {
    const first = rows('GET /api/a/{id}', 'GET /api/b/{id}');
    const before = nextTable(emptyTable<Decl>(), first);
    const after = nextTable(before, [...first, ...rows('GET /api/b/list')]);
    expect(after.buckets.get('api/a')).to.equal(before.buckets.get('api/a'));
    expect(after.buckets.get('api/b')).to.not.equal(before.buckets.get('api/b'));
    expect(answer(before, 'GET', '/api/b/list')).to.equal('/api/b/{id} {"id":"list"}');
    expect(after.version).to.equal(before.version + 1);
  });

  it('has no row of before in a bucket that has as many rows as before, or fewer', () => {
    const [kept, gone] = rows('GET /api/b/{id}', 'GET /api/b/list');
    if (kept === undefined || gone === undefined) throw new Error('there are two');
    const before = nextTable(emptyTable<Decl>(), [kept, gone]);
    const [next] = rows('GET /api/b/all');
    const replaced = nextTable(before, [kept, ...(next ? [next] : [])]);
    expect([answer(replaced, 'GET', '/api/b/all'), answer(replaced, 'GET', '/api/b/list')]).to.deep.equal(['/api/b/all {}', '/api/b/{id} {"id":"list"}']);
    expect(answer(nextTable(before, [kept]), 'GET', '/api/b/list')).to.equal('/api/b/{id} {"id":"list"}');
    // The same declaration of the next generation.
    const again = { owner: ownerOf('area'), value: gone.value };
    expect(
      nextTable(before, [kept, again])
        .buckets.get('api/b')
        ?.rows.map(({ owner }) => owner),
    )
      .to.include(again.owner)
      .and.not.include(gone.owner);
  });

  const conflict = (...entries: string[]): string | undefined => {
    const [candidate, ...others] = rows(...entries);
    try {
      if (candidate) checkRow(candidate, others);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('refuses two rows of one method and one shape, naming both owners', () => {
    const text = conflict('GET /api/m/{id} memory', 'GET /api/m/{key} agents');
    expect(text).to.contain('(memory)').and.to.contain('(agents)');
    expect(conflict('GET /api/m/{id} memory', 'POST /api/m/{id} agents')).to.equal(undefined);
  });

  it("refuses a literal path under another owner's parameter when the auth differs", () => {
    expect(conflict('GET /api/m/open a public', 'GET /api/m/{id} b bearer')).to.contain('differ in auth');
    expect(conflict('GET /api/m/{id} b bearer', 'GET /api/m/open a public')).to.contain('differ in auth');
    expect(conflict('GET /api/m/open a public', 'GET /api/{*rest} b bearer')).to.contain('differ in auth');
    expect(conflict('GET /api/m/open a bearer', 'GET /api/m/{id} b bearer')).to.equal(undefined);
    expect(conflict('GET /api/m/open a public', 'GET /api/m/{id} a bearer')).to.equal(undefined);
  });

  it('refuses a row without auth or cost, one id twice, and malformed paths', () => {
    const [given] = rows('GET /api/m');
    if (!given) throw new Error('no row');
    // What a careless author could write; the types would refuse it.
    const careless = (extra: object) => ({ owner: given.owner, value: { ...given.value, ...extra } as unknown as Decl });
    expect(() => checkRow(careless({ auth: undefined }), [])).to.throw('has no auth');
    expect(() => checkRow(careless({ cost: undefined }), [])).to.throw('has no cost');
    expect(() => checkRow(careless({ path: '/api/other' }), [given])).to.throw('same id');
    for (const path of ['api/m', '/api//m', '/api/{id}x', '/api/{*rest}/x']) expect(() => checkRow(careless({ path, id: path }), []), path).to.throw();
  });
});
