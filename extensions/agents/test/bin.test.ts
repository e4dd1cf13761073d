/** Agents that were deleted: out of everybody's sight with what hangs on them, and back as they were. */
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { openAgents, owner } from './agents-kit.js';
import { bootWithPeople, madeBy } from './people-kit.js';

const KERNEL = { id: 'kernel', tables: ['trash', 'trash_rows'], isPlatform: true } as const;

/** `[status, code]` of an answer. */
const refusalOf = ({ status, body }: { status: number; body: { code?: string } }): [number, string | undefined] => [status, body.code];

describeDaemonOnEngines('a deleted agent', (_engine) => {
  let svc: Awaited<ReturnType<typeof bootWithPeople>>;
  before(async () => {
    svc = await bootWithPeople({ text: 'ok' });
  });
  after(stopModelKernels);

  const made = async (name: string, lines = ''): Promise<string> => (await madeBy(svc.alice, name, lines)).split('/').at(-1) ?? '';
  const binned = async (http = svc.alice): Promise<Array<{ id: string; name: string; restorable_until: string }>> => (await http.expect(200, 'GET', '/api/agents?deleted=only')).body.agents;
  const binRows = async (): Promise<number> => svc.kernel.daemon.parts.storage.dbFor(KERNEL).system('a test').count('trash_rows');
  const resume = (id: string, http = svc.alice) => http.put(`/api/agents/${id}/resume`);

  it('is in no list, nor is what hangs on it, and comes back as it was', async () => {
    const http = svc.alice;
    const id = await made('heron', 'description = "wades"\n[capabilities]\ntools = ["file_read"]\n');
    const said = (await http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'the heron stands at dawn' })).body.session_id;
    await http.expect(200, 'PUT', `/api/agents/${id}/files/notes.md`, { content: 'by the river' });
    const upload = (await http.expect(200, 'POST', `/api/agents/${id}/upload`, 'bytes of an upload', { 'content-type': 'text/plain', 'x-filename': 'a.txt' })).body.file_id;
    await http.expect(200, 'GET', '/api/sessions/search?q=heron');
    const before = (await http.expect(200, 'GET', `/api/agents/${id}`)).body;
    const runs = (await http.expect(200, 'GET', `/api/sessions/${said}/runs`)).body.runs;

    const { body } = await http.expect(200, 'DELETE', `/api/agents/${id}`);

    expect(Date.parse(body.restorable_until) - Date.now()).to.be.within(29.9 * 86_400_000, 30 * 86_400_000);
    for (const url of [`/api/agents/${id}`, `/api/agents/${id}/files`, `/api/sessions/${said}`, `/api/runs/${runs[0].run_id}`, `/api/uploads/${upload}`])
      expect((await http.get(url)).status, url).to.equal(404);
    expect((await http.expect(200, 'GET', '/api/agents')).body.agents.map((one: { name: string }) => one.name)).not.to.include('heron');
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=heron')).body.items).to.deep.equal([]);
    expect((await binned()).filter((one) => one.id === id)).to.have.length(1);
    // An erasure of something else takes nothing that only the bin refers to.
    const other = await made('other');
    await http.expect(200, 'DELETE', `/api/agents/${other}?erase=true`);

    expect((await resume(id)).body).to.deep.equal({ status: 'running', agent_id: id });

    expect((await http.expect(200, 'GET', `/api/agents/${id}`)).body).to.deep.equal(before);
    expect((await http.expect(200, 'GET', `/api/sessions/${said}/runs`)).body.runs).to.deep.equal(runs);
    expect((await http.expect(200, 'GET', `/api/sessions/${said}`)).body.messages).to.have.length(2);
    expect((await http.expect(200, 'GET', '/api/sessions/search?q=heron')).body.items.map((hit: { session_id: string }) => hit.session_id)).to.deep.equal([said]);
    expect((await http.expect(200, 'GET', `/api/agents/${id}/files/notes.md`)).body.content).to.equal('by the river');
    expect((await http.expect(200, 'GET', `/api/uploads/${upload}`)).text).to.equal('bytes of an upload');
    expect((await http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'go on', session_id: said })).body.session_id).to.equal(said);
    expect((await binned()).filter((one) => one.id === id)).to.deep.equal([]);
  });

  it('that was suspended comes back suspended, and is resumed by asking once more', async () => {
    const id = await made('stork');
    await svc.alice.expect(200, 'PUT', `/api/agents/${id}/suspend`);
    await svc.alice.expect(200, 'DELETE', `/api/agents/${id}`);
    expect((await resume(id)).body.status).to.equal('suspended');
    expect((await resume(id)).body.status).to.equal('running');
  });

  it('has its name free, and says so where another has it when it should come back', async () => {
    const first = await made('crane');
    await svc.alice.expect(200, 'DELETE', `/api/agents/${first}`);
    const second = await made('crane');
    expect(refusalOf(await resume(first))).to.deep.equal([409, 'agents_name_taken']);
    expect((await svc.alice.get(`/api/agents/${first}`)).status).to.equal(404);
    await svc.alice.expect(200, 'DELETE', `/api/agents/${second}`);
    expect((await resume(first)).status).to.equal(200);
    expect(refusalOf(await resume(second))).to.deep.equal([409, 'agents_name_taken']);
  });

  it('is seen, brought back and erased by nobody else', async () => {
    const id = await made('egret');
    await svc.alice.expect(200, 'DELETE', `/api/agents/${id}`);
    expect(await binned(svc.bob)).to.deep.equal([]);
    expect(refusalOf(await resume(id, svc.bob))).to.deep.equal([404, 'agent_not_found']);
    expect(refusalOf(await svc.bob.delete(`/api/agents/${id}?erase=true`))).to.deep.equal([404, 'agent_not_found']);
    expect((await binned()).map((one) => one.id)).to.include(id);
  });

  it('has no run that goes on, and no job that fires', async () => {
    const http = svc.alice;
    const id = await made('ibis');
    svc.model.script({ hang: true });
    const asked = svc.model.requests.length;
    const sent = http.post(`/api/agents/${id}/message`, { message: 'wait' });
    await until(() => svc.model.requests.length > asked);
    const [{ run_id }] = (await http.expect(200, 'GET', `/api/runs?agent_id=${id}`)).body.runs;
    const { job_id } = (await http.expect(200, 'POST', '/api/cron/jobs', { agent_id: id, name: 'tick', schedule: { kind: 'every', every_secs: 60 }, action: { kind: 'agent_turn', message: 'tick' } }))
      .body;
    await http.expect(200, 'DELETE', `/api/agents/${id}`);
    await sent;
    expect((await http.get(`/api/runs/${run_id}`)).status).to.equal(404);
    expect((await http.expect(200, 'GET', '/api/cron/jobs')).body.jobs).to.deep.equal([]);
    await resume(id);
    expect((await http.expect(200, 'GET', `/api/runs/${run_id}`)).body.status).to.equal('cancelled');
    expect((await http.expect(200, 'GET', '/api/cron/jobs')).body.jobs.map((job: { id: string }) => job.id)).to.deep.equal([job_id]);
    svc.model.script({ text: 'ok' });
  });

  it('is erased at once where that is asked for, before and after, and with the person', async () => {
    const http = svc.alice;
    const [now, later] = [await made('rail'), await made('coot')];
    expect((await http.expect(200, 'DELETE', `/api/agents/${now}?erase=true`)).body.restorable_until).to.equal(null);
    await http.expect(200, 'DELETE', `/api/agents/${later}`);
    await http.expect(200, 'DELETE', `/api/agents/${later}?erase=true`);
    expect((await binned()).map((one) => one.name)).to.not.include.members(['rail', 'coot']);
    const left = await made('moorhen');
    await http.expect(200, 'DELETE', `/api/agents/${left}`);
    expect(await svc.kernel.daemon.parts.purges.purge({ ownerId: 'user:alice' })).to.include({ complete: true });
    expect([await binned(), await binRows()]).to.deep.equal([[], 0]);
  });
});

describe('an agent on its way into the bin or out of it', () => {
  it('goes on after a restart', async () => {
    const kit = await openAgents();
    const { store } = kit.deps;
    const agent = await kit.agents.spawn(owner, { name: 'bittern' });
    const way = { deletedAt: '2026-01-01T00:00:00.000Z', keepUntil: '2999-01-01T00:00:00.000Z', state: 'Running' } as const;
    await store.commit([store.end(agent.id, way)]);
    await kit.removing.finish();
    expect(kit.taps.binned).to.deep.equal([{ kind: 'agent', id: agent.id, ownerId: owner.ownerId, agentId: null, about: store.toRow(agent), deletedAt: way.deletedAt, keepUntil: way.keepUntil }]);
    expect([kit.taps.purged, await store.terminated()]).to.deep.equal([[], []]);

    await store.commit([store.insert({ ...agent, state: 'Terminated' }, { ...way, isComingBack: true })]);
    await kit.removing.finish();
    expect(await kit.agents.get(owner, agent.id)).to.deep.equal(agent);
    await kit.close();
  });
});
