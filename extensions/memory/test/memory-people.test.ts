/** Two people: whatever routes and tools there are, one gets nothing of the other. A new path without a filter fails this. */
import { createHash } from 'node:crypto';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { root: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
/** What Alice's things are called, which others may guess. */
const MARK = 'zyzzyvaheron';
/** Stands in everything that she keeps, and nowhere else. */
const KEPT = 'quillonblue';
/** Erase or change what is Alice's: tried last, and by the wrong person. */
const CHANGING = new Set(['post', 'put', 'patch', 'delete']);

interface Operation {
  readonly method: string;
  readonly path: string;
}

describe('memory of two people', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let hers: string;
  let his: string;
  let ids: Readonly<Record<string, string>>;
  const spawn = async (who: TestHttp, name: string): Promise<string> =>
    (await who.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { memory_read: ['*'], memory_write: ['*'] } } })).body.agent_id;
  const all = async (): Promise<object[]> =>
    Promise.all(
      ['?limit=100', `/agents/${hers}/kv`, `/agents/${hers}/relations`, `/agents/${hers}/export`, `/items/${ids.memory_id}/history`, `/search?q=${MARK}&archive=true`].map(async (path) => {
        const { body } = await alice.expect(200, 'GET', `/api/memory${path}`);
        // What counts uses is changed by looking.
        return JSON.parse(JSON.stringify(body, (key, value: unknown) => (['accessed_at', 'access_count', 'score'].includes(key) ? undefined : value))) as object;
      }),
    );

  before(async () => {
    svc = await bootWithModel(undefined, { config: `api_key = "${KEYS.root}"\n${OPEN_RATE}${person('alice')}${person('bob')}`, key: KEYS.root });
    [alice, bob] = [svc.kernel.as(KEYS.alice), svc.kernel.as(KEYS.bob)];
    [hers, his] = [await spawn(alice, 'hers'), await spawn(bob, 'his')];
    const add = async (body: object) => (await alice.expect(200, 'POST', '/api/memory', body)).body.memories[0];
    const entry = await add({ content: `My ${MARK} is no ${KEPT}`, agent_id: hers, user_id: MARK, tags: [KEPT], category: MARK });
    await add({ content: `Every agent knows the ${MARK} of ${KEPT}` });
    await alice.expect(200, 'PUT', `/api/memory/items/${entry.id}`, { content: `My ${MARK} is ${KEPT}` });
    for (const said of [`The ${MARK} wants ${KEPT} water daily`, `The ${MARK} daily wants ${KEPT} water`]) await add({ content: said, agent_id: hers });
    await alice.expect(200, 'POST', `/api/memory/agents/${hers}/consolidate`);
    await alice.expect(200, 'PUT', `/api/memory/agents/${hers}/kv/${MARK}`, { value: KEPT });
    await alice.expect(200, 'PUT', `/api/memory/agents/${hers}/kv/shared.${MARK}`, { value: KEPT });
    await alice.expect(200, 'POST', `/api/memory/agents/${hers}/relations`, [{ subject: MARK, subject_type: 'bird', relation: 'eats', object: `${KEPT} seeds`, object_type: 'food' }]);
    svc.model.script([{ toolCalls: [{ id: 'w1', name: 'wiki_write', args: { topic: `shared.${MARK}`, body: `All about the ${KEPT}` } }] }, { text: 'done' }]);
    await alice.expect(200, 'POST', `/api/agents/${hers}/message`, { message: 'go' });
    ids = { id: hers, agent_id: hers, memory_id: entry.id, user_id: MARK, key: MARK, level: 'agent' };
  });
  after(stopModelKernels);

  const operations = async (): Promise<Operation[]> => {
    const { paths } = (await svc.http.expect(200, 'GET', '/api/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
    return Object.entries(paths).flatMap(([path, methods]) => (path.includes('/memory') ? Object.keys(methods).map((method) => ({ method, path })) : []));
  };
  const addressed = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(ids[name] ?? MARK));
  const bodyOf = ({ method, path }: Operation): object | undefined => {
    if (!CHANGING.has(method) || method === 'delete') return undefined;
    if (path.endsWith('/bulk-delete')) return { ids: [ids.memory_id] };
    if (path.endsWith('/relations')) return [{ subject: 'x', subject_type: 'y', relation: 'z', object: 'w', object_type: 'v' }];
    if (path.endsWith('/import')) return { memories: [{ content: 'planted' }], kv: { planted: 1 } };
    return { content: 'planted', value: 'planted', agent_id: hers };
  };

  it('M1 bob gets and changes nothing of alice’s by any route of memory, and neither does the owner of the daemon', async () => {
    const routes = await operations();
    expect(routes.length).to.be.at.least(29);
    const before = await all();
    expect(JSON.stringify(before).split(KEPT).length).to.be.greaterThan(8);
    for (const who of [bob, svc.kernel.as(KEYS.root)])
      for (const operation of routes.toSorted((a, b) => Number(CHANGING.has(a.method)) - Number(CHANGING.has(b.method)))) {
        const { method, path } = operation;
        const query = method === 'get' ? `?q=${MARK}&source=${MARK}&archive=true&limit=100` : '';
        const answer = await who.send(method.toUpperCase(), `${addressed(path)}${path.endsWith('/relations') || path.includes('search') ? query : ''}`, bodyOf(operation));
        const label = `${method} ${path}`;
        expect(answer.status, label).to.be.lessThan(500);
        expect(answer.text, label).to.not.contain(KEPT);
      }
    expect(await all()).to.deep.equal(before);
  });

  it('M1 the tools of bob’s agent find nothing of alice’s', async () => {
    const { tools } = (await svc.http.expect(200, 'GET', '/api/tools')).body as { tools: Array<{ name: string }> };
    const names = tools.map(({ name }) => name).filter((name) => /^(?:memory|knowledge|wiki)_/.test(name));
    expect(names).to.include.members(['memory_store', 'memory_recall', 'memory_list', 'knowledge_query', 'wiki_get', 'wiki_search']);
    const args = { key: `shared.${MARK}`, value: 'x', name: 'x', entity_type: 'x', source: MARK, relation: 'eats', target: 'seeds', topic: `shared.${MARK}`, query: MARK, body: 'x' };
    const before = await all();
    for (const name of names) {
      svc.model.script([{ toolCalls: [{ id: `c-${name}`, name, args: name === 'knowledge_query' ? { source: MARK } : name === 'memory_list' ? {} : args }] }, { text: 'done' }]);
      await bob.expect(200, 'POST', `/api/agents/${his}/message`, { message: 'go' });
      const sent = svc.model.requests.at(-1)?.body as { messages: Array<{ role: string; content: string }> } | undefined;
      const result = (sent?.messages ?? []).filter(({ role }) => role === 'tool').at(-1)?.content ?? '';
      expect(result, name).to.not.contain(KEPT);
    }
    expect(await all()).to.deep.equal(before);
  });

  it('L1 nothing of alice’s is recalled for bob, and what she is given is hers', async () => {
    const asked = async (who: TestHttp, agent: string): Promise<string> => {
      svc.model.script({ text: 'ok' });
      await who.expect(200, 'POST', `/api/agents/${agent}/message`, { message: `What colour is the ${MARK}?` });
      return JSON.stringify(svc.model.requests.at(-1)?.body);
    };
    expect(await asked(bob, his)).to.not.contain(KEPT);
    await until(async () => (await asked(alice, hers)).includes(`My ${MARK} is ${KEPT}`));
  });
});
