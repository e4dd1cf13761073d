import { createConfig, lintFromString } from '@redocly/openapi-core';
import { bytes, defineSocket, documented, ErrorBody, reply, Type, Uuid } from '@svc/api';
import { expect } from 'chai';
import { type Bench, route, startBench } from './http-fixture.js';

const INFO = { title: 'svc', version: '0.1.0', description: 'A daemon that hosts agents.', serverUrl: 'http://127.0.0.1:4545', license: 'MIT', areas: { things: 'What is kept.' } };

// biome-ignore lint/suspicious/noExplicitAny: a document is read by path here
const documentOf = (bench: Bench): any => bench.http.openapi(INFO).document;

describe('openapi', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
    bench.area('things', {
      routes: [
        route({
          id: 'things.list',
          path: '/api/things',
          query: Type.Object({ limit: Type.Integer({ default: 50, description: 'At most so many' }), kind: Type.String(documented({ pattern: '^[a-z]+$' })) }),
          responses: { 200: Type.Object({ things: Type.Array(Type.Object({ id: Uuid })), total: Type.Integer() }) },
          handler: async () => reply(200, {}),
        }),
        route({
          id: 'things.add',
          method: 'POST',
          idempotent: true,
          path: '/api/things',
          body: Type.Object({ name: Type.String() }),
          responses: { 201: Type.Object({ id: Uuid }), 409: ErrorBody },
          handler: async () => reply(201, {}),
        }),
        route({
          id: 'things.get',
          path: '/api/things/{id}',
          params: Type.Object({ id: Uuid }),
          headers: Type.Object({ 'If-None-Match': Type.Optional(Type.String()) }),
          responses: { 200: Type.Object({ id: Uuid }) },
          handler: async () => reply(200, {}),
        }),
        route({
          id: 'things.delete',
          method: 'DELETE',
          path: '/api/things/{thing_id}',
          params: Type.Object({ thing_id: Uuid }),
          responses: { 204: Type.Null() },
          handler: async () => reply(204, undefined),
        }),
        route({
          id: 'things.file',
          path: '/api/things/{id}/files/{*path}',
          responses: { 200: { description: 'The file', contentType: 'application/octet-stream' } },
          handler: async () => bytes(200, 'application/octet-stream', ''),
        }),
        route({ id: 'things.pause', method: 'POST', path: '/api/things/{id}:pause', params: Type.Object({ id: Uuid }), responses: { 200: Type.Object({}) }, handler: async () => reply(200, {}) }),
        route({ id: 'things.put', method: 'PUT', path: '/api/things/{id}/files/{*path}', rawBody: true, responses: { 200: Type.Object({}) }, handler: async () => reply(200, {}) }),
        route({ id: 'health', path: '/api/health', auth: 'public', responses: { 200: Type.Object({ status: Type.String() }) }, handler: async () => reply(200, {}) }),
      ],
      sockets: [
        defineSocket({
          id: 'things.ws',
          path: '/api/things/{id}/ws',
          summary: 'Live frames',
          auth: 'bearer',
          permission: 'things.read',
          cost: 1,
          upgrade: async () => undefined,
          message: () => undefined,
        }),
      ],
    });
  });
  afterEach(() => bench.stop());

  it('is clean under the recommended rules of redocly', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(documentOf(bench)), config });
    expect(problems.map((problem) => `${problem.ruleId}: ${problem.message}`)).to.deep.equal([]);
  });

  it('describes every route with id, owner, auth, parameters, body and answers, bounds of integers and what a handler checks among them', () => {
    const { paths, components } = documentOf(bench);
    expect(paths['/api/things'].get).to.deep.include({ operationId: 'things.list', tags: ['things'], security: [{ bearer: [] }] });
    expect(paths['/api/things'].get.parameters).to.deep.equal([
      {
        name: 'limit',
        in: 'query',
        description: 'At most so many',
        schema: { type: 'integer', default: 50, description: 'At most so many', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      },
      { name: 'kind', in: 'query', required: true, schema: { type: 'string', pattern: '^[a-z]+$' } },
    ]);
    expect(Object.keys(paths['/api/things'].post.responses)).to.deep.equal(['201', '400', '401', '403', '406', '408', '409', '413', '415', '429', '500', '503']);
    expect(paths['/api/things'].post.responses[409]).to.deep.equal({ $ref: '#/components/responses/Conflict' });
    expect(components.responses.Conflict.content['application/json'].schema).to.deep.equal({ $ref: '#/components/schemas/ErrorBody' });
    expect(paths['/api/health'].get.security).to.deep.equal([]);
    expect(components.schemas.ErrorBody).to.not.have.property('$id');
  });

  it('gives one name to parameters of paths that differ in nothing else', () => {
    const { paths } = documentOf(bench);
    expect(Object.keys(paths['/api/things/{id}'])).to.have.members(['get', 'delete']);
    expect(paths['/api/things/{id}:pause'].post.operationId).to.equal('things.pause');
    expect(paths['/api/things/{id}'].delete.parameters).to.deep.equal([
      { name: 'id', in: 'path', required: true, description: 'A UUID', example: '0d1f6f0a-4f6c-4b4e-9f57-0c7f4f1f2a61', schema: { type: 'string', format: 'uuid', description: 'A UUID' } },
    ]);
  });

  it('says what each area is for, once', () => {
    expect(documentOf(bench).tags).to.deep.equal([{ name: 'things', description: 'What is kept.' }]);
  });

  it('names the headers of every answer, and when to come back of those that say so', () => {
    const { paths, components } = documentOf(bench);
    expect(paths['/api/things'].get.responses[200].headers).to.deep.equal({ 'x-request-id': { $ref: '#/components/headers/RequestId' } });
    for (const name of ['TooManyRequests', 'Unavailable']) expect(components.responses[name].headers).to.have.all.keys('x-request-id', 'retry-after');
    expect(components.responses.Conflict.headers).to.have.all.keys('x-request-id');
  });

  it('names the request headers that a route reads, the key of an idempotent one among them', () => {
    const headersOf = (path: string, method: string): string[] =>
      (documentOf(bench).paths[path][method].parameters ?? []).filter((one: { in: string }) => one.in === 'header').map((one: { name: string }) => one.name);
    expect(headersOf('/api/things', 'post')).to.deep.equal(['Idempotency-Key']);
    expect(headersOf('/api/things/{id}', 'get')).to.deep.equal(['If-None-Match']);
  });

  it('writes sockets as a GET that switches protocols', () => {
    expect(documentOf(bench).paths['/api/things/{id}/ws'].get.responses).to.include.keys('101', '404', '426');
  });

  it('keeps document and ETag until a table changes, and a switched-off area leaves no trace', () => {
    const before = bench.http.openapi(INFO);
    expect(bench.http.openapi(INFO)).to.equal(before);
    const extra = bench.area('extra', { routes: [route({ path: '/api/extra', handler: async () => reply(200, {}) })] });
    expect(bench.http.openapi(INFO).etag).to.not.equal(before.etag);
    bench.remove(extra);
    expect(bench.http.openapi(INFO).etag).to.equal(before.etag);
    expect(documentOf(bench).paths).to.not.have.property('/api/extra');
  });
});
