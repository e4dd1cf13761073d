import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { bootApprovals, type World } from './approvals-kit.js';

const MISSING = '00000000-0000-4000-8000-000000000000';
const WRITE = { path: 'notes.txt', content: 'hello\n' };

describeDaemonOnEngines('approval requests', function () {
  this.timeout(60_000);
  let world: World;
  let agent: string;
  before(async () => {
    world = await bootApprovals('require_approval = ["file_write"]\ntimeout_secs = 600');
    agent = await world.spawn('writer');
  });
  after(stopModelKernels);

  const waiting = async (path = 'notes.txt', content = 'hello\n', agentId = agent) => {
    world.calls(['file_write', { path, content }]);
    const { waiting, run_id } = await world.say(agentId);
    return { id: waiting?.approval_id ?? '', run: run_id };
  };
  const code = async (status: number, method: string, path: string, body: unknown, http = world.alice): Promise<string> => (await http.expect(status, method, path, body)).body.code;

  it('A2 let the run wait, show what would be written, and let it go on once approved', async () => {
    const { id, run } = await waiting();
    const { body } = await world.alice.expect(200, 'GET', `/api/approvals/${id}`);
    expect(body).to.deep.include({
      agent_name: 'writer',
      tool_name: 'file_write',
      action: 'file_write',
      risk_level: 'high',
      payload: WRITE,
      status: 'pending',
      run_id: run,
      timeout_secs: 600,
      decided_at: null,
    });
    expect(body.preview).to.deep.equal({ kind: 'diff', files: [{ path: 'notes.txt', change: 'create', before: null, diff: '@@ -0,0 +1,1 @@\n+hello\n', added: 1, removed: 0, truncated: false }] });
    await world.alice.expect(404, 'GET', `/api/agents/${agent}/files/notes.txt`);
    const { body: decided } = await world.alice.expect(200, 'POST', `/api/approvals/${id}/approve`, undefined);
    expect(decided).to.include({ id, status: 'approved', decided_at: world.clock.iso() });
    expect(await world.ended(agent, run)).to.match(/^done: .*Wrote 6 bytes/);
    expect((await world.alice.expect(200, 'GET', `/api/agents/${agent}/files/notes.txt`)).body.content).to.equal('hello\n');
  });

  it('D1 are decided once, by their owner or an admin', async () => {
    const { id, run } = await waiting('once.txt');
    for (const path of [`/api/approvals/${id}/approve`, `/api/approvals/${id}/reject`]) {
      expect(await code(404, 'POST', path, {}, world.bob)).to.equal('approvals_not_found');
      expect(await code(403, 'POST', path, {}, world.vi)).to.equal('auth_role_refused');
    }
    const both = await Promise.all([
      world.alice.post(`/api/approvals/${id}/approve`, {}),
      world.http.post(`/api/approvals/${id}/reject`, { feedback: 'not now' }),
      world.alice.post(`/api/approvals/${id}/approve`, {}),
    ]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    expect(both.find(({ status }) => status === 409)?.body.code).to.equal('approvals_resolved');
    await world.ended(agent, run);
    expect(await code(404, 'POST', `/api/approvals/${MISSING}/approve`, {})).to.equal('approvals_not_found');
    expect((await world.alice.post('/api/approvals/nonsense/approve', {})).status).to.equal(400);
  });

  it('tell the agent of a rejection, with the reason, and nothing is written', async () => {
    const { id, run } = await waiting('no.txt');
    await world.alice.expect(200, 'POST', `/api/approvals/${id}/reject`, { feedback: 'Use drafts.' });
    expect(await world.ended(agent, run)).to.match(/A person rejected this call of file_write\. They said: Use drafts\./);
    await world.alice.expect(404, 'GET', `/api/agents/${agent}/files/no.txt`);
  });

  it('end when their time is up, and cannot be approved afterwards', async () => {
    const { id, run } = await waiting('late.txt');
    await world.clock.advance(601_000);
    expect(await code(409, 'POST', `/api/approvals/${id}/approve`, {})).to.equal('approvals_resolved');
    expect(await world.ended(agent, run)).to.contain('Nobody approved this call of file_write within 600 s');
    expect((await world.alice.expect(200, 'GET', `/api/approvals/${id}`)).body).to.include({ status: 'expired', decided_by: 'timeout' });
  });

  it('are skipped when a new message takes the place of their run, or their agent goes', async () => {
    const { id } = await waiting('old.txt');
    world.model.script([{ text: 'hello' }]);
    await world.say(agent);
    await until(async () => (await world.alice.expect(200, 'GET', `/api/approvals/${id}`)).body.status === 'skipped');
    const other = await world.spawn('brief');
    const kept = await waiting('gone.txt', 'x', other);
    await world.alice.expect(200, 'DELETE', `/api/agents/${other}`);
    await until(async () => (await world.alice.expect(200, 'GET', `/api/approvals/${kept.id}`)).body.status === 'skipped');
    expect(await code(409, 'POST', `/api/approvals/${kept.id}/approve`, {})).to.equal('approvals_resolved');
  });

  it('D3 are decided together, or none of them', async () => {
    world.calls(['file_write', { path: 'a.txt', content: 'a' }], ['file_write', { path: 'b.txt', content: 'b' }]);
    const { run_id: run } = await world.say(agent);
    const ids = (await world.pending()).map(({ id }) => id);
    expect(ids).to.have.length(2);
    expect(await code(404, 'POST', '/api/approvals/batch', { ids: [...ids, MISSING], decision: 'approve' })).to.equal('approvals_some_not_found');
    expect(await code(404, 'POST', '/api/approvals/batch', { ids, decision: 'approve' }, world.bob)).to.equal('approvals_some_not_found');
    for (const body of [
      { ids: [], decision: 'approve' },
      { ids: Array(101).fill(MISSING), decision: 'approve' },
      { ids, decision: 'maybe' },
      { ids: [ids[0], ids[0]], decision: 'approve' },
    ])
      expect((await world.alice.post('/api/approvals/batch', body)).status).to.equal(400);
    expect(await world.pending()).to.have.length(2);
    const { body } = await world.alice.expect(200, 'POST', '/api/approvals/batch', { ids, decision: 'approve' });
    expect(body.results.map(({ id, status, decision }: Record<string, string>) => [id, status, decision])).to.deep.equal(ids.map((id) => [id, 'ok', 'approved']));
    expect(await world.ended(agent, run)).to.match(/^done/);
    expect(await code(409, 'POST', '/api/approvals/batch', { ids, decision: 'reject' })).to.equal('approvals_some_resolved');
  });

  it('of one person are seen by that person and admins, and are counted and audited for them alone', async () => {
    const { id, run } = await waiting('mine.txt');
    for (const http of [world.alice, world.http]) expect((await http.expect(200, 'GET', '/api/approvals/count')).body.pending).to.equal(1);
    expect((await world.bob.expect(200, 'GET', '/api/approvals')).body).to.include({ total: 0 });
    expect((await world.bob.expect(200, 'GET', '/api/approvals/count')).body).to.deep.equal({ pending: 0, total: 0 });
    await world.bob.expect(404, 'GET', `/api/approvals/${id}`);
    await world.http.expect(200, 'POST', `/api/approvals/${id}/approve`, {});
    await world.ended(agent, run);
    const [row] = (await world.alice.expect(200, 'GET', '/api/approvals/audit?tool_name=file_write&limit=1')).body.items;
    expect(row).to.include({ request_id: id, decision: 'approved', decided_by: 'owner', second_factor_used: false, action_summary: 'file_write: mine.txt (+1 -0)' });
    expect((await world.bob.expect(200, 'GET', '/api/approvals/audit')).body.items).to.deep.equal([]);
  });

  it('are made by hand too, five pending of an agent at most', async () => {
    const made = await world.spawn('paid');
    const ask = (body: object, http = world.alice) => http.post('/api/approvals', { agent_id: made, action: 'pay', description: 'Invoice 4711', payload: { eur: 120 }, ...body });
    expect((await ask({ agent_id: MISSING })).status).to.equal(404);
    expect((await ask({}, world.bob)).status).to.equal(404);
    expect((await ask({ action: ' ' })).status).to.equal(400);
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push(await ask({}));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 429]);
    const { body } = await world.alice.expect(200, 'GET', `/api/approvals/${answers[0]?.body.id}`);
    expect(body).to.deep.include({ action: 'pay', description: 'Invoice 4711', payload: { eur: 120 }, status: 'pending', run_id: null, can_remember: false });
    await world.alice.expect(200, 'POST', `/api/approvals/${answers[0]?.body.id}/approve`, {});
  });
});

