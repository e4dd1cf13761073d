/** What agents tell their owner: who reads it, how often, and what becomes of it. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actorFrom } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines, OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { noticeTables } from '../migrations/0001_init.js';
import { createNotices, type Notices, plain } from '../src/notices.js';

const OWNED = { id: 'notices', tables: ['notices'] };
const AGENT = '11111111-1111-4111-8111-111111111111';
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const alice = actorFrom({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: { code?: string }) => error.code ?? String(error),
  );

describeOnEngines('stored notices', (engine) => {
  let home: string;
  let storage: Storage;
  let notices: Notices;
  let said: Array<{ event: string; data: unknown }>;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const settings = { max_per_hour: 3, max_age_days: 90 };
  let calls = 0;
  const send = (more: object = {}, text: { reason?: string; summary?: string } = {}) =>
    notices.send({ actor: alice, agentId: AGENT, callId: `c${calls++}`, runId: 'r', sessionId: 's', ...more }, { reason: 'why', summary: 'what', ...text });
  const total = async () => (await notices.list(alice, { limit: 100, offset: 0 })).total;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-notices-'));
    said = [];
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: (events) => said.push(...events) });
    await storage.migrate(OWNED, [noticeTables]);
    const events = { event: ({ name }: { name: string }, data: unknown) => storage.event('notices', name, data) };
    notices = createNotices({ db: storage.dbFor(OWNED), events: events as never, clock, settings: () => settings });
  });
  afterEach(async () => {
    await storage.close();
    await rm(home, { recursive: true });
  });

  it('N1 are seen, marked and deleted by nobody but the owner of the agent, not even by the owner of the daemon', async () => {
    const id = await send();
    for (const role of ['user', 'admin', 'owner'] as const) {
      const other = actorFrom({ id: `user:${role}`, role, ownerId: `user:${role}` });
      expect((await notices.list(other, { limit: 10, offset: 0 })).rows, role).to.deep.equal([]);
      expect([await codeOf(notices.read(other, id)), await codeOf(notices.remove(other, id))], role).to.deep.equal(['notice_not_found', 'notice_not_found']);
    }
    await notices.read(alice, id);
    expect((await notices.list(alice, { limit: 10, offset: 0 })).unread).to.equal(0);
    await notices.remove(alice, id);
    expect(await total()).to.equal(0);
  });

  it('N2 are so many within an hour, of each agent', async () => {
    const sent = await Promise.allSettled(Array.from({ length: 8 }, () => send()));
    expect(sent.filter(({ status }) => status === 'fulfilled')).to.have.length(3);
    expect(await codeOf(send())).to.equal('notice_too_many');
    await send({ agentId: AGENT.replaceAll('1', '2').replace('-4222-8', '-4111-8') });
    await clock.advance(3_600_001);
    await send();
    expect(await total()).to.equal(5);
  });

  it('N3 are one where a restart repeats the call, and are told of once', async () => {
    const id = await send({ callId: 'same' });
    expect(await send({ callId: 'same' })).to.equal(id);
    expect(await send({ callId: 'same', runId: 'another' })).to.not.equal(id);
    expect(
      said.map(({ event, data }) => [
        event,
        Object.keys(data as object)
          .sort()
          .join(),
      ]),
    ).to.deep.equal([
      ['notice.changed', 'agentId,change,id,ownerId'],
      ['notice.changed', 'agentId,change,id,ownerId'],
    ]);
  });

  it('N4 are plain text, whatever the model wrote', async () => {
    expect(plain('\u001b[31mred\u0007\r\nnext\u202Egnp.exe\u200B\n\n\n\nend \0')).to.equal('[31mred\nnextgnp.exe\n\nend');
    expect(await codeOf(send({}, { summary: '\u200B\u202E \n' }))).to.equal('notice_empty');
  });

  it('go when they are old', async () => {
    await send();
    await clock.advance(91 * 86_400_000);
    await send();
    await notices.prune();
    expect(await total()).to.equal(1);
  });
});

describe('notify_owner', function () {
  this.timeout(60_000);
  const [owner, bob] = ['root-key-0', 'bob-key-3'];
  let svc: ModelKernel;
  let asBob: TestHttp;
  before(async () => {
    const user = `[[users]]\nname = "bob"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(bob).digest('hex')}"\n`;
    svc = await bootWithModel(undefined, { config: `api_key = "${owner}"\n${OPEN_RATE}${user}`, key: owner });
    asBob = svc.kernel.as(bob);
  });
  after(stopModelKernels);

  const spawn = async (http: TestHttp, name: string): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
  const send = async (http: TestHttp, agent: string, summary: string): Promise<void> => {
    svc.model.script([{ toolCalls: [{ id: `c${Math.random()}`, name: 'notify_owner', args: { reason: 'The work is done', summary } }] }, { text: 'done' }]);
    await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'go' });
  };

  it('reaches the person who owns the agent, and nobody else', async () => {
    const agent = await spawn(asBob, 'messenger');
    await send(asBob, agent, 'The report is in report.md.');
    const { body } = await asBob.expect(200, 'GET', '/api/notices');
    expect(body.notices.map((one: Record<string, unknown>) => [one.agent_name, one.reason, one.summary, one.read_at])).to.deep.equal([
      ['messenger', 'The work is done', 'The report is in report.md.', null],
    ]);
    expect((await svc.http.expect(200, 'GET', '/api/notices')).body.notices).to.deep.equal([]);
    const { id } = body.notices[0];
    await svc.http.expect(404, 'POST', `/api/notices/${id}/read`);
    await svc.http.expect(404, 'DELETE', `/api/notices/${id}`);
    await asBob.expect(200, 'POST', `/api/notices/${id}/read`);
    expect((await asBob.expect(200, 'GET', '/api/notices?unread=true')).body).to.include({ total: 0, unread: 0 });
  });

  it('is in the audit trail, with the agent', async () => {
    const agent = await spawn(svc.http, 'audited');
    await send(svc.http, agent, 'Something happened.');
    const { body } = await svc.http.expect(200, 'GET', `/api/agents/${agent}/logs`);
    expect(JSON.stringify(body.logs)).to.contain('notify_owner');
  });

  it('goes with its agent', async () => {
    const agent = await spawn(svc.http, 'short-lived');
    await send(svc.http, agent, 'Goodbye.');
    await svc.http.expect(200, 'DELETE', `/api/agents/${agent}`);
    expect(JSON.stringify((await svc.http.expect(200, 'GET', '/api/notices')).body)).to.not.contain('Goodbye.');
  });
});
