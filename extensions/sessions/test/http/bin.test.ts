/** Conversations that were deleted: out of everybody's sight, and back as they were. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';
import { bootPeople, type People, peopleOfSuite, refusalOf } from './people.js';

const KERNEL = { id: 'kernel', tables: ['trash', 'trash_rows'], isPlatform: true } as const;

describeDaemonOnEngines('a deleted conversation', (_engine) => {
  let svc: People;
  let elsewhere: People | undefined;
  afterEach(async () => {
    await elsewhere?.kernel.stop();
    elsewhere = undefined;
  });
  const people = peopleOfSuite();
  const boot = async (config?: string): Promise<void> => {
    elsewhere = config === undefined ? undefined : await bootPeople(config);
    svc = elsewhere ?? (await people());
  };
  const bin = async (http = svc.alice.http): Promise<Array<{ id: string; message_count: number; label: string | null; restorable_until: string }>> =>
    (await http.expect(200, 'GET', '/api/sessions?deleted=only')).body.sessions;
  const binRows = async (): Promise<number> => svc.kernel.daemon.parts.storage.dbFor(KERNEL).system('a test').count('trash_rows');
  const trail = async (id: string) => {
    const { body } = await svc.alice.http.expect(200, 'GET', `/api/sessions/${id}`);
    const runs = (await svc.alice.http.expect(200, 'GET', `/api/sessions/${id}/runs`)).body.runs;
    return { messages: body.messages, label: body.label, tags: body.tags, tokens: body.total_tokens, count: body.message_count, runs };
  };

  it('is in no list, search or count, nor are its runs, and comes back as it was', async () => {
    await boot();
    const { http, agent } = svc.alice;
    const id = await svc.alice.say('the pelican flies at noon');
    await http.expect(200, 'PUT', `/api/sessions/${id}/tags`, { tags: ['birds'] });
    await http.expect(200, 'GET', '/api/sessions/search?q=pelican');
    const before = await trail(id);
    const runIds = before.runs.map((run: { run_id: string }) => run.run_id);
    expect(runIds).to.have.length(1);

    const { body } = await http.expect(200, 'DELETE', `/api/sessions/${id}`);

    expect(Date.parse(body.restorable_until) - Date.now()).to.be.within(29.9 * 86_400_000, 30 * 86_400_000);
    expect((await http.expect(200, 'GET', `/api/sessions?agent_id=${agent.id}`)).body.sessions.map((one: { id: string }) => one.id)).not.to.include(id);
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=pelican')).body.items).to.deep.equal([]);
    expect((await http.expect(200, 'GET', '/api/sessions/tags')).body.tags.map(({ tag }: { tag: string }) => tag)).not.to.include('birds');
    expect((await http.expect(200, 'GET', '/api/runs')).body.runs.map((run: { run_id: string }) => run.run_id)).not.to.include(runIds[0]);
    for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/runs`, `/api/runs/${runIds[0]}`, `/api/agents/${agent.id}/session?session_id=${id}`])
      expect((await http.get(path)).status, path).to.equal(404);
    expect(await bin()).to.deep.include({ ...(await bin())[0], id, label: 'the pelican flies at noon', message_count: 2 });

    await http.expect(200, 'PUT', `/api/sessions/${id}/archive`, { archived: false });

    expect(await trail(id)).to.deep.equal(before);
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=pelican')).body.items.map((hit: { session_id: string }) => hit.session_id)).to.deep.equal([id]);
    expect((await http.expect(200, 'GET', `/api/agents/${agent.id}/session?session_id=${id}`)).body.messages).to.have.length(2);
    expect((await bin()).map((one) => one.id)).not.to.include(id);
    expect((await http.post(`/api/agents/${agent.id}/message`, { message: 'go on', session_id: id })).body.session_id).to.equal(id);
  });

  it('is seen and brought back by nobody else', async () => {
    await boot();
    const id = await svc.alice.say('mine alone');
    await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${id}`);
    expect((await bin(svc.bob.http)).map((one) => one.id)).not.to.include(id);
    for (const erase of [false, true]) expect(refusalOf(await svc.bob.http.delete(`/api/sessions/${id}?erase=${erase}`))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await svc.bob.http.put(`/api/sessions/${id}/archive`, { archived: false }))).to.deep.equal([404, 'sessions_no_such_session']);
    expect(refusalOf(await svc.alice.http.put(`/api/sessions/${id}/archive`, { archived: true }))).to.deep.equal([404, 'sessions_no_such_session']);
    expect((await bin()).map((one) => one.id)).to.include(id);
  });

  it('comes back with all its versions, of which one is chosen', async () => {
    await boot();
    const { http } = svc.alice;
    const first = await svc.alice.say('one way');
    const second = (await http.expect(200, 'POST', `/api/sessions/${first}/branch`, { before_seq: 1 })).body.session_id;
    await http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/message`, { message: 'another way', session_id: second });
    await http.expect(200, 'DELETE', `/api/sessions/${second}?all_versions=true`);
    expect((await bin()).filter((one) => [first, second].includes(one.id)).map((one) => one.id)).to.deep.equal([second]);
    await http.expect(200, 'PUT', `/api/sessions/${second}/archive`, { archived: false });
    const rows = (await http.expect(200, 'GET', '/api/sessions?versions=all')).body.sessions.filter((one: { id: string }) => [first, second].includes(one.id));
    expect(Object.fromEntries(rows.map((one: { id: string; is_chosen: boolean }) => [one.id, one.is_chosen]))).to.deep.equal({ [first]: false, [second]: true });
  });

  it('is erased at once where that is asked for, before and after, and with the person', async () => {
    await boot('');
    const { http } = svc.alice;
    const [now, later, left] = [await svc.alice.say('erase me now'), await begun(), await begun()];
    expect((await http.expect(200, 'DELETE', `/api/sessions/${now}?erase=true`)).body.restorable_until).to.equal(null);
    expect(await binRows()).to.equal(0);
    for (const id of [later, left]) await http.expect(200, 'DELETE', `/api/sessions/${id}`);
    expect(await binRows()).to.be.greaterThan(0);
    await http.expect(200, 'DELETE', `/api/sessions/${later}?erase=true`);
    expect((await bin()).map((one) => one.id)).to.deep.equal([left]);
    await svc.kernel.daemon.parts.purges.purge({ ownerId: 'user:alice' });
    expect(await binRows()).to.equal(0);
    expect(await bin()).to.deep.equal([]);
  });
  const begun = async (): Promise<string> => {
    const { session_id } = (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, {})).body;
    await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/message`, { message: 'a word', session_id });
    return session_id;
  };

  it('is none where [trash] days is 0', async () => {
    await boot('[trash]\ndays = 0\n');
    const id = await svc.alice.say('gone at once');
    expect((await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${id}`)).body.restorable_until).to.equal(null);
    expect([await bin(), await binRows()]).to.deep.equal([[], 0]);
  });

  it('may be one of many that a reset deleted, each of which comes back', async () => {
    await boot('');
    const { http, agent } = svc.alice;
    const ids = [await svc.alice.say('first'), await begun(), await begun()];
    await http.expect(200, 'POST', `/api/agents/${agent.id}/session/reset`);
    expect((await http.expect(200, 'GET', '/api/sessions')).body.sessions.filter((one: { id: string }) => ids.includes(one.id))).to.deep.equal([]);
    await until(async () => (await bin()).length === 3);
    for (const id of ids) {
      await http.expect(200, 'PUT', `/api/sessions/${id}/archive`, { archived: false });
      expect((await http.expect(200, 'GET', `/api/sessions/${id}`)).body.messages).to.have.length(2);
    }
    expect(await binRows()).to.equal(0);
  });

  it('is erased when its time is over, and cannot come back from then on', async () => {
    await boot('');
    const id = await svc.alice.say('long enough');
    await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${id}`);
    const { storage, trash } = svc.kernel.daemon.parts;
    const db = storage.dbFor(KERNEL);
    await trash.settle();
    expect(await binRows()).to.be.greaterThan(0);
    await db.commit([db.update('trash', ['kind', 'id'], [{ kind: 'session', id, keep_until: '2020-01-01T00:00:00.000Z' }])]);
    expect(await bin()).to.deep.equal([]);
    expect((await svc.alice.http.put(`/api/sessions/${id}/archive`, { archived: false })).status).to.equal(404);
    await trash.settle();
    expect([await binRows(), await db.system('a test').count('trash')]).to.deep.equal([0, 0]);
  });

  it('is in no backup', async () => {
    await boot('');
    const id = await svc.alice.say('not in the archive');
    await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${id}`);
    const { path } = (await svc.owner.expect(200, 'POST', '/api/backup')).body;
    const { stdout } = await promisify(execFile)('tar', ['-xzOf', path, 'data/svc.db'], { encoding: 'buffer', maxBuffer: 64 * 1_048_576 });
    expect(stdout.includes('of-alice')).to.equal(true);
    expect(stdout.includes('not in the archive')).to.equal(false);
    await svc.alice.http.expect(200, 'PUT', `/api/sessions/${id}/archive`, { archived: false });
  });
});
