/** Search over HTTP: what is found, by whom, in which order, and what typing cannot do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestKernel } from '@svc/testing';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { bootWithModel } from '@svc/test/clients/model-kernel';
import { type People, peopleOfSuite, refusalOf, type Somebody, UNKNOWN } from './people.js';

interface Hit {
  readonly session_id: string;
  readonly snippet: string;
  readonly rank: number;
  readonly role: string;
}

describeOnEngines('a search of sessions', (_engine) => {
  let svc: People;
  const people = peopleOfSuite();
  beforeEach(async () => {
    svc = await people();
  });

  const search = async (who: Somebody | People['owner'], q: string, rest = ''): Promise<{ items: Hit[]; total: number; total_is_exact: boolean }> =>
    ('http' in who ? who.http : who).expect(200, 'GET', `/api/sessions/search?q=${encodeURIComponent(q)}${rest}`).then(({ body }) => body);
  const found = async (who: Somebody, q: string, rest = ''): Promise<string[]> => (await search(who, q, rest)).items.map(({ snippet }) => snippet);

  it('finds what was said at once, by all of its words, with the text around them', async () => {
    const { alice } = svc;
    await alice.say(`${'lead '.repeat(60)} the SPARE key\nis under the blue pot, ${'tail '.repeat(60)}`);
    await alice.say('a blue door');
    svc.model.script({ text: 'I painted the pot blue' });
    await alice.say('what did you do?');

    const { items, total, total_is_exact } = await search(alice, 'blue pot');

    expect([total, total_is_exact]).to.deep.equal([2, true]);
    expect(items.map(({ role }) => role)).to.have.members(['user', 'assistant']);
    const user = items.find(({ role }) => role === 'user');
    expect(user?.snippet)
      .to.contain('the SPARE key is under the blue pot')
      .and.to.match(/^….*…$/);
    expect(user?.snippet.length).to.be.at.most(162);
    expect(items[0]?.rank).to.be.at.most(items[1]?.rank ?? 0);
    expect(await found(alice, 'blue')).to.have.length(3);
    expect(await found(alice, 'blue nowhere')).to.deep.equal([]);
  });

  it('finds Chinese, Japanese and accented text, and pictographs, in parts of any length', async () => {
    const { alice } = svc;
    for (const text of ['我们明天在北京见面', '東京タワー', 'Le café est fermé', 'party 🎉']) await alice.say(text);
    expect(await found(alice, '北京')).to.deep.equal(['我们明天在北京见面']);
    expect((await found(alice, '京')).toSorted()).to.deep.equal(['我们明天在北京见面', '東京タワー'].toSorted());
    expect(await found(alice, '明天在北京')).to.deep.equal(['我们明天在北京见面']);
    expect(await found(alice, '北明')).to.deep.equal([]);
    expect(await found(alice, 'CAFE FERME')).to.deep.equal(['Le café est fermé']);
    expect(await found(alice, '🎉')).to.deep.equal(['party 🎉']);
  });

  it('is of the own sessions, or of those of an agent that somebody may see', async () => {
    await svc.alice.say('heron');
    await svc.bob.say('heron and more');
    expect(await found(svc.alice, 'heron')).to.deep.equal(['heron']);
    expect(await found(svc.bob, 'heron')).to.deep.equal(['heron and more']);
    expect((await search(svc.owner, 'heron')).items).to.deep.equal([]);
    expect((await search(svc.owner, 'heron', `&agent_id=${svc.bob.agent.id}`)).items).to.have.length(1);
    expect(refusalOf(await svc.alice.http.get(`/api/sessions/search?q=heron&agent_id=${svc.bob.agent.id}`))).to.deep.equal([404, 'agent_not_found']);
    expect(refusalOf(await svc.alice.http.get(`/api/sessions/search?q=heron&agent_id=${UNKNOWN}`))).to.deep.equal([404, 'agent_not_found']);
    expect(refusalOf(await svc.alice.http.get('/api/sessions/search?q=heron&agent_id=x'))).to.deep.equal([400, 'invalid_agent_id']);
    expect((await search(svc.carol, 'heron')).items).to.deep.equal([]);
  });

  it('tells nothing of what others said, neither by rank nor by total', async () => {
    await svc.alice.say('heron on the lake');
    const before = await search(svc.alice, 'heron');
    for (let n = 0; n < 5; n++) await svc.bob.say('heron heron heron');
    expect(await search(svc.alice, 'heron')).to.deep.equal(before);
  });

  it('is narrowed by label, agent and time', async () => {
    const { alice } = svc;
    const begin = async (label: string): Promise<string> => (await alice.http.expect(200, 'POST', `/api/agents/${alice.agent.id}/sessions`, { label })).body.session_id;
    const [red, green] = [await begin('red'), await begin('green')];
    await alice.say('apple in red', red);
    await alice.say('apple in green', green);
    const other = (await alice.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    await alice.http.expect(200, 'POST', `/api/agents/${other}/message`, { message: 'apple of another' });
    expect(await found(alice, 'apple')).to.have.length(3);
    expect(await found(alice, 'apple', '&label=red')).to.deep.equal(['apple in red']);
    expect(await found(alice, 'apple', '&label=blue')).to.deep.equal([]);
    expect(await found(alice, 'apple', `&agent_id=${other}`)).to.deep.equal(['apple of another']);
    expect(await found(alice, 'apple', `&agent_id=${other}&label=red`)).to.deep.equal([]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await found(alice, 'apple', `&from=${today}&to=${today}`)).to.have.length(3);
    expect(await found(alice, 'apple', '&to=2020-01-01')).to.deep.equal([]);
    expect(await found(alice, 'apple', '&from=2999-01-01T00:00:00%2B02:00')).to.deep.equal([]);
    for (const time of ['yesterday', '2026-13-01', '2026-01-01T25:00Z', '20260101'])
      expect(refusalOf(await alice.http.get(`/api/sessions/search?q=a&from=${time}`)), time).to.deep.equal([400, 'sessions_invalid_time']);
  });

  it('takes whatever is typed for words, and refuses what has none or too many', async () => {
    const { alice } = svc;
    await alice.say(`near or not: it's "quoted" (column:words) AND a* -b; 100%`);
    for (const q of ['"quoted"', '"quoted', 'NEAR(', 'NEAR(it s)', 'column:words', "it's", 'a*', '-b', 'not', 'OR', 'AND', '100%', '^near', "'; or --", 'a & b | !not', '\u0000a']) {
      expect(await found(alice, q), q).to.have.length(1);
    }
    for (const q of ['', ' ', '*', '-', '"', '()', '\\', '%', '\u0000', '\u200d'])
      expect(refusalOf(await alice.http.get(`/api/sessions/search?q=${encodeURIComponent(q)}`)), q).to.deep.equal([400, 'sessions_nothing_to_search']);
    expect(refusalOf(await alice.http.get('/api/sessions/search'))).to.deep.equal([400, 'sessions_nothing_to_search']);
    expect((await alice.http.get(`/api/sessions/search?q=${'a'.repeat(10_000)}`)).status).to.equal(400);
    expect(await found(alice, 'a'.repeat(1_000))).to.deep.equal([]);
    const many = Array.from({ length: 33 }, (_, n) => `w${n}`).join('+');
    expect(refusalOf(await alice.http.get(`/api/sessions/search?q=${many}`))).to.deep.equal([400, 'sessions_too_many_words']);
    for (const query of ['limit=0', 'limit=NaN', 'offset=-1', 'offset=10001']) expect((await alice.http.get(`/api/sessions/search?q=a&${query}`)).status, query).to.equal(400);
  });

  it('comes in pages that neither repeat nor leave out, and says when the total is exact', async () => {
    const { alice } = svc;
    for (let n = 0; n < 7; n++) await alice.say(`pear number ${n}`);
    const all = await search(alice, 'pear');
    expect([all.total, all.total_is_exact]).to.deep.equal([7, true]);
    const paged: Hit[] = [];
    for (const offset of [0, 3, 6, 9]) paged.push(...(await search(alice, 'pear', `&limit=3&offset=${offset}`)).items);
    expect(paged).to.deep.equal(all.items);
  });

  it('shows nothing of a session that was deleted, of history that was cleared, or of an agent that was killed', async () => {
    const { alice } = svc;
    const begin = async (): Promise<string> => (await alice.http.expect(200, 'POST', `/api/agents/${alice.agent.id}/sessions`, {})).body.session_id;
    const doomed = await begin();
    await alice.say('plum one', doomed);
    await alice.say('plum two', await begin());
    await alice.http.expect(200, 'DELETE', `/api/sessions/${doomed}`);
    expect(await found(alice, 'plum')).to.deep.equal(['plum two']);
    await alice.http.expect(200, 'DELETE', `/api/agents/${alice.agent.id}/history`);
    expect(await found(alice, 'plum')).to.deep.equal([]);
    await alice.say('plum three');
    expect(await found(alice, 'plum')).to.deep.equal(['plum three']);
    await alice.http.expect(200, 'DELETE', `/api/agents/${alice.agent.id}`);
    expect(await found(alice, 'plum')).to.deep.equal([]);
    await svc.bob.say('plum of bob');
    expect(await found(svc.bob, 'plum')).to.have.length(1);
    await svc.kernel.daemon.parts.purges.purge({ ownerId: svc.bob.ownerId });
    expect(await found(svc.bob, 'plum')).to.deep.equal([]);
  });

  it('reads each entry once, and finds what an earlier life of the daemon had no time to read', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-search-'));
    const first = await bootWithModel({ text: 'ok' }, { home });
    await first.http.expect(200, 'POST', `/api/agents/${first.agent.id}/message`, { message: 'quince' });
    expect(await rowsOf(first.kernel)).to.deep.equal({ pending: 2, said: 0 });
    await first.kernel.stop();
    const { http, kernel } = await bootWithModel({ text: 'ok' }, { home });
    for (let n = 0; n < 2; n++) {
      const { items } = (await http.expect(200, 'GET', '/api/sessions/search?q=quince')).body;
      expect(items).to.have.length(1);
      expect(await rowsOf(kernel)).to.deep.equal({ pending: 0, said: 2 });
    }
    await kernel.stop();
    await rm(home, { recursive: true, force: true });
  });
});

const rowsOf = async (kernel: TestKernel): Promise<{ pending: number; said: number }> => {
  const db = kernel.daemon.parts.storage.dbFor({ id: 'sessions', tables: ['entries', 'said'] });
  return { pending: await db.system('a test').count('entries', { pending: 1 }), said: await db.system('a test').count('said') };
};