describeDaemonOnEngines('a run that waits for approval', function () {
  this.timeout(60_000);
  after(stopModelKernels);

  it('goes on in a later life of the daemon, and writes once', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-approvals-'));
    const first = await bootApprovals('require_approval = true', { home });
    const agent = await first.spawn('lasting');
    first.calls(['file_write', WRITE]);
    const { waiting, run_id: run } = await first.say(agent);
    await first.kernel.stop();

    const second = await bootApprovals('require_approval = true', { home, clock: first.clock });
    second.model.script([{ text: 'done' }]);
    await second.alice.expect(200, 'POST', `/api/approvals/${waiting?.approval_id}/approve`, {});

    expect(await second.ended(agent, run)).to.match(/^done: .*Wrote 6 bytes/);
    await second.kernel.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('V6 is left to a person where a restart cut its review off', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-approvals-'));
    const reviewed = 'require_approval = true\n[approval.reviewer]\ntimeout_secs = 30';
    const first = await bootApprovals(reviewed, { home });
    const agent = await first.spawn('reviewed');
    let asked = 0;
    first.model.script(() => (asked++ === 0 ? { toolCalls: [{ id: 'c0', name: 'file_write', args: WRITE }] } : { hang: true }));
    const { waiting } = await first.say(agent);
    await until(() => asked === 2);
    await first.kernel.stop();

    const second = await bootApprovals(reviewed, { home, clock: first.clock });
    const request = async () => (await second.alice.expect(200, 'GET', `/api/approvals/${waiting?.approval_id}`)).body;
    expect((await request()).review.decision).to.equal('pending');
    // Each look of the sweep takes as long as the database does; one that is still going on is not begun again.
    await until(async () => {
      await second.clock.advance(10_000);
      return (await request()).review.decision === 'ask';
    });
    expect(await request())
      .to.include({ status: 'pending' })
      .and.have.nested.property('review.reason', 'it did not answer in time');
    await second.kernel.stop();
    await rm(home, { recursive: true, force: true });
  });
});
