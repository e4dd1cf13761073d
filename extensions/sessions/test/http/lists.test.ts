/** Sessions over HTTP: lists, labels, switching, reading one. */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';
import { type People, peopleOfSuite, refusalOf, UNKNOWN } from './people.js';

describeOnEngines('sessions over HTTP', (_engine) => {
  let svc: People;
  const people = peopleOfSuite();
  beforeEach(async () => {
    svc = await people();
  });

  const begin = async (body: object = {}): Promise<string> => (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, body)).body.session_id;
  const listed = async (query = '') => (await svc.alice.http.expect(200, 'GET', `/api/agents/${svc.alice.agent.id}/sessions${query}`)).body;

  it('are listed newest first, with what they hold and cost, and which is the current one', async () => {
    await svc.alice.say('hello there,\n  this   is the first of them all, and it goes on for quite a while');
    const second = await begin({ label: 'Второй 2' });
    await svc.alice.say('hi', second);

    const { sessions, total, offset, limit } = await listed();

    expect([total, offset, limit]).to.deep.equal([2, 0, 50]);
    const [newest, oldest] = sessions;
    expect(newest).to.include({
      id: second,
      session_id: second,
      agent_id: svc.alice.agent.id,
      agent_name: 'of-alice',
      label: 'Второй 2',
      is_labelled: true,
      message_count: 2,
      is_canonical: true,
      active: false,
    });
    expect(newest).to.include({ input_tokens: 10, output_tokens: 5, total_tokens: 15 });
    expect(newest.cost_usd).to.be.greaterThan(0);
    expect(newest.duration_ms).to.be.a('number');
    expect(oldest).to.include({ session_id: svc.alice.agent.session_id, label: 'hello there, this is the first of them all, and it goes on f', is_labelled: false, is_canonical: false });
    const { body: shown } = await svc.alice.http.expect(200, 'GET', `/api/agents/${svc.alice.agent.id}/session?session_id=${oldest.session_id}`);
    expect(oldest.message_count).to.equal(shown.message_count);
    expect(shown.label).to.equal(null);
  });

  it('are listed in pages, of all agents or of one, and only those that somebody may see', async () => {
    for (let n = 0; n < 5; n++) await begin();
    await svc.bob.say('hi');
    const all = (await svc.owner.expect(200, 'GET', '/api/sessions')).body;
    expect(all.total).to.equal(6);
    expect(new Set(all.sessions.map((one: { agent_name: string }) => one.agent_name))).to.deep.equal(new Set(['of-alice', 'of-bob']));
    const ids = all.sessions.map((one: { id: string }) => one.id);
    const paged: string[] = [];
    for (let offset = 0; offset < 8; offset += 2) {
      const page = (await svc.owner.expect(200, 'GET', `/api/sessions?limit=2&offset=${offset}`)).body;
      expect(page).to.include({ total: 6, offset, limit: 2 });
      paged.push(...page.sessions.map((one: { id: string }) => one.id));
    }
    expect(paged).to.deep.equal(ids);
    expect((await svc.bob.http.expect(200, 'GET', '/api/sessions')).body.total).to.equal(1);
    expect((await svc.owner.expect(200, 'GET', `/api/sessions?agent_id=${svc.alice.agent.id}`)).body.total).to.equal(5);
    expect((await svc.carol.expect(200, 'GET', '/api/sessions')).body).to.deep.equal({ sessions: [], items: [], total: 0, offset: 0, limit: 50, next: null });
    expect(await listed('?offset=5')).to.include({ total: 5 });
    expect((await listed('?offset=5')).sessions).to.deep.equal([]);
  });

  it('have at most five hundred in a page, whatever was asked for, and the same rows as items', async () => {
    for (let n = 0; n < 2; n++) await begin();
    const { http, agent } = svc.alice;
    for (const at of ['/api/sessions', `/api/agents/${agent.id}/sessions`]) {
      const { body } = await http.expect(200, 'GET', `${at}?limit=9999`);
      expect(body.limit, at).to.equal(500);
      expect(body.items, at).to.deep.equal(body.sessions).and.to.have.length(2);
    }
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=a&limit=9999')).body.limit).to.equal(500);
  });

  it('refuse pages of no size, and of agents that are no ids or not there', async () => {
    const { http, agent } = svc.alice;
    for (const query of ['limit=0', 'limit=NaN', 'limit=1.5', 'offset=-1', 'offset=x', 'offset=1000001']) {
      expect((await http.get(`/api/sessions?${query}`)).status, query).to.equal(400);
      expect((await http.get(`/api/agents/${agent.id}/sessions?${query}`)).status, query).to.equal(400);
    }
    for (const [id, refused] of [
      ['x', [400, 'invalid_agent_id']],
      [UNKNOWN, [404, 'agent_not_found']],
      [svc.bob.agent.id, [404, 'agent_not_found']],
    ] as const) {
      expect(refusalOf(await http.get(`/api/agents/${id}/sessions`))).to.deep.equal(refused);
      expect(refusalOf(await http.get(`/api/sessions?agent_id=${id}`))).to.deep.equal(refused);
    }
  });

  it('are read as their log, with calls as blocks', async () => {
    const [session] = [await svc.alice.say('hi')];
    const { body } = await svc.alice.http.expect(200, 'GET', `/api/sessions/${svc.alice.agent.session_id.toUpperCase()}`);
    expect(session).to.equal(body.session_id);
    expect(body.messages.map(({ seq, role, content }: { seq: number; role: string; content: unknown }) => [seq, role, content])).to.deep.equal([
      [1, 'user', 'hi'],
      [2, 'assistant', 'ok'],
    ]);
    expect(body).to.include({ message_count: 2, model_override: null, is_canonical: true });
    for (const http of [svc.bob.http, svc.carol]) expect(refusalOf(await http.get(`/api/sessions/${session}`))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await svc.alice.http.get('/api/sessions/x'))).to.deep.equal([400, 'sessions_invalid_session_id']);
    expect(refusalOf(await svc.alice.http.get(`/api/sessions/${UNKNOWN}`))).to.deep.equal([404, 'sessions_no_such_session']);
    expect((await svc.owner.expect(200, 'GET', `/api/sessions/${session}`)).body.agent_name).to.equal('of-alice');
  });

  it('get labels in any script, which find the newest of them, and lose them', async () => {
    const { http, agent } = svc.alice;
    const [first, second] = [await begin({ label: 'trip' }), await begin()];
    expect((await http.expect(200, 'PUT', `/api/sessions/${second}/label`, { label: ' 出差 上海_2 ' })).body).to.deep.equal({ status: 'updated', session_id: second, label: '出差 上海_2' });
    const find = (label: string, of = agent.id) => http.get(`/api/agents/${of}/sessions/by-label/${encodeURIComponent(label)}`);
    expect((await find('出差 上海_2', 'of-alice')).body).to.deep.equal({ session_id: second, agent_id: agent.id, label: '出差 上海_2', message_count: 0 });
    expect((await find('trip')).body.session_id).to.equal(first);
    await http.expect(200, 'PUT', `/api/sessions/${second}/label`, { label: 'trip' });
    expect((await find('trip')).body.session_id).to.equal(second);
    expect((await http.expect(200, 'PUT', `/api/sessions/${second}/label`, { label: null })).body.label).to.equal(null);
    expect((await find('trip')).body.session_id).to.equal(first);
    expect(refusalOf(await find('Trip'))).to.deep.equal([404, 'sessions_no_such_label']);
    expect(refusalOf(await find('trip', 'nobody'))).to.deep.equal([400, 'invalid_agent_id']);
    expect(refusalOf(await find('trip', svc.bob.agent.id))).to.deep.equal([404, 'agent_not_found']);
    expect(refusalOf(await svc.bob.http.put(`/api/sessions/${first}/label`, { label: 'mine' }))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await svc.carol.put(`/api/sessions/${first}/label`, { label: 'mine' }))).to.deep.equal([403, 'auth_role_refused']);
  });

  it('refuse labels that are none', async () => {
    const { http, agent } = svc.alice;
    const id = await begin();
    for (const label of ['', ' ', 'a\u0000b', 'a\nb', 'a/b', 'a.b', '🎉', 'a'.repeat(129)]) {
      const answers = [
        await http.put(`/api/sessions/${id}/label`, { label }),
        await http.post(`/api/agents/${agent.id}/sessions`, { label }),
        await http.get(`/api/sessions/search?q=a&label=${encodeURIComponent(label)}`),
      ];
      expect(
        answers.map(({ status }) => status),
        JSON.stringify(label),
      ).to.deep.equal([400, 400, 400]);
    }
    expect((await http.put(`/api/sessions/${id}/label`, {})).status).to.equal(400);
    expect((await http.put(`/api/sessions/${id}/label`, { label: 7 })).status).to.equal(400);
    await http.expect(200, 'PUT', `/api/sessions/${id}/label`, { label: 'a'.repeat(128) });
    expect(refusalOf(await http.put('/api/sessions/x/label', { label: 'a' }))).to.deep.equal([400, 'sessions_invalid_session_id']);
    expect(refusalOf(await http.put(`/api/sessions/${UNKNOWN}/label`, { label: 'a' }))).to.deep.equal([404, 'sessions_no_such_session']);
  });

  it('are switched to where they are of the agent', async () => {
    const { http, agent } = svc.alice;
    await svc.alice.say('in the first');
    const second = await begin();
    await svc.bob.say('hi');
    const switchTo = (id: string) => http.post(`/api/agents/${agent.id}/sessions/${id}/switch`);
    expect((await switchTo(agent.session_id.toUpperCase())).body).to.deep.equal({ status: 'ok', message: 'Session switched', session_id: agent.session_id, agent_id: agent.id });
    expect(await svc.alice.say('again')).to.equal(agent.session_id);
    expect((await switchTo(second)).status).to.equal(200);
    expect(await svc.alice.say('there')).to.equal(second);
    expect(refusalOf(await switchTo('x'))).to.deep.equal([400, 'sessions_invalid_session_id']);
    for (const id of [UNKNOWN, svc.bob.agent.session_id]) expect(refusalOf(await switchTo(id))).to.deep.equal([404, 'sessions_session_not_found']);
    expect(refusalOf(await svc.owner.post(`/api/agents/${agent.id}/sessions/${svc.bob.agent.session_id}/switch`))).to.deep.equal([404, 'sessions_session_not_found']);
    expect(await svc.alice.say('still there')).to.equal(second);
  });

  it('tell how full the window is', async () => {
    const { http, agent } = svc.alice;
    const context = async () => (await http.expect(200, 'GET', `/api/agents/${agent.id}/session/context`)).body;
    const first = await context();
    expect(first).to.include({ model: 'openai/gpt-4o', pressure: 'low' });
    await svc.alice.say('hi');
    await http.expect(200, 'POST', `/api/agents/${agent.id}/sessions`, {});
    const empty = await context();
    expect(first.parts, 'before the first message, what the next one is sent').to.deep.equal(empty.parts);
    await svc.alice.say('x'.repeat(80_000));
    const fuller = await context();
    expect(fuller.used_tokens - empty.used_tokens).to.be.within(20_000, 20_100);
    const part = (of: { parts: Array<{ part: string; tokens: number }> }, name: string): number => of.parts.find((one) => one.part === name)?.tokens ?? 0;
    expect(part(fuller, 'people') - part(empty, 'people')).to.be.within(20_000, 20_050);
    expect([part(fuller, 'tools') > 0, part(fuller, 'instructions') > 0]).to.deep.equal([true, true]);
    expect(fuller.parts.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0)).to.equal(fuller.used_tokens);
    expect(fuller.pct).to.equal(Math.round((fuller.used_tokens / fuller.max_context_tokens) * 1_000) / 10);
    await http.expect(200, 'POST', `/api/agents/${agent.id}/sessions`, {});
    expect((await context()).used_tokens).to.equal(empty.used_tokens);
    expect(refusalOf(await http.get(`/api/agents/${agent.id}/session/context?session_id=${UNKNOWN}`))).to.deep.equal([404, 'sessions_session_not_found']);
  });

  it('are shown as active while something goes on in them, and a question beside them is no session', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    svc.model.script(async () => {
      await held;
      return { text: 'ok' };
    });
    const { http, agent } = svc.alice;
    const before = svc.model.requests.length;
    const asking = Promise.all([svc.alice.say('hi'), http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'aside', incognito: true })]);
    await until(() => svc.model.requests.length === before + 2);
    const { sessions, total } = await listed();
    expect(total).to.equal(1);
    expect(sessions[0]).to.include({ active: true, message_count: 1 });
    expect((await http.expect(200, 'GET', '/api/sessions')).body.sessions).to.deep.equal(sessions);
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=aside')).body.items).to.deep.equal([]);
    answer();
    await asking;
    expect((await listed()).sessions[0]).to.include({ active: false, message_count: 2 });
  });
});
