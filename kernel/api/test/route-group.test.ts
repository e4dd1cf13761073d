/** Routes of one area say only what is their own. */
import { type JsonReply, type MediaReply, OneOf, PageQuery, pageOf, reply, type RouteReply, routeGroup, Type } from '@svc/api';
import { expect } from 'chai';

const route = routeGroup({ area: 'notes', errors: [503] });
const about = { path: '/api/notes', summary: 'Notes', responses: { 200: Type.Object({}) }, handler: async () => reply(200, {}) };
/** Whether a handler of a route with these responses may answer so. A wrong answer here does not compile. */
type Fits<T> = T extends RouteReply<typeof responses> ? true : false;
const responses = {
  200: Type.Object({ n: Type.Integer(), hint: Type.Optional(Type.String()), state: OneOf(['on', 'off']) }),
  304: Type.Null(),
  206: { description: 'bytes', contentType: 'text/plain' },
};

const answers = (decl: { responses: object }): number[] => Object.keys(decl.responses).map(Number);

describe('a group of routes', () => {
  it('asks for a bearer, for reading with GET and for writing otherwise, at the usual cost', () => {
    expect(route({ ...about, id: 'listNotes', method: 'GET' })).to.include({ auth: 'bearer', permission: 'notes.read', cost: 1 });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) expect(route({ ...about, id: 'writeNote', method })).to.include({ auth: 'bearer', permission: 'notes.write', cost: 5 });
  });

  it('lets each say otherwise', () => {
    expect(route({ ...about, id: 'listNotes', method: 'GET', auth: 'public', permission: 'notes.admin', cost: 30 })).to.include({ auth: 'public', permission: 'notes.admin', cost: 30 });
  });

  it('declares the errors of the group, those of the route, and those that come with what it takes', () => {
    expect(answers(route({ ...about, id: 'listNotes', method: 'GET' }))).to.deep.equal([200, 503]);
    expect(answers(route({ ...about, id: 'listNotes', method: 'GET', query: PageQuery, errors: [404] }))).to.deep.equal([200, 400, 404, 503]);
    expect(answers(route({ ...about, id: 'writeNote', method: 'POST', body: Type.Object({}), idempotent: true }))).to.deep.equal([200, 400, 409, 503]);
  });

  it('takes JSON of a declared status and shape, and anything that is no JSON', () => {
    const taken: [Fits<JsonReply<200, { n: number; hint: undefined; state: 'on' }>>, Fits<JsonReply<304, undefined>>, Fits<MediaReply>] = [true, true, true];
    const refused: [
      Fits<JsonReply<200, { n: string; state: 'on' }>>,
      Fits<JsonReply<200, { n: number; state: string }>>,
      Fits<JsonReply<200, { state: 'on' }>>,
      Fits<JsonReply<206, object>>,
      Fits<JsonReply<404, object>>,
    ] = [false, false, false, false, false];
    expect([taken.length, refused.length]).to.deep.equal([3, 5]);
    const { handler } = route({ ...about, id: 'getState', method: 'GET', responses, handler: async () => reply(200, { n: 1, state: 'on' }) });
    expect(handler).to.be.a('function');
  });

  it('does not put its error in the place of an answer that the route describes', () => {
    const answer = Type.Object({ spare: Type.Boolean() });
    expect(route({ ...about, id: 'listNotes', method: 'GET', responses: { 200: Type.Object({}), 503: answer } }).responses[503]).to.equal(answer);
  });
});

describe('a list in pages', () => {
  it('takes what db.page takes, and answers with what it gives', () => {
    expect(Object.keys(PageQuery.properties).sort()).to.deep.equal(['after', 'limit']);
    expect(PageQuery.required).to.equal(undefined);
    const page = pageOf(Type.Object({ id: Type.String() }));
    expect(page.required).to.deep.equal(['rows', 'next']);
  });
});
