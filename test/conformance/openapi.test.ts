/** openapi.json of each preset: clean by an outside judge, and equal to the table that answers. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { walk } from './route-walk.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

// biome-ignore lint/suspicious/noExplicitAny: a document is read by path here
type Document = any;

const operationsOf = (document: Document): Array<{ method: string; path: string; operation: Document }> =>
  Object.entries(document.paths as Record<string, Document>).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })));
const plainPath = (path: string): string => path.replace(/\{\*?[^}]+\}/g, '{}');
const boot = (preset: string): Promise<TestKernel> => bootTestKernel({ config: `[extensions]\npreset = "${preset}"\n${OPEN_RATE}` });

describe('openapi.json', () => {
  after(stopTestKernels);

  for (const preset of ['minimal', 'standard', 'full'])
    describe(`of the preset ${preset}`, () => {
      let kernel: TestKernel;
      let document: Document;
      before(async () => {
        kernel = await boot(preset);
        document = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
      });
      after(() => kernel.stop());

      it('is clean under the recommended rules of redocly', async () => {
        const found = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ['recommended'] }) });
        const told = found.map((problem) => `${problem.severity} ${problem.ruleId} ${problem.location[0]?.pointer}: ${problem.message}`);
        // Its one wish that a local daemon cannot grant: a server that is not this machine.
        expect(told.filter((line) => !line.includes('no-server-example.com'))).to.deep.equal([]);
      });

      it('names exactly what is mounted', () => {
        const documented = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${plainPath(path)}`);
        const mounted = new Set(walk(kernel).map((one) => `${one.method} ${plainPath(one.template)}`));
        expect(documented.sort()).to.deep.equal([...mounted].sort());
      });

      it('tells for each operation its id, whether it needs the key, and its errors', () => {
        const declared = new Map(walk(kernel).map((one) => [one.id, one.decl]));
        const ids = new Set<string>();
        for (const { method, path, operation } of operationsOf(document)) {
          expect(METHODS, path).to.include(method);
          const decl = declared.get(operation.operationId);
          expect(decl, `${method} ${path} ${operation.operationId}`).to.not.equal(undefined);
          expect(operation.security, path).to.deep.equal(decl?.auth === 'public' ? [] : [{ bearer: [] }]);
          if (decl?.auth === 'bearer') expect(operation.responses, path).to.have.property('401');
          expect(operation.responses, path).to.have.property('429');
          ids.add(operation.operationId);
        }
        expect(ids.size).to.equal(operationsOf(document).length);
      });
    });

  it('has an ETag that answers 304 until the table changes', async () => {
    const kernel = await boot('standard');
    const first = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).to.match(/^"[0-9a-f]+"$/);
    expect((await kernel.http.get('/api/openapi.json', { 'if-none-match': etag })).status).to.equal(304);
    await kernel.daemon.kernel.disable('openai-compat');
    const changed = await kernel.http.expect(200, 'GET', '/api/openapi.json', undefined, { 'if-none-match': etag });
    expect(changed.headers.get('etag')).to.not.equal(etag);
  });

  it('holds no trace of an area that is off, nor does the table, and everything is back when it is on again', async () => {
    const kernel = await boot('full');
    const off = kernel.daemon.kernel.extensions().filter((one) => one.state === 'active' && !one.essential);
    expect(off.map((one) => one.id)).to.include.members(['webchat', 'openai-compat', 'files', 'commands', 'loop-guard']);
    const before = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
    for (const { id } of off) {
      const own = walk(kernel).filter((one) => kernel.daemon.kernel.routes().some((row) => row.owner === id && row.id === one.id));
      await kernel.daemon.kernel.disable(id, { force: true });
      const { body } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
      expect(
        operationsOf(body).filter(({ operation }) => operation.tags.includes(id)),
        id,
      ).to.deep.equal([]);
      expect(
        kernel.daemon.kernel.routes().filter((row) => row.owner === id),
        id,
      ).to.deep.equal([]);
      expect(
        kernel.daemon.kernel.tools().filter((row) => row.owner === id),
        id,
      ).to.deep.equal([]);
      for (const one of own) expect((await kernel.http.send(one.method, one.path, one.method === 'GET' ? undefined : {})).status, `${id}: ${one.template}`).to.equal(404);
    }
    for (const { id } of off) await kernel.daemon.kernel.enable(id);
    const { body } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    expect(body).to.deep.equal(before);
  });
});
