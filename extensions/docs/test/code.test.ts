/** The code that /docs shows, run: each example asks what the operation is, with the body that the document gives as an example. */
import { spawnSync } from 'node:child_process';
import { requestOf } from '@svc/client/request';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { codeFor } from '../page/code.js';
import { type Api, found, isSocket, isStream, type Operation, readApi } from '../page/openapi.js';
import { addressWith, requestSample, sampleOf } from '../page/sample.js';

const ORIGIN = 'http://127.0.0.1:4545';

describe('the code of /docs', () => {
  let api: Api;
  let operations: Operation[];
  before(async () => {
    const { http } = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
    api = readApi((await http.expect(200, 'GET', '/api/openapi.json')).body);
    operations = api.areas.flatMap((area) => area.operations).filter((operation) => !isSocket(operation));
    expect(operations.length).to.be.greaterThan(150);
  });
  after(stopTestKernels);

  const sampleFor = (operation: Operation) => requestSample(operation, api.schemas);
  const urlOf = (operation: Operation): string => ORIGIN + addressWith(operation.path, sampleFor(operation));
  const jsonOf = (operation: Operation): unknown => (operation.body?.contentType === 'application/json' ? sampleFor(operation).body : undefined);

  it('asks the same by curl', () => {
    const code = operations.map((operation) => codeFor('curl', { operation, sample: sampleFor(operation), origin: ORIGIN }));
    const { stdout, stderr } = spawnSync('sh', [], { input: `curl() { printf '%s\\0' "$@"; printf '\\1'; }\nSVC_API_KEY=sesame\n${code.join('\n')}\n`, encoding: 'utf8', maxBuffer: 1e8 });
    expect(stderr).to.equal('');
    const calls = stdout.split('\u0001').slice(0, -1);
    expect(calls.length).to.equal(operations.length);
    for (const [index, operation] of operations.entries()) {
      const args = calls[index]?.split('\0').slice(0, -1) ?? [];
      const after = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
      const hasBody = ['-d', '-F', '--data-binary'].some((name) => args.includes(name));
      expect(after('-X') ?? (hasBody ? 'POST' : 'GET'), operation.id).to.equal(operation.method);
      expect(args, operation.id).to.include(urlOf(operation));
      expect(args.includes('Authorization: Bearer sesame'), operation.id).to.equal(operation.needsKey);
      expect(args.includes('-N'), operation.id).to.equal(isStream(operation));
      const body = after('-d');
      expect(body === undefined ? undefined : JSON.parse(body), operation.id).to.deep.equal(jsonOf(operation));
    }
  });

  it('asks the same by TypeScript, with the operation and the names that the client has', async () => {
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
    for (const operation of operations) {
      const code = codeFor('typescript', { operation, sample: sampleFor(operation), origin: ORIGIN }).replaceAll(/^import .*$/gm, '');
      const asked: unknown[][] = [];
      const client = { call: async (...args: unknown[]) => void asked.push(args) };
      const followEvents = (_client: unknown, ...args: unknown[]) => {
        asked.push(args);
        return [];
      };
      const run = new AsyncFunction('createClient', 'followEvents', 'readFile', 'process', 'console', code);
      await run(
        () => client,
        followEvents,
        async () => 'content',
        { env: {} },
        { log: () => undefined },
      );
      const [id, input = {}] = asked[0] ?? [];
      expect(id).to.equal(operation.id);
      const { method, path, body } = requestOf(operation.id as never, input as never, undefined); // whether it takes that is the claim
      expect([method, ORIGIN + path], operation.id).to.deep.equal([operation.method, urlOf(operation)]);
      expect(typeof body === 'string' && jsonOf(operation) !== undefined ? JSON.parse(body) : undefined, operation.id).to.deep.equal(jsonOf(operation));
    }
  });

  it('asks the same by Python', function () {
    const code = operations.map((operation) => codeFor('python', { operation, sample: sampleFor(operation), origin: ORIGIN }));
    const program = `
import json, sys, types, builtins
class Answer:
  text = ''
  def raise_for_status(self): pass
  def json(self): return None
  def iter_lines(self, decode_unicode): return []
calls = []
def asked(method):
  def ask(url, params=None, headers=None, json=None, files=None, data=None, stream=False, timeout=None):
    calls.append([method, url, params, json, headers])
    return Answer()
  return ask
sys.modules['requests'] = types.SimpleNamespace(**{name: asked(name.upper()) for name in ['get', 'post', 'put', 'patch', 'delete']})
builtins.open = lambda *given: None
builtins.print = lambda *given: None
for source in json.loads(sys.stdin.read()): exec(source, {})
sys.stdout.write(json.dumps(calls))
`;
    const { error, stdout, stderr } = spawnSync('python3', ['-c', program], { input: JSON.stringify(code), encoding: 'utf8', maxBuffer: 1e8 });
    if (error) return this.skip(); // there is no Python here
    expect(stderr).to.equal('');
    const calls: Array<[string, string, Record<string, unknown> | null, unknown, Record<string, string> | null]> = JSON.parse(stdout);
    for (const [index, operation] of operations.entries()) {
      const [method, url, params, json] = calls[index] ?? [];
      const { path, query } = sampleFor(operation);
      expect([method, url], operation.id).to.deep.equal([operation.method, ORIGIN + addressWith(operation.path, { path, query: {} })]);
      expect(Object.keys(params ?? {}), operation.id).to.deep.equal(Object.keys(query));
      expect(json ?? undefined, operation.id).to.deep.equal(jsonOf(operation));
    }
  });

  it('shows an example of each answer of JSON, made of its schema, also of types that contain themselves', () => {
    const node = { properties: { name: { type: 'string' }, next: { $ref: '#/components/schemas/Node' }, kind: { enum: ['leaf', 'branch'] }, at: { type: 'string', format: 'date-time' } } };
    const sample = sampleOf({ $ref: '#/components/schemas/Node' }, { Node: node }) as Record<string, unknown>;
    expect(sample).to.include({ name: 'text', kind: 'leaf', at: '2026-01-15T09:30:00.000Z' });
    expect(JSON.stringify(sample).length).to.be.below(2_000);
    for (const { answers, id } of operations) for (const { schema } of answers) if (schema) expect(JSON.stringify(sampleOf(schema, api.schemas)).length, id).to.be.below(30_000);
  });

  it('finds an operation by words of its summary, its path and its area', () => {
    const ids = (typed: string): string[] => found(api, typed).flatMap((area) => area.operations.map(({ id }) => id));
    expect(ids('stream answer')).to.include('streamMessage');
    expect(ids('post agents clone')).to.deep.equal(['cloneAgent']);
    expect(ids('no such words')).to.deep.equal([]);
    expect(ids(' ').length).to.be.greaterThan(150);
  });
});
