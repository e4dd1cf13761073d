import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { kernelTables } from '@svc/platform/storage/kernel-tables';
import { expect } from 'chai';
import { DoctorCheck, SecurityReport } from '@svc/api';

const KEYS = { owner: 'audit-root-key', alice: 'audit-alice-key', bob: 'audit-bob-key', root: 'audit-admin-key' };
const person = (name: 'alice' | 'bob' | 'root', role: string): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

interface Entry {
  readonly id: number;
  readonly event_type: string;
  readonly agent_id: string;
  readonly outcome: string;
  readonly actor: string | null;
  readonly details: string;
  readonly personal: Readonly<Record<string, unknown>> | null;
}

describe('the audit trail', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let [owner, alice, bob, admin]: TestHttp[] = [];
  before(async () => {
    const config = `api_key = "${KEYS.owner}"\n${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["system_time", "file_read"]\n${person('alice', 'user')}${person('bob', 'user')}${person('root', 'admin')}`;
    world = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: {} }] }, { text: 'done' }], { config, key: KEYS.owner });
    [owner, alice, bob, admin] = [world.kernel.as(KEYS.owner), world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob), world.kernel.as(KEYS.root)];
  });
  after(stopModelKernels);

  const of = (http: TestHttp | undefined): TestHttp => http ?? world.http;
  const entries = async (query = '', http = owner): Promise<Entry[]> => (await of(http).expect(200, 'GET', `/api/audit/recent?limit=500${query}`)).body.entries;
  /** Waits for what the relay hands on. */
  const found = async (fits: (entry: Entry) => boolean, query = ''): Promise<Entry> => {
    let one: Entry | undefined;
    await until(async () => {
      one = (await entries(query)).find(fits);
      return one !== undefined;
    });
    if (!one) throw new Error('it was found');
    return one;
  };
  const spawn = async (name: string, http = alice): Promise<string> => (await of(http).expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['*'] } } })).body.agent_id;

  it('has an act of a required kind before and after it, with its caller and its agent', async () => {
    const id = await spawn('first');
    const done = await found((entry) => entry.agent_id === id && entry.outcome === 'ok');
    const [before] = (await entries()).filter((entry) => JSON.parse(entry.details).request_id === JSON.parse(done.details).request_id && entry.outcome === 'requested');
    expect([before && before.id < done.id, done.event_type, done.actor, JSON.parse(done.details).operation]).to.deep.equal([true, 'agent_spawned', 'user:alice', 'spawnAgent']);
    expect(done.personal).to.include({ ip: '127.0.0.1' });
  });

  it('has the outcome of a required act that failed', async () => {
    await of(alice).expect(400, 'POST', '/api/agents', { manifest: { name: 'x', capabilities: { shell: ['ls'], no_such_key: true } } });
    const failed = await found((entry) => entry.event_type === 'agent_spawned' && entry.outcome === 'failed');
    expect(JSON.parse(failed.details)).to.include({ status: 400 });
  });

  it('has refused logins and refused permissions, a row of the same as one', async () => {
    await world.kernel.as('').post('/auth/session', { key: 'a-wrong-key' });
    expect((await found((entry) => entry.event_type === 'login_created' && entry.outcome === 'refused')).actor).to.equal('public');
    for (let n = 0; n < 3; n += 1) await of(bob).expect(403, 'GET', '/api/audit/verify');
    const denied = await found((entry) => entry.event_type === 'permission_denied');
    expect([denied.actor, JSON.parse(denied.details).operation]).to.deep.equal(['user:bob', 'verifyAudit']);
    await world.kernel.as('wrong-bearer-key').expect(401, 'GET', '/api/agents');
    await found((entry) => entry.event_type === 'authentication_refused');
    expect((await entries()).filter((entry) => entry.event_type === 'permission_denied').length).to.equal(1);
  });

  it('has a tool call without its arguments but for their digest, and their beginning as a personal detail', async () => {
    await of(owner).expect(200, 'POST', '/api/tools/system_time/invoke', {});
    const call = await found((entry) => entry.event_type === 'tool_invoked' && entry.outcome === 'ok');
    expect(JSON.parse(call.details)).to.include({ tool: 'system_time', status: 'completed' });
    expect(JSON.parse(call.details).digest).to.match(/^[\da-f]{64}$/);
    expect(call.personal).to.include({ arguments: '{}' });
    const id = await spawn('reader', owner);
    await of(owner).post(`/api/tools/file_read/invoke?agent_id=${id}`, { path: '../../etc/passwd' });
    expect((await found((entry) => entry.event_type === 'tool_invoked' && entry.agent_id === id)).outcome).to.be.oneOf(['failed', 'refused']);
  });

  it('has the tool call of a run in the commit of its outcome, and nothing of a message without one', async () => {
    const id = await spawn('runner');
    const say = () => of(alice).expect(200, 'POST', `/api/agents/${id}/message`, { message: 'look' });
    await say();
    const call = await found((entry) => entry.event_type === 'tool_invoked' && entry.agent_id === id);
    expect([call.actor, JSON.parse(call.details).tool, JSON.parse(call.details).run_id?.length]).to.deep.equal(['user:alice', 'file_list', 36]);
    const before = (await entries()).length;
    await say();
    await spawn('after');
    await found((entry) => entry.id > (call.id ?? 0) && entry.event_type === 'agent_spawned' && entry.outcome === 'ok');
    expect((await entries()).length - before).to.equal(2);
  });

  it('shows people what is theirs, and admins everything; what is asked for beyond 500 is 500', async () => {
    await spawn('of-bob', bob);
    // Its outcome is the last that comes of it.
    await found((entry) => entry.actor === 'user:bob' && entry.event_type === 'agent_spawned' && entry.outcome === 'ok');
    expect(new Set((await entries('', bob)).map(({ actor }) => actor))).to.deep.equal(new Set(['user:bob']));
    expect((await entries('', admin)).length).to.equal((await entries()).length);
    const { body } = await of(owner).expect(200, 'GET', '/api/audit/recent?limit=9999');
    expect([body.limit, body.items.length, (await of(owner).expect(200, 'GET', '/api/audit/recent?n=2')).body.entries.length]).to.deep.equal([500, body.entries.length, 2]);
    expect((await entries('&event_type=agent_spawned&q=of-nobody')).length).to.equal(0);
    for (const path of ['/api/audit/verify', '/api/audit/export', '/api/audit/log/checkpoint']) await of(bob).expect(403, 'GET', path);
  });

  it('is verified in the worker threads, and says so on the security page', async () => {
    const { body } = await of(owner).expect(200, 'GET', '/api/audit/verify');
    expect(body).to.deep.include({ status: 'valid', broken: [], problems: [] });
    expect([body.chain_length > 5, body.first_entry <= body.last_entry]).to.deep.equal([true, true]);
    const report = (await world.kernel.daemon.parts.hooks.handle(SecurityReport).call(undefined)).map(({ value }) => value).find((row) => row?.name === 'merkle_audit_trail');
    expect([report?.state, report?.detail]).to.deep.equal(['active', report?.detail]);
    expect(report?.detail).to.match(/(entry|entries), the newest \d+ hashed again/);
  });

  it('holds no secret that the daemon knows', async () => {
    const secret = 'sk-canary-of-the-audit-0001';
    await of(owner).expect(200, 'POST', '/api/providers/groq/key', { key: secret });
    await of(owner).post('/api/tools/system_time/invoke', { note: secret });
    await found((entry) => entry.event_type === 'tool_invoked' && String(entry.personal?.arguments).includes('note'));
    expect((await of(owner).get('/api/audit/export')).text).to.not.contain(secret);
  });

  it('loses the personal details of somebody who is erased, and nothing else', async () => {
    await spawn('erased-soon', bob);
    await found(({ actor, outcome }) => actor === 'user:bob' && outcome === 'ok');
    const length = (await of(owner).expect(200, 'GET', '/api/audit/verify')).body.chain_length;
    await world.kernel.daemon.parts.purges.purge({ ownerId: 'user:bob' });
    const { body } = await of(owner).expect(200, 'GET', '/api/audit/verify');
    expect([body.status, body.chain_length >= length]).to.deep.equal(['valid', true]);
    expect((await entries()).filter(({ actor }) => actor === 'user:bob')).to.deep.equal([]);
    expect(JSON.parse((await found(({ event_type: type }) => type === 'audit_erased')).details).entries).to.match(/^\d+(-\d+)?( |$)/);
    const facts = await world.kernel.daemon.parts.storage.dbFor(kernelTables).system('what is stored of facts').read<{ data: string }>("SELECT data FROM kernel__events WHERE name = 'audit.recorded'");
    expect([facts.length > 1, facts.filter(({ data }) => data.includes('user:bob'))]).to.deep.equal([true, []]);
  });

  it('while it is off has what happened wait: without who was erased meanwhile, and with the number of what was deleted', async () => {
    const db = world.kernel.daemon.parts.storage.dbFor(kernelTables);
    const events = db.system('what waits');
    const waiting = async (): Promise<number[]> =>
      (await events.read<{ seq: number }>("SELECT seq FROM kernel__events WHERE seq > (SELECT seq FROM kernel__offsets WHERE listener = 'audit') ORDER BY seq")).map(({ seq }) => seq);
    const earlier = await spawn('earlier', alice);
    await found(({ agent_id: id }) => id === earlier);
    await of(owner).expect(200, 'POST', '/api/extensions/audit/disable');
    const erased = await spawn('erased-later', bob);
    const stays = await spawn('stays', alice);
    await until(async () => (await waiting()).length >= 4);
    await world.kernel.daemon.parts.purges.purge({ ownerId: 'user:bob' });
    const findings = (await world.kernel.daemon.parts.hooks.handle(DoctorCheck).call(undefined)).flatMap(({ value }) => value ?? []);
    expect(findings.find(({ check }) => check === 'AuditWaitingCheck')?.message).to.match(/^The extension audit is off, and \d+ audit entries wait for it\./);
    const [first = 0] = await waiting();
    // As pruning does: the oldest go.
    await db.commit([db.remove('events', { seq: { lte: first } })]);
    await of(owner).expect(200, 'POST', '/api/extensions/audit/enable');

    expect((await found(({ agent_id: id }) => id === stays)).actor).to.equal('user:alice');
    const { personal, event_type: type } = await found(({ agent_id: id }) => id === erased);
    expect([type, personal]).to.deep.equal(['agent_spawned', null]);
    expect(JSON.parse((await found(({ event_type }) => event_type === 'audit_facts_dropped')).details)).to.include({ dropped: 1 });
    expect((await of(owner).expect(200, 'GET', '/api/audit/verify')).body.status).to.equal('valid');
  });
});
