/** What the document tells a person: each operation in a few sentences, each body by example, each name one thing. */
import { bootTestKernel, OPEN_RATE, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { walk } from './route-walk.js';

/** Bodies of which three examples would say nothing more, and why. */
const SHOWN_ENOUGH: Readonly<Record<string, string>> = {
  archiveSession: 'it takes one of two values',
  finishLoginByForm: 'a provider writes it',
  compactSession: 'it takes no field',
  resetSession: 'it takes no field',
};

const MIN_EXAMPLES = 3;
/** Shorter than this nothing is said beyond the summary. */
const MIN_DESCRIPTION_CHARS = 20;

// biome-ignore lint/suspicious/noExplicitAny: a document is read by path here
type Document = any;

interface Named {
  readonly name: string;
  readonly text: string;
  readonly owner: string;
}

/** Every schema with a name inside a declaration. */
const namedIn = (value: unknown, owner: string): Named[] => {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((one) => namedIn(one, owner));
  return 'x-name' in value && typeof value['x-name'] === 'string' ? [{ name: value['x-name'], text: JSON.stringify(value), owner }, ...inner] : inner;
};

describe('the document of all that there is', () => {
  let kernel: TestKernel;
  let document: Document;
  let operations: Document[];
  before(async () => {
    kernel = await bootTestKernel({ config: `[extensions]\npreset = "full"\n${OPEN_RATE}` });
    document = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
    operations = Object.values<Document>(document.paths).flatMap((item) => Object.values<Document>(item));
  });
  after(() => kernel.stop());

  it('says of each operation what a person should know before the first call', () => {
    const silent = operations.filter(({ description = '' }) => description.length < MIN_DESCRIPTION_CHARS).map(({ operationId }) => operationId);
    expect(silent).to.deep.equal([]);
  });

  it('describes more than the summary does', () => {
    const repeating = operations.filter(({ summary, description = '' }) => description.toLowerCase().startsWith(summary.toLowerCase()) && description.length < summary.length + MIN_DESCRIPTION_CHARS);
    expect(repeating.map(({ operationId }) => operationId)).to.deep.equal([]);
  });

  it('shows each body that a person writes by three examples at least', () => {
    const few = operations
      .filter(({ operationId, requestBody }) => requestBody?.content['application/json'] && !(operationId in SHOWN_ENOUGH))
      .filter(({ requestBody }) => Object.keys(requestBody.content['application/json'].examples ?? {}).length < MIN_EXAMPLES);
    expect(few.map(({ operationId }) => operationId)).to.deep.equal([]);
    const unknown = Object.keys(SHOWN_ENOUGH).filter((id) => !operations.some(({ operationId }) => operationId === id));
    expect(unknown, 'exceptions that are none').to.deep.equal([]);
  });

  it('says of each area what it is for', () => {
    for (const { name, description = '' } of document.tags) expect(description, name).to.have.length.above(MIN_DESCRIPTION_CHARS);
    const used = new Set(Object.values<Document>(document.paths).flatMap((item) => Object.values<Document>(item).flatMap(({ tags }) => tags)));
    expect(document.tags.map(({ name }: Document) => name)).to.deep.equal([...used].sort());
  });

  it('calls two different schemas by two names, within an area and across', () => {
    const owners = new Map(kernel.daemon.kernel.routes().map(({ id, owner }) => [id, owner]));
    const all = walk(kernel).flatMap(({ id, decl }) => namedIn(JSON.parse(JSON.stringify(decl)), owners.get(id) ?? ''));
    const first = new Map<string, Named>();
    const twice = new Set<string>();
    for (const one of all) {
      const known = first.get(one.name) ?? one;
      first.set(one.name, known);
      if (known.text !== one.text) twice.add(`${one.name}: ${known.owner}, ${one.owner}`);
    }
    expect([...twice]).to.deep.equal([]);
    for (const name of first.keys()) expect(name).to.match(/^[A-Z][A-Za-z0-9]+$/);
  });

  it('tells with every answer the id of its request, and of those that say so when to come back', () => {
    const answers = Object.values<Document>(document.paths).flatMap((item) =>
      Object.values<Document>(item).flatMap(({ operationId, responses }) => Object.entries<Document>(responses).map(([status, answer]) => ({ operationId, status, answer }))),
    );
    for (const { operationId, status, answer } of answers) {
      if (status === '2XX') continue; // of a socket, never answered
      const { headers } = answer.$ref ? document.components.responses[answer.$ref.split('/').at(-1)] : answer;
      expect(headers, `${operationId} ${status}`).to.have.property('x-request-id');
      if (status === '429' || status === '503') expect(headers, `${operationId} ${status}`).to.have.property('retry-after');
    }
  });

  it('gives an example of each id that stands in a path', () => {
    const ids = operations.flatMap(({ operationId, parameters = [] }) => parameters.filter((one: Document) => one.in === 'path').map((one: Document) => ({ operationId, one })));
    const bare = ids.filter(({ one }) => one.example === undefined).map(({ operationId, one }) => `${operationId}: ${one.name}`);
    expect(bare).to.deep.equal([]);
  });
});
