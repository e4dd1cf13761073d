import { type AuditFact, type Logger, actorFrom } from '@svc/api';
import { systemIds } from '../../src/clock/ids.js';
import { expect } from 'chai';
import { createAudit, withoutSecrets } from '../../src/audit/audit-notes.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const BOB = actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });

describe('what the kernel tells the audit trail', () => {
  let facts: AuditFact[];
  let [nowMs, isFull] = [0, false];
  const audit = () =>
    createAudit({
      isStored: () => true,
      commit: async (fact) => {
        if (isFull) throw new Error('full');
        facts.push(fact);
      },
      count: async () => ({ waiting: 0, lost: 0 }),
      config: { get: () => ({ required: ['logins'] }) },
      claims: () => ({ audit: {} }),
      clock: { iso: () => '2026-11-24T00:00:00.000Z', mono: () => nowMs },
      ids: systemIds(),
      log: silent,
    });
  beforeEach(() => {
    [facts, nowMs, isFull] = [[], 0, false];
  });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('has a row of the same refusals as the first and their number', async () => {
    const notes = audit();
    const refused = { type: 'permission_denied', actor: BOB, outcome: 'refused' as const };
    for (let n = 0; n < 5; n += 1) notes.refusal('bob', refused);
    nowMs = 60_000;
    notes.refusal('alice', refused);
    await settled();
    expect(facts.map(({ details }) => details.times)).to.deep.equal([undefined, 4, undefined]);
  });

  it('counts refusals of more callers than it can tell apart as one', async () => {
    const notes = audit();
    for (let n = 0; n < 1_500; n += 1) notes.refusal(String(n), { type: 'permission_denied', actor: BOB });
    await settled();
    expect(facts.length).to.equal(1_001);
  });

  it('counts what could not be stored, where nobody depends on it', async () => {
    const notes = audit();
    isFull = true;
    await notes.note({ type: 'thing_made', actor: BOB });
    expect(notes.failures()).to.equal(1);
    expect(await notes.commit({ type: 'thing_made', actor: BOB }).catch((error: Error) => error.message)).to.equal('full');
    expect([notes.isRequired('logins'), notes.isRequired('grants'), notes.isRequired(undefined)]).to.deep.equal([true, false, false]);
  });

  it('takes secrets out of what areas tell', () => {
    const fact = { id: '', at: '', type: 'x', outcome: 'ok', agentId: '', ownerId: '', details: { a: 'the-secret b', n: 1 }, personal: { c: 'the-secret' } } as const;
    expect(withoutSecrets(fact, (text) => text.replace('the-secret', '•••'))).to.deep.include({ details: { a: '••• b', n: 1 }, personal: { c: '•••' } });
  });
});
