import { reply, Type, actorFrom, type AuditNote, defineSocket } from '@svc/api';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { HttpAudit } from '../../src/http/audited.js';
import { type Bench, owner, route, startBench } from './http-fixture.js';

describe('what the audit trail hears of requests', () => {
  let bench: Bench;
  let notes: AuditNote[];
  let isFull: boolean;
  let required: string[];
  let handled: number;
  beforeEach(async () => {
    [notes, isFull, required, handled] = [[], false, ['grants'], 0];
    bench = await startBench();
    bench.authenticate = () => owner;
    const audit: HttpAudit = {
      isOn: () => true,
      isRequired: (category) => category !== undefined && required.includes(category),
      commit: async (note) => {
        if (isFull) throw new Error('the disk is full');
        notes.push(note);
      },
      note: async (note) => void notes.push(note),
      refusal: (_key, note) => void notes.push(note),
    };
    bench.http.keepAudit(audit);
    const handler = async (req: object) => {
      handled += 1;
      if ((req as { query: { fail?: string } }).query.fail !== undefined) throw new Error('it failed');
      return reply(200, { agent_id: '01a20c2b-6b0c-706d-9537-af14a976f68a' });
    };
    bench.area('a', {
      routes: [
        route({ method: 'POST', path: '/api/spawn/{name}/{path}', audit: 'agent_spawned', auditCategory: 'grants', responses: { 200: Type.Unknown() }, handler }),
        route({ method: 'POST', path: '/api/plain', audit: 'thing_made', responses: { 200: Type.Unknown() }, handler }),
        route({ path: '/api/read', responses: { 200: Type.Unknown() }, handler }),
      ],
    });
  });
  afterEach(() => bench.stop());
  const reported = (): unknown[] => notes.map(({ type, outcome }) => [type, outcome]);

  it('A1 has a success, with its parameters and nothing of its body', async () => {
    await bench.send('POST', '/api/plain', { password: 'canary' });
    await bench.send('POST', '/api/plain?fail=1', {});
    await bench.get('/api/read');
    expect(reported()).to.deep.equal([['thing_made', 'ok']]);
    expect([notes[0]?.agentId, notes[0]?.actor.id, JSON.stringify(notes).includes('canary')]).to.deep.equal(['01a20c2b-6b0c-706d-9537-af14a976f68a', 'owner', false]);
  });

  it('A3 has a refused upgrade of a socket', async () => {
    bench.area('b', {
      sockets: [defineSocket({ id: 'watch', path: '/api/watch', summary: 'Watch', auth: 'bearer', permission: 'thing.watch', cost: 1, upgrade: async () => undefined, message: () => undefined })],
    });
    bench.authenticate = () => undefined;
    const socket = new WebSocket(`ws://127.0.0.1:${bench.port}/api/watch`, { headers: { authorization: 'Bearer wrong' } });
    await new Promise((resolve) => socket.on('error', resolve));
    expect(reported()).to.deep.equal([['authentication_refused', 'refused']]);
    expect(notes[0]?.details).to.include({ operation: 'watch', permission: 'thing.watch', status: 401 });
  });

  it('A2 has what is required before it happens, and how it ended', async () => {
    await bench.send('POST', '/api/spawn/a-name/a%20path', {});
    await bench.send('POST', '/api/spawn/a-name/b?fail=1', {});
    expect(reported()).to.deep.equal([
      ['agent_spawned', 'requested'],
      ['agent_spawned', 'ok'],
      ['agent_spawned', 'requested'],
      ['agent_spawned', 'failed'],
    ]);
    expect([notes[0]?.details?.name, notes[0]?.details?.path, notes[0]?.personal?.path]).to.deep.equal(['a-name', undefined, 'a path']);
  });

  it('A2 does not do what is required when that cannot be entered, and does all else', async () => {
    isFull = true;
    const answer = await bench.send('POST', '/api/spawn/a/b', {});
    expect([answer.status, answer.json.code, handled]).to.deep.equal([503, 'audit_unavailable', 0]);
    expect(answer.json.hint).to.contain('[audit] required');
    expect((await bench.send('POST', '/api/plain', {})).status).to.equal(200);
    required = [];
    expect((await bench.send('POST', '/api/spawn/a/b', {})).status).to.equal(200);
  });

  it('A3 has who was refused; not who brought no key at all', async () => {
    bench.authenticate = () => undefined;
    await bench.get('/api/read');
    expect(reported()).to.deep.equal([]);
    await bench.get('/api/read', { authorization: 'Bearer wrong' });
    bench.authenticate = () => actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });
    bench.authorize = () => ({ deny: 'no' });
    await bench.get('/api/read');
    expect(notes.map(({ type, actor }) => [type, actor.id])).to.deep.equal([
      ['authentication_refused', 'public'],
      ['permission_denied', 'user:bob'],
    ]);
  });
});
