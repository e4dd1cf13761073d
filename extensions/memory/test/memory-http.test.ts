/** Memory over HTTP: keys, entries, relations, and whose they are. */
import { createHash } from 'node:crypto';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describeDaemonOnEngines('memory over HTTP', function (engine) {
  this.timeout(60_000);
  let kernel: TestKernel;
  let http: TestHttp;
  let bob: TestHttp;
  let agent: string;
  let other: string;
  const spawn = async (who: TestHttp, name: string): Promise<string> => (await who.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
  const add = async (body: object) => (await http.expect(200, 'POST', '/api/memory', body)).body;
  const search = async (q: string, more = '') => (await http.expect(200, 'GET', `/api/memory/search?q=${encodeURIComponent(q)}${more}`)).body.memories;
  const contents = async (q: string, more = '') => (await search(q, more)).map((one: { content: string }) => one.content);

  before(async () => {
    kernel = await bootTestKernel({ ...(await engine.fresh()), config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}` });
    http = kernel.as(KEYS.alice);
    bob = kernel.as(KEYS.bob);
    agent = await spawn(http, 'rememberer');
    other = await spawn(http, 'other');
  });
  after(() => kernel.stop());

  describe('keys', () => {
    const kv = () => `/api/memory/agents/${agent}/kv`;

    it('are stored, read, listed and deleted', async () => {
      expect((await http.expect(200, 'GET', kv())).body).to.deep.equal({ kv_pairs: [] });
      for (const value of [null, false, 0, '', 'text', [1, { deep: [] }], { a: 1 }]) {
        expect((await http.expect(200, 'PUT', `${kv()}/my.key`, { value })).body).to.deep.equal({ status: 'stored', key: 'my.key' });
        expect((await http.expect(200, 'GET', `${kv()}/my.key`)).body).to.deep.equal({ key: 'my.key', value });
      }
      expect((await http.expect(200, 'GET', kv())).body.kv_pairs).to.deep.equal([{ key: 'my.key', value: { a: 1 } }]);
      expect((await http.expect(200, 'DELETE', `${kv()}/my.key`)).body).to.deep.equal({ status: 'deleted', key: 'my.key' });
      await http.expect(200, 'DELETE', `${kv()}/my.key`);
      expect((await http.expect(404, 'GET', `${kv()}/my.key`)).body.error).to.contain('my.key');
    });

    it('refuse an unknown agent with 404, a bad id and a body without value with 400', async () => {
      await http.expect(404, 'GET', `/api/memory/agents/${UNKNOWN}/kv`);
      await http.expect(400, 'GET', '/api/memory/agents/no-uuid/kv');
      await http.expect(400, 'PUT', `${kv()}/k`, {});
      await http.expect(400, 'PUT', `${kv()}/k`, { value: 'x'.repeat(200_000) });
    });

    it('that begin with shared. are shared by all agents of a person', async () => {
      await http.expect(200, 'PUT', `${kv()}/shared.city`, { value: 'Lisbon' });
      expect((await http.expect(200, 'GET', `/api/memory/agents/${other}/kv/shared.city`)).body.value).to.equal('Lisbon');
      await http.expect(200, 'PUT', `${kv()}/own`, { value: 1 });
      await http.expect(404, 'GET', `/api/memory/agents/${other}/kv/own`);
      await http.expect(200, 'DELETE', `${kv()}/shared.city`);
      await http.expect(200, 'DELETE', `${kv()}/own`);
    });

    it('are exported and imported, and the ones that cannot be stored are named', async () => {
      await http.expect(200, 'PUT', `${kv()}/a`, { value: 1 });
      const { body } = await http.expect(200, 'GET', `/api/agents/${agent}/memory/export`);
      expect(body).to.deep.equal({ agent_id: agent, version: 1, kv: { a: 1 } });
      expect((await http.expect(200, 'POST', `/api/agents/${other}/memory/import`, body)).body).to.deep.equal({ status: 'imported', keys_imported: 1 });
      const partial = await http.expect(200, 'POST', `/api/agents/${other}/memory/import`, { kv: { b: 2, [`${'k'.repeat(300)}`]: 3 }, clear_existing: true });
      expect(partial.body).to.include({ status: 'partial', keys_imported: 1 });
      expect(partial.body.failed_keys).to.have.length(1);
      expect((await http.expect(200, 'GET', `/api/agents/${other}/memory/export`)).body.kv).to.deep.equal({ b: 2 });
      await http.expect(400, 'POST', `/api/agents/${other}/memory/import`, {});
      await http.expect(404, 'POST', `/api/agents/${UNKNOWN}/memory/import`, { kv: {} });
    });
  });

  describe('entries', () => {
    it('M2 come back as they were given, and what is there already is not added again', async () => {
      const first = await add({ content: 'The spare key is under the blue pot', agent_id: agent, tags: ['Home', 'keys'] });
      expect(first.added).to.equal(1);
      expect(first.memories[0]).to.include({ content: 'The spare key is under the blue pot', level: 'agent', agent_id: agent, user_id: null, confidence: 1, source: 'api' });
      expect(first.memories[0].tags).to.deep.equal(['Home', 'keys']);
      const again = await add({ content: '  the spare KEY is under the blue pot ', agent_id: agent });
      expect([again.added, again.memories[0].id]).to.deep.equal([0, first.memories[0].id]);
      expect((await add({ content: 'Prefers tea to coffee', user_id: 'ana' })).memories[0]).to.include({ level: 'user', user_id: 'ana', agent_id: null });
    });

    it('are found in other forms of their words, and say why', async () => {
      await add({ content: 'Alice runs marathons in the mountains', agent_id: agent });
      const [found] = await search('running a marathon');
      expect(found.content).to.contain('marathons');
      expect(found.why).to.include('words');
      expect(found.score).to.be.within(0, 1);
      expect(await contents('where is the spare key?', `&agent_id=${agent}`)).to.include('The spare key is under the blue pot');
    });

    it('S1 are found by their meaning, without a word in common, and what has nothing to do with them is not', async () => {
      const own = await spawn(http, 'driver');
      for (const content of ['I drive an old Volvo', 'The spare key is under the blue pot', 'My daughter was born in May']) await add({ content, agent_id: own });
      const { memories } = (await http.expect(200, 'GET', `/api/memory/agents/${own}/search?q=${encodeURIComponent('which car do I own')}`)).body;
      expect([memories[0].content, memories[0].why]).to.deep.equal(['I drive an old Volvo', ['vector']]);
      const nothing = (await http.expect(200, 'GET', `/api/memory/agents/${own}/search?q=${encodeURIComponent('the height of the Eiffel tower')}`)).body.memories;
      expect(nothing.filter((one: { agent_id: string | null }) => one.agent_id === own)).to.deep.equal([]);
    });

    it('are found in Chinese and Japanese', async () => {
      await add({ content: '我最喜欢的水果是芒果' });
      await add({ content: '妹は大阪に住んでいます' });
      expect((await contents('喜欢吃什么水果'))[0]).to.equal('我最喜欢的水果是芒果');
      expect((await contents('大阪'))[0]).to.equal('妹は大阪に住んでいます');
    });

    it('of one agent are not found for another, and those without an agent are for all', async () => {
      await add({ content: 'The zebra code is seven', agent_id: agent });
      expect((await contents('zebra', `&agent_id=${other}`)).join()).to.not.contain('zebra');
      await add({ content: 'Everybody knows the giraffe' });
      expect((await contents('giraffe', `&agent_id=${other}`))[0]).to.equal('Everybody knows the giraffe');
      const { body } = await http.expect(200, 'GET', `/api/memory/agents/${agent}/search?q=zebra`);
      expect(body.memories[0].content).to.equal('The zebra code is seven');
      expect((await http.expect(200, 'GET', `/api/memory/agents/${other}/search?q=zebra`)).text).to.not.contain('zebra');
    });

    it('survive any question and content: 400 or it works', async () => {
      for (const q of ['"', '*', 'NEAR(a, b)', 'a OR b', "'; DROP TABLE", '\u0000', 'the and of', 'x'.repeat(3_000), '🦩', '%', '()'])
        expect((await http.get(`/api/memory/search?q=${encodeURIComponent(q)}`)).status, JSON.stringify(q.slice(0, 20))).to.be.oneOf([200, 400]);
      for (const content of ['', '   ', '\u0000\u0001', '\u200b', 'x'.repeat(1_000_000)]) await http.expect(400, 'POST', '/api/memory', { content });
      await http.expect(400, 'POST', '/api/memory', {});
      await http.expect(400, 'POST', '/api/memory', { content: 'x', level: 'galaxy' });
      await http.expect(400, 'POST', '/api/memory', { content: 'x', agent_id: 'nobody' });
      await http.expect(404, 'POST', '/api/memory', { content: 'x', agent_id: UNKNOWN });
      await http.expect(400, 'GET', '/api/memory/search');
      expect((await add({ content: 'nul \u0000 inside', agent_id: other })).memories[0].content).to.equal('nul  inside');
    });

    it('are corrected with a history, and erased', async () => {
      const { memories } = await add({ content: 'The quokka lives in Perth', agent_id: agent });
      const { id } = memories[0];
      expect((await http.expect(200, 'PUT', `/api/memory/items/${id}`, { content: 'The quokka lives on Rottnest' })).body).to.include({ updated: true, memory_id: id });
      expect(await contents('Perth')).to.not.include('The quokka lives in Perth');
      expect((await contents('Rottnest'))[0]).to.equal('The quokka lives on Rottnest');
      const { body } = await http.expect(200, 'GET', `/api/memory/items/${id}/history`);
      expect(body).to.include({ memory_id: id, version_count: 1 });
      expect(body.versions[0].content).to.equal('The quokka lives in Perth');
      expect((await http.expect(200, 'DELETE', `/api/memory/items/${id}`)).body.still_held_by.map((one: { kind: string }) => one.kind)).to.deep.equal(['backups']);
      expect((await contents('quokka')).join()).to.not.contain('quokka');
      for (const [method, path] of [
        ['PUT', ''],
        ['DELETE', ''],
        ['GET', '/history'],
      ] as const)
        await http.expect(404, method, `/api/memory/items/${id}${path}`, method === 'PUT' ? { content: 'x' } : undefined);
      await http.expect(400, 'DELETE', '/api/memory/items/nothing');
    });

    it('M3 a changed fact replaces the old one, which stays and says so', async () => {
      const old = (await add({ content: 'I live in Berlin', agent_id: agent })).memories[0];
      const now = (await add({ content: 'I moved to Porto', agent_id: agent })).memories[0];
      const found = await search('where do I live', `&agent_id=${agent}`);
      const places = found.map((one: { content: string }) => one.content).filter((one: string) => /Berlin|Porto/.test(one));
      expect(places[0]).to.equal('I moved to Porto');
      expect((await http.expect(200, 'GET', `/api/memory/items/${old.id}/history`)).body.memory.superseded_by).to.equal(now.id);
      await http.expect(200, 'DELETE', `/api/memory/items/${now.id}`);
      expect((await http.expect(200, 'GET', `/api/memory/items/${old.id}/history`)).body.memory.superseded_by).to.equal(null);
    });

    it('are listed in pages, by level, category and person', async () => {
      const page = (await http.expect(200, 'GET', '/api/memory?limit=2&offset=1')).body;
      expect(page.memories).to.have.length(2);
      expect(page).to.include({ limit: 2, offset: 1, proactive_enabled: true });
      expect((await http.expect(200, 'GET', '/api/memory?limit=1000')).body.limit).to.equal(100);
      await http.expect(400, 'GET', '/api/memory?level=galaxy');
      await add({ content: 'Ana is at the dentist', user_id: 'ana', level: 'session', category: 'health' });
      expect((await http.expect(200, 'GET', '/api/memory/user/ana')).body.memories.map((one: { level: string }) => one.level)).to.have.members(['session', 'user']);
      expect((await http.expect(200, 'GET', '/api/memory?category=health')).body.total).to.equal(1);
      const stats = (await http.expect(200, 'GET', '/api/memory/stats')).body;
      expect(stats.total).to.equal(stats.user_count + stats.session_count + stats.agent_count);
      expect(stats.categories.health).to.equal(1);
      expect((await http.expect(200, 'GET', `/api/memory/agents/${agent}/stats`)).body).to.not.have.property('by_agent');
    });

    it('are counted, cleared by level, deleted by ids and all together', async () => {
      const own = await spawn(http, 'cleared');
      const ids = [];
      for (const level of ['user', 'session', 'agent']) ids.push((await add({ content: `An entry of the level ${level}`, agent_id: own, level })).memories[0].id);
      const base = `/api/memory/agents/${own}`;
      expect((await http.expect(200, 'GET', `${base}/count`)).body).to.deep.equal({ agent_id: own, count: 3, level: null });
      expect((await http.expect(200, 'GET', `${base}/count?level=user`)).body.count).to.equal(1);
      expect((await http.expect(200, 'DELETE', `${base}/level/session`)).body.deleted).to.equal(1);
      await http.expect(400, 'DELETE', `${base}/level/galaxy`);
      expect((await http.expect(200, 'POST', '/api/memory/bulk-delete', { ids: [ids[0], UNKNOWN] })).body).to.include({ deleted: 1, failed: 1, total: 2 });
      await http.expect(400, 'POST', '/api/memory/bulk-delete', { ids: [] });
      expect((await http.expect(200, 'DELETE', base)).body.deleted).to.equal(1);
      expect((await http.expect(200, 'GET', base)).body.total).to.equal(0);
    });

    it('X3 are taken from messages by rules: facts, no questions, greetings, commands or secrets', async () => {
      const own = await spawn(http, 'listener');
      const said = 'Hello there! I am allergic to peanuts. What is the weather? My favourite colour is teal. The password is hunter2!x. /reset';
      const { added, memories } = await add({
        agent_id: own,
        messages: [
          { role: 'user', content: said },
          { role: 'tool', content: 'I live in Atlantis.' },
        ],
      });
      expect(memories.map((one: { content: string }) => one.content)).to.deep.equal(['I am allergic to peanuts.', 'My favourite colour is teal.']);
      expect(added).to.equal(2);
    });
  });

  describe('upkeep', () => {
    it('U4 merges what says the same, and no contradictions, also twice at once', async () => {
      const own = await spawn(http, 'merger');
      for (const content of [
        'The red car needs new winter tyres soon',
        'The red car soon needs new winter tyres',
        'The red car needs 4 new winter tyres soon',
        'The red car never needs new winter tyres soon',
        'My dog is called Rex',
        'My dog is called Max',
      ])
        await add({ content, agent_id: own });
      const base = `/api/memory/agents/${own}`;
      const { body } = await http.expect(200, 'GET', `${base}/duplicates`);
      expect(body.duplicate_groups).to.equal(1);
      expect(body.groups[0]).to.have.length(2);
      const merged = await Promise.all([1, 2].map(() => http.expect(200, 'POST', `${base}/consolidate`)));
      expect(merged.map((one) => one.body.merged_count).toSorted()).to.deep.equal([0, 1]);
      expect((await http.expect(200, 'GET', `${base}/count`)).body.count).to.equal(5);
      expect((await http.expect(200, 'GET', `${base}/search?q=winter+tyres&archive=true`)).body.memories.map((one: { archived: boolean }) => one.archived)).to.deep.equal([true]);
    });

    it('decay and cleanup answer what they did', async () => {
      expect((await http.expect(200, 'POST', '/api/memory/decay')).body).to.include({ decayed: true, decay_rate: 0.01, updated: 0 });
      expect((await http.expect(200, 'POST', '/api/memory/cleanup')).body).to.include({ cleaned_up: true, deleted_count: 0, session_ttl_hours: 24 });
    });

    it('I1 an export into an empty agent is exact, and a second import adds nothing', async () => {
      const [from, to] = [await spawn(http, 'exporter'), await spawn(http, 'importer')];
      await add({ content: 'First fact', agent_id: from, tags: ['one'], level: 'user', user_id: 'ana' });
      await add({ content: 'Second fact', agent_id: from, category: 'work_style' });
      const exported = (await http.expect(200, 'GET', `/api/memory/agents/${from}/export`)).body;
      expect(exported.count).to.equal(2);
      expect((await http.expect(200, 'POST', `/api/memory/agents/${to}/import`, exported)).body).to.deep.include({ imported: 2, skipped: 0, agent_id: to });
      expect((await http.expect(200, 'POST', `/api/memory/agents/${to}/import`, exported.memories)).body).to.deep.include({ imported: 0, skipped: 2 });
      const copy = (await http.expect(200, 'GET', `/api/memory/agents/${to}/export`)).body.memories;
      expect(copy).to.deep.equal(exported.memories);
    });

    it('I1 an import skips identical rows alone: the same text of another day, category or writing is another entry', async () => {
      const [to, copy] = [await spawn(http, 'diarist'), await spawn(http, 'second-diarist')];
      const bring = async (into: string, rows: object[]) => (await http.expect(200, 'POST', `/api/memory/agents/${into}/import`, rows)).body;
      const said = { content: 'The meeting was cancelled', created_at: '2026-01-05T09:00:00.000Z' };
      const others = [
        { ...said, created_at: '2026-02-05T09:00:00.000Z' },
        { ...said, category: 'work' },
        { ...said, content: 'The MEETING was cancelled' },
        { ...said, tags: ['work'] },
        { ...said, confidence: 0.4 },
        { ...said, metadata: { b: 1, a: [2] } },
        { ...said, role: 'assistant', source: 'conversation' },
      ];
      expect(await bring(to, [said, ...others, said])).to.include({ imported: 8, skipped: 1 });
      expect(await bring(to, [...others, said])).to.include({ imported: 0, skipped: 8 });
      // A row that leaves something open is there already, whatever an entry says of it.
      expect(await bring(to, [{ content: said.content }])).to.include({ imported: 0, skipped: 1 });
      // What was replaced comes with what replaced it, again and again.
      const changing = ['Berlin', 'Porto', 'Berlin'].map((city, month) => ({ content: `I live in ${city}`, created_at: `2026-0${month + 3}-01T00:00:00.000Z` }));
      expect(await bring(to, changing)).to.include({ imported: 3, skipped: 0 });
      const [page] = [{ content: 'Tag, then publish', source: 'wiki', category: 'wiki', metadata: { topic: 'Release steps' }, created_at: said.created_at }];
      const outside = { content: 'The shop opens at nine', origin: { labels: ['ExternalNetwork'], source: 'web_fetch shop.example' } };
      expect(await bring(to, [page, outside])).to.include({ imported: 2 });
      const exported = (await http.expect(200, 'GET', `/api/memory/agents/${to}/export`)).body.memories;
      expect(exported).to.have.length(13);
      expect(await bring(copy, exported)).to.include({ imported: 13, skipped: 0 });
      expect(await bring(copy, exported)).to.include({ imported: 0, skipped: 13 });
      const byText = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted();
      expect(byText((await http.expect(200, 'GET', `/api/memory/agents/${copy}/export`)).body.memories)).to.deep.equal(byText(exported));
      const { memories } = (await http.expect(200, 'GET', `/api/memory/agents/${copy}/search?q=shop`)).body;
      expect(memories[0].origin).to.deep.equal(outside.origin);
      await http.expect(400, 'POST', `/api/memory/agents/${to}/import`, [{ ...outside, origin: { labels: ['Harmless'], source: 'x' } }]);
      for (const id of [to, copy]) await http.expect(200, 'DELETE', `/api/memory/agents/${id}`);
    });

    it('I2 a bad row refuses the whole import, by its index', async () => {
      const to = await spawn(http, 'strict');
      for (const bad of [
        {},
        { content: '' },
        { content: 'x', level: 'galaxy' },
        { content: 'x', confidence: 7 },
        { content: 'x', created_at: 'soon' },
        { content: 'x', origin: 'here' },
        'text',
        null,
      ]) {
        const { body } = await http.expect(400, 'POST', `/api/memory/agents/${to}/import`, [{ content: 'fine', level: 'AGENT' }, bad]);
        expect(body.error).to.contain('Row 1');
      }
      expect((await http.expect(200, 'GET', `/api/memory/agents/${to}/count`)).body.count).to.equal(0);
      await http.expect(400, 'POST', `/api/memory/agents/${to}/import`, {});
      const future = [{ content: 'from the future', created_at: '2999-01-01T00:00:00Z' }];
      expect((await http.expect(200, 'POST', `/api/memory/agents/${to}/import`, future)).body.imported).to.equal(1);
      expect((await http.expect(200, 'GET', `/api/memory/agents/${to}`)).body.memories[0].confidence).to.equal(1);
    });

    it('D1 an imported row fades from its own date, and the same at every sweep', async () => {
      const to = await spawn(http, 'old');
      const at = new Date(Date.now() - 100 * 86_400_000).toISOString();
      await http.expect(200, 'POST', `/api/memory/agents/${to}/import`, [{ content: 'an old fact', created_at: at }]);
      const confidence = async () => (await http.expect(200, 'GET', `/api/memory/agents/${to}`)).body.memories[0].confidence;
      const first = await confidence();
      expect(first).to.be.closeTo(Math.exp(-1), 0.01);
      expect((await http.expect(200, 'POST', '/api/memory/decay')).body.updated).to.equal(1);
      expect((await http.expect(200, 'POST', '/api/memory/decay')).body.updated).to.equal(0);
      expect(await confidence()).to.equal(first);
    });
  });

  describe('relations', () => {
    const triple = (subject: string, relation: string, object: string) => ({ subject, subject_type: 'person', relation, object, object_type: 'thing' });

    it('R1 R2 are stored, merged by name and followed over cycles', async () => {
      const own = await spawn(http, 'graph');
      const base = `/api/memory/agents/${own}/relations`;
      expect((await http.expect(200, 'POST', base, [triple('Ana', 'knows', 'Rui'), triple('ANA', 'knows', 'Rui'), triple('Rui', 'knows', 'Eva')])).body).to.deep.equal({
        agent_id: own,
        triples_processed: 3,
      });
      expect((await http.expect(200, 'POST', base, { relations: [triple('Eva', 'knows', 'Ana')] })).body.triples_processed).to.equal(1);
      const all = (await http.expect(200, 'GET', base)).body;
      expect(all.count).to.equal(3);
      expect(all.matches[0].source).to.have.keys('id', 'name', 'entity_type');
      expect((await http.expect(200, 'GET', `${base}?source=ána`)).body.matches.map((one: { target: { name: string } }) => one.target.name)).to.deep.equal(['Rui']);
      expect((await http.expect(200, 'GET', `${base}?source=Ana&max_depth=50`)).body.count).to.equal(3);
      expect((await http.expect(200, 'GET', `${base}?source=Ana&target=Eva&max_depth=2`)).body.count).to.equal(2);
      expect((await http.expect(200, 'GET', `${base}?target=Nobody`)).body).to.deep.equal({ matches: [], count: 0 });
      for (const bad of [{}, 'text', [{ subject: 'Ana' }], [triple(' ', 'knows', 'x')]]) await http.expect(400, 'POST', base, bad);
      await http.expect(404, 'GET', `/api/memory/agents/${UNKNOWN}/relations`);
    });
  });

  it('M1 another person, and the owner of the daemon, see and change nothing of it', async () => {
    const { memories } = await add({ content: 'A heron is the secret pet', agent_id: agent, user_id: 'heron' });
    const { id } = memories[0];
    const root = kernel.as(KEYS.owner);
    for (const who of [bob, root]) {
      for (const path of ['/api/memory', '/api/memory/search?q=heron', '/api/memory/user/heron', '/api/memory/stats'])
        expect((await who.expect(200, 'GET', path)).text, path).to.not.contain('heron is');
      expect((await who.expect(200, 'GET', '/api/memory/stats')).body.total).to.equal(0);
      await who.expect(404, 'GET', `/api/memory/items/${id}/history`);
      await who.expect(404, 'PUT', `/api/memory/items/${id}`, { content: 'x' });
      await who.expect(404, 'DELETE', `/api/memory/items/${id}`);
      expect((await who.expect(200, 'POST', '/api/memory/bulk-delete', { ids: [id] })).body).to.include({ deleted: 0, failed: 1 });
    }
    // An owner of the daemon sees the agent, and none of what it remembers.
    expect((await root.expect(200, 'GET', `/api/memory/agents/${agent}`)).body.total).to.equal(0);
    expect((await root.expect(200, 'GET', `/api/memory/agents/${agent}/kv`)).body.kv_pairs).to.deep.equal([]);
    await bob.expect(404, 'GET', `/api/memory/agents/${agent}`);
    await http.expect(200, 'GET', `/api/memory/items/${id}/history`);
  });

  it('goes with its agent', async () => {
    const own = await spawn(http, 'short-lived');
    await add({ content: 'The okapi remembers', agent_id: own });
    await http.expect(200, 'PUT', `/api/memory/agents/${own}/kv/k`, { value: 1 });
    await http.expect(200, 'DELETE', `/api/agents/${own}`);
    expect((await contents('okapi')).join()).to.not.contain('okapi');
  });
});
