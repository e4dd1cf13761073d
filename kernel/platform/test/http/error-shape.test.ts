import { follow, reply, Type, waitFor } from '@svc/api';
import { expect } from 'chai';
import { type Bench, route, startBench, TestAnswer, TestFrames, TestStream } from './http-fixture.js';

/** The form of one protocol: whoever says `x-form: list` reads `[status, code]`. */
const errorShape = {
  under: '/p/',
  body: (status: number, error: { code: string }, headers: Readonly<Record<string, string | undefined>>) => (headers['x-form'] === 'list' ? [status, error.code] : undefined),
};
const LIST = { 'x-form': 'list' };

describe('the form of an error that a route declares', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
    bench.area('a', {
      routes: [
        route({
          id: 'p.ask',
          method: 'POST',
          path: '/p/ask',
          errorShape,
          body: Type.Object({ q: Type.String() }),
          maxBodyBytes: 20,
          responses: { 200: Type.Unknown() },
          handler: async () => reply(200, 1),
        }),
      ],
    });
    bench.area('b', {
      routes: [route({ id: 'b.ask', method: 'POST', path: '/api/ask', body: Type.Object({ q: Type.String() }), responses: { 200: Type.Unknown() }, handler: async () => reply(200, 1) })],
    });
  });
  afterEach(() => bench.stop());

  it('holds for everything the platform refuses there, to callers that read it', async () => {
    const refused = async (work: Promise<{ json: unknown }>) => (await work).json;
    expect(await refused(bench.send('POST', '/p/ask', {}, LIST))).to.deep.equal([400, 'invalid_request']);
    expect(await refused(bench.send('POST', '/p/ask', '{', LIST))).to.deep.equal([400, 'invalid_json']);
    expect(await refused(bench.send('POST', '/p/ask', { q: 'x'.repeat(40) }, LIST))).to.deep.equal([413, 'body_too_large']);
    expect(await refused(bench.send('POST', '/p/ask', 'q', { ...LIST, 'content-type': 'text/plain' }))).to.deep.equal([415, 'unsupported_media_type']);
    expect(await refused(bench.get('/p/ask', LIST))).to.deep.equal([405, 'method_not_allowed']);
    expect(await refused(bench.get('/p/other', LIST))).to.deep.equal([404, 'not_found']);
    bench.admit = () => ({ deny: 'slow down', code: 'rate_limited', status: 429 });
    expect(await refused(bench.send('POST', '/p/ask', { q: 'x' }, LIST))).to.deep.equal([429, 'rate_limited']);
    bench.admit = undefined;
    bench.authenticate = () => undefined;
    expect(await refused(bench.send('POST', '/p/ask', { q: 'x' }, LIST))).to.deep.equal([401, 'unauthorized']);
    bench.admission = { state: 'stopping' };
    expect(await refused(bench.send('POST', '/p/ask', { q: 'x' }, LIST))).to.deep.equal([503, 'stopping']);
  });

  it('leaves other callers and other routes as they were', async () => {
    expect((await bench.send('POST', '/p/ask', {})).json).to.include({ code: 'invalid_request' });
    expect((await bench.get('/p/other')).json).to.include({ code: 'not_found' });
    expect((await bench.send('POST', '/api/ask', {}, LIST)).json).to.include({ code: 'invalid_request' });
    expect((await bench.get('/other', LIST)).json).to.include({ code: 'not_found' });
  });

  it('hides no error when it fails itself', async () => {
    const broken = { body: () => JSON.parse('{') };
    bench.area('c', {
      routes: [route({ id: 'c', path: '/c', errorShape: broken, query: Type.Object({ n: Type.Integer() }), responses: { 200: Type.Unknown() }, handler: async () => reply(200, 1) })],
    });
    const answer = await bench.get('/c?n=x');
    expect([answer.status, answer.json.code]).to.deep.equal([400, 'invalid_request']);
    expect(bench.logged.map((line) => line.message)).to.include('an error could not be written in the form its route declares');
  });

  it('is refused to a route that does not stand below the prefix it speaks for', () => {
    expect(() => bench.area('d', { routes: [route({ id: 'd', path: '/d', errorShape, handler: async () => reply(200, 1) })] })).to.throw('/p/');
  });
});

describe('an answer that waits for a frame', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench.stop());

  it('is given without one when none came in time, and the stream goes on from there', async () => {
    bench.streams.open(TestFrames, 't');
    bench.shows({
      preamble: () => {
        queueMicrotask(() => bench.streams.publish(TestFrames, 't', 'done', 'said'));
        return ': hello\n\n';
      },
      encode: ({ data }) => `data: ${JSON.stringify(data)}\n\n`,
    });
    bench.answers({ answer: () => reply(200, 'too early') });
    const late = { afterMs: 1, reply: follow('t', TestStream, undefined) };
    bench.area('a', { routes: [route({ path: '/w', responses: { 200: Type.Unknown() }, handler: async () => waitFor('t', TestAnswer, undefined, { late }) })] });
    const answer = await bench.get('/w');
    expect(answer.text).to.equal(': hello\n\ndata: "said"\n\n');
  });
});
