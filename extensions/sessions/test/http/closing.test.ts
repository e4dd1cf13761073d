/** Sessions that are taken away while something goes on in them: nothing comes back, nobody hangs, nothing stays behind. */
import { virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, OWNER } from '@svc/testing';
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';
import { createClosingStore } from '../../src/closing/closing-store.js';
import { bootPeople, type People, peopleOfSuite, refusalOf, UNKNOWN } from './people.js';

const TABLES = ['sessions', 'entries', 'said', 'closed'];

describeDaemonOnEngines('a session that is taken away', (_engine) => {
  let svc: People;
  /** What the model was asked before this claim. */
  let askedBefore: number;
  let answerAll: () => void;
  let elsewhere: People | undefined;
  afterEach(async () => {
    answerAll?.();
    await elsewhere?.kernel.stop();
    elsewhere = undefined;
  });
  const people = peopleOfSuite();

  /** People of their own; with settings a daemon of their own too. */
  const boot = async (config?: string): Promise<void> => {
    elsewhere = config === undefined ? undefined : await bootPeople(config);
    svc = elsewhere ?? (await people());
    askedBefore = svc.model.requests.length;
  };
  /** From now on the model answers when it is told to. */
  const hold = (): void => {
    const changeEvents = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    svc.model.script(async () => {
      await changeEvents;
      return { text: 'too late' };
    });
  };
  const asked = (count: number): Promise<void> => until(() => svc.model.requests.length - askedBefore >= count);
  const db = () => svc.kernel.daemon.parts.storage.dbFor({ id: 'sessions', tables: TABLES });
  const rowsOf = async (session_id: string): Promise<number[]> => [
    await db().system('a test').count('sessions', { id: session_id }),
    await db().system('a test').count('entries', { session_id }),
    await db().system('a test').count('said', { session_id }),
  ];
  const begin = async (body: object = {}): Promise<string> => (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, body)).body.session_id;
  const send = (message: string, session_id?: string) => svc.alice.http.post(`/api/agents/${svc.alice.agent.id}/message`, { message, ...(session_id === undefined ? {} : { session_id }) });
  const current = async (): Promise<string> => (await svc.alice.http.expect(200, 'GET', `/api/agents/${svc.alice.agent.id}/session`)).body.session_id;

  it('leaves no row, is not found, and another is the current one', async () => {
    await boot();
    const { http, agent } = svc.alice;
    const gone = await svc.alice.say('hi');
    expect((await http.expect(200, 'DELETE', `/api/sessions/${gone.toUpperCase()}`)).body).to.deep.include({ status: 'deleted', session_id: gone });
    expect(await rowsOf(gone)).to.deep.equal([0, 0, 0]);
    expect(await current()).not.to.equal(gone);
    expect(refusalOf(await http.delete(`/api/sessions/${gone}`))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await http.get(`/api/agents/${agent.id}/session?session_id=${gone}`))).to.deep.equal([404, 'sessions_session_not_found']);
    expect(refusalOf(await http.post(`/api/agents/${agent.id}/sessions/${gone}/switch`))).to.deep.equal([404, 'sessions_session_not_found']);
    expect(refusalOf(await http.post(`/api/agents/${agent.id}/sessions`, { session_id: gone }))).to.deep.equal([409, 'sessions_session_closed']);
    expect(refusalOf(await send('again', gone))).to.deep.equal([404, 'sessions_session_not_found']);
    expect(await svc.alice.say('anew')).to.equal(await current());
  });

  it('is only ever the own one', async () => {
    await boot();
    const kept = await svc.alice.say('hi');
    for (const http of [svc.bob.http]) expect(refusalOf(await http.delete(`/api/sessions/${kept}`))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await svc.carol.delete(`/api/sessions/${kept}`))).to.deep.equal([403, 'auth_role_refused']);
    for (const path of ['session/reset', 'session/compact']) {
      expect(refusalOf(await svc.bob.http.post(`/api/agents/${svc.alice.agent.id}/${path}`))).to.deep.equal([404, 'agent_not_found']);
      expect(refusalOf(await svc.carol.post(`/api/agents/${svc.alice.agent.id}/${path}`))).to.deep.equal([403, 'auth_role_refused']);
      expect(refusalOf(await svc.alice.http.post(`/api/agents/x/${path}`))).to.deep.equal([400, 'invalid_agent_id']);
      expect(refusalOf(await svc.alice.http.post(`/api/agents/${UNKNOWN}/${path}`))).to.deep.equal([404, 'agent_not_found']);
    }
    expect(refusalOf(await svc.bob.http.delete(`/api/agents/${svc.alice.agent.id}/history`))).to.deep.equal([404, 'agent_not_found']);
    for (const http of [svc.alice.http, svc.carol]) expect(refusalOf(await http.post('/api/sessions/cleanup'))).to.deep.equal([403, 'auth_role_refused']);
    expect(refusalOf(await svc.alice.http.delete('/api/sessions/x'))).to.deep.equal([400, 'sessions_invalid_session_id']);
    expect((await rowsOf(kept))[0]).to.equal(1);
  });

  it('stops what runs there and what waits behind it, and nothing of either comes back', async () => {
    await boot();
    const gone = await svc.alice.say('before');
    hold();
    const running = send('while it runs');
    await asked(2);
    const waiting = send('behind it');
    await until(async () => (await svc.alice.http.expect(200, 'GET', '/api/sessions')).body.sessions[0].active);
    await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${gone}`);
    answerAll();
    for (const answer of await Promise.all([running, waiting])) expect(answer.body.response ?? answer.body.code, answer.text).to.be.oneOf(['', 'run_stopped', 'sessions_session_not_found']);
    expect(await rowsOf(gone)).to.deep.equal([0, 0, 0]);
    expect((await svc.alice.http.expect(200, 'GET', '/api/sessions/search?q=runs')).body.items).to.deep.equal([]);
    expect(await svc.alice.say('anew')).not.to.equal(gone);
  });

  it('by another daemon ends the run that is going on in it, which says why and leaves nothing', async () => {
    await boot();
    const gone = await svc.alice.say('before');
    hold();
    const running = send('while it runs');
    await asked(2);
    const elsewhere = createClosingStore(db());
    await db().commit(elsewhere.close([gone], new Date().toISOString()));
    await elsewhere.removeRows(gone);
    answerAll();
    expect(refusalOf(await running)).to.deep.equal([404, 'sessions_session_not_found']);
    expect(await rowsOf(gone)).to.deep.equal([0, 0, 0]);
    await until(async () => (await svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent', status: ['running'] })).length === 0);
  });

  it('may be reset under a run, which ends, and the new one is empty and stays so', async () => {
    await boot();
    const { http, agent } = svc.alice;
    const old = [await svc.alice.say('one'), await begin()];
    await svc.alice.say('two');
    hold();
    const running = send('three');
    await asked(3);
    const { body } = await http.expect(200, 'POST', `/api/agents/${agent.id}/session/reset`);
    answerAll();
    await running;
    expect(body).to.include({ status: 'reset', agent_id: agent.id, sessions_deleted: 2, message: 'Session reset' });
    const { body: shown } = await http.expect(200, 'GET', `/api/agents/${agent.id}/session`);
    expect(shown).to.include({ session_id: body.new_session_id, message_count: 0 });
    for (const id of old) await until(async () => (await rowsOf(id)).join() === '0,0,0');
    await until(async () => (await db().system('a test').count('closed', { erased: 0, keep_until: null })) === 0);
    svc.model.script({ text: 'ok' });
    expect(await svc.alice.say('four')).to.equal(body.new_session_id);
    expect((await http.expect(200, 'DELETE', `/api/agents/${agent.id}/history`)).body).to.include({ status: 'ok', message: 'All history cleared', sessions_deleted: 1 });
  });

  it('are all kept where a reset, a clearing or a compaction names one of them in a place that nobody reads', async () => {
    await boot();
    const { http, agent } = svc.alice;
    const id = await svc.alice.say('one');
    const path = `/api/agents/${agent.id}`;
    const answers = [
      await http.post(`${path}/session/reset`, { session_id: id }),
      await http.post(`${path}/session/reset?session_id=${id}`),
      await http.delete(`${path}/history?session_id=${id}`),
      await http.post(`${path}/session/compact`, { session_id: id }),
    ];
    for (const answer of answers)
      expect(answer, answer.text)
        .to.include({ status: 400 })
        .and.have.nested.property('body.error')
        .that.matches(/session_id/);
    expect((await http.expect(200, 'GET', `${path}/session`)).body).to.include({ session_id: id, message_count: 2 });
    await http.expect(200, 'POST', `${path}/session/reset`, {});
  });

  it('may be taken away by many at once, with messages in between, and the agent can be spoken to afterwards', async () => {
    await boot();
    const { http, agent } = svc.alice;
    for (let n = 0; n < 3; n++) {
      await begin();
      await svc.alice.say('hi');
    }
    const ids: string[] = (await http.expect(200, 'GET', `/api/agents/${agent.id}/sessions`)).body.sessions.map((one: { id: string }) => one.id);
    const answers = await Promise.all([
      ...ids.flatMap((id) => [
        http.delete(`/api/sessions/${id}`),
        http.delete(`/api/sessions/${id}`),
        http.post(`/api/agents/${agent.id}/sessions/${id}/switch`),
        http.put(`/api/sessions/${id}/label`, { label: 'a' }),
        send('meanwhile', id),
      ]),
      http.post(`/api/agents/${agent.id}/session/reset`),
      http.delete(`/api/agents/${agent.id}/history`),
      send('meanwhile'),
      send('meanwhile'),
    ]);
    expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).to.deep.equal([]);
    for (const id of ids) expect(await rowsOf(id), id).to.deep.equal([0, 0, 0]);
    expect((await send('afterwards')).status).to.equal(200);
    expect((await http.expect(200, 'GET', `/api/sessions/${await current()}`)).body.messages.at(-1).content).to.equal('ok');
  });

  it('is cleaned up where it is older than sessions are kept, or one too many, or its agent is gone', async () => {
    await boot('[session]\nretention_days = 30\nmax_sessions_per_agent = 2\n');
    const { owner, alice, bob } = svc;
    const [old, busyOld] = [await svc.alice.say('long ago'), await bob.say('long ago')];
    const aged = '2020-01-01T00:00:00.000Z';
    await alice.http.expect(200, 'GET', '/api/sessions');
    await db().commit([db().update('sessions', ['id'], [{ id: old, created_at: aged, last_at: aged }]), db().update('sessions', ['id'], [{ id: busyOld, created_at: aged }])]);
    const fresh = [await begin(), await begin(), await begin()];
    const orphan = '77777777-7777-4777-8777-777777777777';
    await db().commit([db().insert('sessions', [{ id: orphan, agent_id: UNKNOWN, owner_id: 'user:alice', created_at: new Date().toISOString() }])]);

    expect((await owner.expect(200, 'POST', '/api/sessions/cleanup')).body).to.deep.equal({ sessions_deleted: 3, orphaned: 1, expired: 1, surplus: 1 });

    const left = (await owner.expect(200, 'GET', '/api/sessions')).body.sessions.map((one: { id: string }) => one.id);
    expect(left).to.have.members([busyOld, fresh[1], fresh[2]]);
    expect((await owner.expect(200, 'POST', '/api/sessions/cleanup')).body.sessions_deleted).to.equal(0);
  });

  it('stays where settings ask for nothing, but for those of agents that are gone', async () => {
    await boot();
    const kept = await svc.alice.say('hi');
    await db().commit([db().update('sessions', ['id'], [{ id: kept, created_at: '2020-01-01T00:00:00.000Z', last_at: '2020-01-01T00:00:00.000Z' }])]);
    expect((await svc.owner.expect(200, 'POST', '/api/sessions/cleanup')).body).to.deep.equal({ sessions_deleted: 0, orphaned: 0, expired: 0, surplus: 0 });
    expect((await rowsOf(kept))[0]).to.equal(1);
  });

  it('is cleaned up by itself once in each interval, and its id is forgotten when nobody can still mean it', async function () {
    // The timers of all areas fire in these days, each with its statements.
    this.timeout(180_000);
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const kernel = await bootTestKernel({ clock, config: `${OPEN_RATE}[session]\nretention_days = 1\ncleanup_interval_hours = 1\n` });
    const tables = kernel.daemon.parts.storage.dbFor({ id: 'sessions', tables: TABLES });
    const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
    const old = (await kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/sessions`, {})).body.session_id;
    const turns = async () => (await kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'session-cleanup' })).map(({ status }) => status);
    await tables.commit([tables.update('sessions', ['id'], [{ id: old, created_at: '2025-12-01T00:00:00.000Z' }])]);
    /** Time goes on while it is waited for: what is begun by a timer may set another. */
    const passing = (ready: () => Promise<boolean>, stepMs = 50) =>
      until(async () => {
        await clock.advance(stepMs);
        return ready();
      });
    await clock.advance(60_000);
    await passing(async () => (await tables.system('a test').count('sessions', { id: old })) === 0 && (await turns()).join() === 'done', 1_000);
    await clock.advance(50 * 60_000);
    expect(await turns()).to.deep.equal(['done']);
    await clock.advance(20 * 60_000);
    // A beat is left out while the one before it is still at work.
    await passing(async () => (await turns()).join() === 'done,done', 60_000);
    expect((await kernel.http.post(`/api/agents/${agent.id}/sessions`, { session_id: old })).body.code).to.equal('sessions_session_closed');
    await passing(async () => (await tables.system('a test').count('closed', { erased: 0 })) === 0);
    const closed = createClosingStore(tables);
    await closed.forgetClosed('2026-01-01T00:00:00.000Z');
    expect(await tables.system('a test').count('closed', { id: old })).to.equal(1);
    await closed.forgetClosed('2026-02-01T00:00:00.000Z');
    expect(await tables.system('a test').count('closed', { id: old })).to.equal(0);
  });
});
