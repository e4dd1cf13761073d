/** What agents remember of conversations, and what a model is given of it. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const [owner, bobKey] = ['root-key-0', 'bob-key-3'];

interface Sent {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
}

describe('memory in conversations', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  let bob: TestHttp;
  before(async () => {
    const user = `[[users]]\nname = "bob"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(bobKey).digest('hex')}"\n`;
    svc = await bootWithModel(undefined, { config: `api_key = "${owner}"\n${OPEN_RATE}${user}`, key: owner });
    bob = svc.kernel.as(bobKey);
  });
  after(stopModelKernels);

  const spawn = async (http: TestHttp, name: string, more: object = {}): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name, ...more } })).body.agent_id;
  const say = (http: TestHttp, agent: string, message: string, more: object = {}) => http.expect(200, 'POST', `/api/agents/${agent}/message`, { message, ...more });
  const remembered = async (http: TestHttp, agent: string): Promise<string[]> =>
    (await http.expect(200, 'GET', `/api/memory/agents/${agent}`)).body.memories.map((one: { content: string }) => one.content);
  const learned = (agent: string, count: number, http: TestHttp = svc.http) => until(async () => (await remembered(http, agent)).length >= count);
  const newSession = async (agent: string): Promise<string> => (await svc.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body.session_id;
  const last = (): Sent => svc.model.requests.at(-1)?.body as Sent;
  const textOf = (sent: Sent, role?: string): string => JSON.stringify(sent.messages.filter((one) => role === undefined || one.role === role));

  it('X5 facts of a message are remembered after the answer, and questions and the answer are not', async () => {
    const agent = await spawn(svc.http, 'learner');
    await say(svc.http, agent, 'Hello! I am allergic to peanuts. My favourite colour is teal. What is the time?');
    await learned(agent, 2);
    expect(await remembered(svc.http, agent)).to.have.members(['I am allergic to peanuts.', 'My favourite colour is teal.']);
    const { memories } = (await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}`)).body;
    expect(memories[0]).to.include({ source: 'conversation', role: 'user' });
    expect(memories[0].session_id).to.be.a('string');
  });

  it('L2 what fits a question stands before it, labelled, outside the system prompt, and once in a conversation', async () => {
    const agent = await spawn(svc.http, 'recaller');
    await say(svc.http, agent, 'My dog is called Rex. I live in Lisbon.');
    await learned(agent, 2);
    const session = await newSession(agent);
    await say(svc.http, agent, 'What is my dog called?', { session_id: session });
    expect(textOf(last(), 'system')).to.not.contain('Rex');
    expect(textOf(last())).to.match(/memory, \d{4}-\d\d-\d\d, your owner said\] My dog is called Rex/);
    expect(textOf(last())).to.not.contain('Lisbon');
    const before = JSON.stringify(last().messages);
    await say(svc.http, agent, 'Say again, what is my dog called?', { session_id: session });
    expect(textOf(last()).split('called Rex').length - 1, 'times').to.equal(1);
    // The prefix is what it was: a prompt cache holds.
    expect(JSON.stringify(last().messages).startsWith(before.slice(0, -1))).to.equal(true);
  });

  it('recalls nothing where nothing fits', async () => {
    const agent = await spawn(svc.http, 'silent');
    await say(svc.http, agent, 'My cat is called Mia.');
    await learned(agent, 1);
    await say(svc.http, agent, 'Compute the integral of x squared', { session_id: await newSession(agent) });
    expect(textOf(last())).to.not.contain('Mia');
    // What replaced something fits as well as that did, and no better.
    await say(svc.http, agent, 'Ilse works at Hooli.');
    await say(svc.http, agent, 'Ilse now works at Wayne Works.');
    await learned(agent, 3);
    await say(svc.http, agent, 'Explain the second law of thermodynamics', { session_id: await newSession(agent) });
    expect(textOf(last())).to.not.contain('[memory, ');
    await say(svc.http, agent, 'Who employs Ilse now?', { session_id: await newSession(agent) });
    expect(textOf(last())).to.contain('Ilse now works at Wayne Works');
  });

  it('recalls by words in Chinese, where most pairs of characters of a question lie across two words', async () => {
    const agent = await spawn(svc.http, 'chinese');
    await svc.http.expect(200, 'POST', '/api/memory', { content: '我们家养了一只猫', agent_id: agent });
    await say(svc.http, agent, '关于养了一只猫我说过什么？', { session_id: await newSession(agent) });
    expect(textOf(last())).to.contain('我们家养了一只猫');
  });

  it('X6 side questions and incognito messages are not remembered, and an agent can be switched off', async () => {
    const agent = await spawn(svc.http, 'discreet');
    await say(svc.http, agent, 'I live in Atlantis.', { incognito: true });
    await say(svc.http, agent, '/btw I live in Eldorado.');
    const off = await spawn(svc.http, 'forgetful', { proactive_memory: { auto_memorize: false } });
    await say(svc.http, off, 'I live in Utopia.');
    await say(svc.http, agent, 'I live in Ghent.');
    await learned(agent, 1);
    expect(await remembered(svc.http, agent)).to.deep.equal(['I live in Ghent.']);
    expect(await remembered(svc.http, off)).to.deep.equal([]);
  });

  it('L1 what the owner of the daemon said to bob’s agent is not recalled for bob, nor the other way round', async () => {
    const agent = await spawn(bob, 'bobs');
    await say(bob, agent, 'My heron is called Herbert.');
    await learned(agent, 1, bob);
    await say(svc.http, agent, 'What is the heron called?');
    expect(textOf(last())).to.not.contain('[memory, ');
    await say(bob, agent, 'What is my heron called?', { session_id: (await bob.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body.session_id });
    expect(textOf(last())).to.contain('your owner said] My heron is called Herbert');
  });

  it('the tools of an agent reach its keys as far as its manifest lets them', async () => {
    const agent = await spawn(svc.http, 'keeper', { capabilities: { memory_read: ['self.*'], memory_write: ['self.notes.*'] } });
    const call = async (name: string, args: object): Promise<string> => {
      svc.model.script([{ toolCalls: [{ id: `c${Math.random()}`, name, args }] }, { text: 'done' }]);
      await say(svc.http, agent, 'go');
      return textOf(last(), 'tool');
    };
    expect(await call('memory_store', { key: 'notes.city', value: 'Porto' })).to.contain('stored');
    expect(await call('memory_store', { key: 'other', value: 'x' })).to.contain('self.other');
    expect(await call('memory_recall', { key: 'notes.city' })).to.contain('Porto');
    expect(await call('memory_store', { key: 'notes.secret', value: 'password: hunter2-abcdef' })).to.contain('secret');
    expect((await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}/kv`)).body.kv_pairs).to.deep.equal([{ key: 'notes.city', value: 'Porto' }]);
  });

  it('the graph and the wiki are written and read by tools, and found by the same search', async () => {
    const agent = await spawn(svc.http, 'scholar', { capabilities: { memory_read: ['*'], memory_write: ['*'] } });
    const call = async (name: string, args: object): Promise<string> => {
      svc.model.script([{ toolCalls: [{ id: `c${Math.random()}`, name, args }] }, { text: 'done' }]);
      await say(svc.http, agent, 'go');
      return textOf(last(), 'tool');
    };
    expect(await call('knowledge_add_entity', { name: 'Ana', entity_type: 'person' })).to.contain('person');
    expect(await call('knowledge_add_relation', { source: 'ana', relation: 'works_at', target: 'Acme' })).to.contain('stored');
    expect(await call('knowledge_query', { target: 'ACME' })).to.contain('Ana');
    expect(await call('wiki_write', { topic: 'Release steps', body: '# Steps\nTag the commit, then publish.' })).to.contain('created');
    expect(await call('wiki_write', { topic: 'release steps', body: 'other' })).to.contain('force');
    expect(await call('wiki_write', { topic: 'release steps', body: 'Publish, then tag.', force: true })).to.contain('updated');
    expect(await call('wiki_get', { topic: 'RELEASE STEPS' })).to.contain('Publish, then tag');
    expect(await call('wiki_search', { query: 'publishing' })).to.contain('Release steps');
    const { body } = await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}/search?q=tag+and+publish`);
    expect(body.memories[0]).to.include({ category: 'wiki', source: 'wiki' });
    expect((await svc.http.expect(200, 'GET', `/api/memory/items/${body.memories[0].id}/history`)).body.version_count).to.equal(1);
  });

  it('M4 what is erased is in no file any more: neither the entry, its history, its words nor where it was recalled', async () => {
    const agent = await spawn(svc.http, 'eraser');
    const { memories } = (await svc.http.expect(200, 'POST', '/api/memory', { content: 'The mascot is a quetzalcanary', agent_id: agent })).body;
    const { id } = memories[0];
    const session = await newSession(agent);
    await say(svc.http, agent, 'Which animal is the mascot?', { session_id: session });
    expect(textOf(last())).to.contain('quetzalcanary');
    await until(async () => (await svc.http.expect(200, 'GET', `/api/memory/items/${id}/history`)).body.memory.access_count > 0);
    await svc.http.expect(200, 'PUT', `/api/memory/items/${id}`, { content: 'The mascot is an ocelotcanary' });
    const { still_held_by: held } = (await svc.http.expect(200, 'DELETE', `/api/memory/items/${id}`)).body;
    expect(held.map((one: { kind: string; id: string | null }) => [one.kind, one.id])).to.deep.equal([
      ['conversation', session],
      ['backups', null],
    ]);
    await say(svc.http, agent, 'And now?', { session_id: session });
    expect(textOf(last())).to.not.contain('quetzalcanary');
    expect(await gone(/quetzalcanary|ocelotcanary/i)).to.deep.equal([]);
  });

  /** Files of the home that hold it, once a few seconds have passed. */
  const gone = async (what: RegExp): Promise<string[]> => {
    const holding = async (): Promise<string[]> => {
      const files = (await readdir(svc.kernel.home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
      const texts = await Promise.all(files.map(async ({ parentPath, name }) => [name, await readFile(join(parentPath, name), 'latin1').catch(() => '')] as const));
      return texts.filter(([, text]) => what.test(text)).map(([name]) => name);
    };
    let left = await holding();
    for (let tries = 0; left.length > 0 && tries < 40; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      left = await holding();
    }
    return left;
  };

  interface Edge {
    readonly source: { readonly name: string };
    readonly relation: { readonly type: string; readonly source: string; readonly is_past: boolean; readonly created_at: string };
    readonly target: { readonly name: string };
  }
  const edges = async (agent: string): Promise<Edge[]> => (await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}/relations`)).body.matches;
  const namesOf = (found: readonly Edge[]): string[] => found.map(({ source, relation, target }) => `${source.name} ${relation.type} ${target.name}`);

  it('R3 R4 facts are in the graph with source and date, and an edge is recalled for an entity that the question names, while it holds', async () => {
    const agent = await spawn(svc.http, 'relater');
    await say(svc.http, agent, 'Noor works at Quadrant. My dog is called Rex.');
    await until(async () => (await edges(agent)).length === 2);
    const found = await edges(agent);
    expect(namesOf(found)).to.have.members(['Noor employer Quadrant', 'me dog Rex']);
    const { memories } = (await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}`)).body;
    expect(found.map(({ relation }) => relation.source)).to.have.members(memories.map(({ id }: { id: string }) => id));
    for (const { relation } of found) expect(relation.created_at).to.match(/^\d{4}-\d\d-\d\dT/);
    // Too much else is asked for the entry itself to fit.
    const long = 'Compare salaries, holidays, offices, benefits, contracts, managers, training, canteens and reputation of Quadrant with those of its rivals abroad';
    const asked = async (): Promise<string> => {
      await say(svc.http, agent, long, { session_id: await newSession(agent) });
      return textOf(last());
    };
    expect(await asked()).to.match(/memory, \d{4}-\d\d-\d\d, relation\] Noor's employer: Quadrant/);
    await say(svc.http, agent, 'Who is at Quadrant?', { session_id: await newSession(agent) });
    expect(textOf(last())).to.contain('Noor works at Quadrant').and.to.not.contain('relation]');
    await say(svc.http, agent, 'Noor now works at Pinnacle.');
    await until(async () => (await edges(agent)).length === 3);
    const past = (await edges(agent)).filter(({ relation }) => relation.is_past);
    expect(namesOf(past)).to.deep.equal(['Noor employer Quadrant']);
    expect(await asked()).to.not.contain('relation]');
    // A correction reaches the graph.
    const dog = memories.find(({ content }: { content: string }) => content.includes('Rex'));
    await svc.http.expect(200, 'PUT', `/api/memory/items/${dog.id}`, { content: 'My dog is called Max' });
    expect(namesOf(await edges(agent)))
      .to.include('me dog Max')
      .and.not.include('me dog Rex');
  });

  it('M4 R4 an erased fact leaves no edge, no entity and no relation that was recalled', async () => {
    const agent = await spawn(svc.http, 'graph-eraser');
    const saidIn = await newSession(agent);
    await say(svc.http, agent, 'Umberto works at Plumcanary.', { session_id: saidIn });
    await until(async () => (await edges(agent)).length === 1);
    const { memories } = (await svc.http.expect(200, 'GET', `/api/memory/agents/${agent}`)).body;
    const recalledIn = await newSession(agent);
    const question = 'Compare salaries, holidays, offices, benefits, contracts, managers, training, canteens and reputation of the firm of Umberto with those of its rivals abroad';
    await say(svc.http, agent, question, { session_id: recalledIn });
    expect(textOf(last())).to.contain("Umberto's employer: Plumcanary");
    await until(async () => (await svc.http.expect(200, 'GET', `/api/memory/items/${memories[0].id}/history`)).body.memory.access_count > 0);
    await svc.http.expect(200, 'DELETE', `/api/sessions/${saidIn}?erase=true`);
    const { still_held_by: held } = (await svc.http.expect(200, 'DELETE', `/api/memory/items/${memories[0].id}`)).body;
    expect(held.map((one: { id: string | null }) => one.id)).to.include(recalledIn);
    expect(await edges(agent)).to.deep.equal([]);
    expect(await gone(/plumcanary/i)).to.deep.equal([]);
  });

  it('/remember, /memory and /forget work in a conversation, and no model reads them', async () => {
    const agent = await spawn(svc.http, 'typed');
    const asked = svc.model.requests.length;
    expect((await say(svc.http, agent, '/remember The gate code is on the fridge')).body.response).to.contain('remember');
    expect((await say(svc.http, agent, '/memory gate')).body.response).to.contain('fridge');
    expect((await say(svc.http, agent, '/forget gate fridge')).body.response).to.contain('Forgotten');
    expect(await remembered(svc.http, agent)).to.deep.equal([]);
    expect(svc.model.requests.length).to.equal(asked);
  });
});
