/** Notices about channels that are silent. */
import { expect } from 'chai';
import { createDeafness } from '../src/deafness.js';
import type { Standing } from '../src/supervisor.js';

const BEGUN = Date.parse('2026-01-01T00:00:00.000Z');

describe('channels: silence', () => {
  it('C4 one notice for each outage, with its cause, and none for a channel that never answered', async () => {
    const sent: Array<{ key: string; summary: string }> = [];
    let now = BEGUN;
    let standing: Standing = { state: 'failing', problem: 'Telegram answered 409', fix: 'Stop the other program.', answeredAt: null, startedAt: null };
    const account = { name: 'telegram', type: 'telegram', ownerId: 'owner', fields: {}, isInConfig: false, startedFrom: 'x' };
    let fails = true;
    const notices = {
      send: async (_actor: unknown, notice: { key: string; summary: string }) => {
        if (fails) throw new Error('there are too many');
        sent.push(notice);
        return 'id';
      },
    };
    const look = createDeafness({
      accounts: { all: async () => [account], adapterOf: () => ({}) as never },
      supervisor: { standing: async () => standing },
      bindings: { agentFor: async () => ({ id: 'a', ownerId: 'owner' }) as never },
      notices: { value: notices } as never,
      actors: { of: () => ({}) as never },
      clock: { now: () => now },
      log: { warn: () => undefined } as never,
    });
    now += 600_000;
    await look();
    standing = { ...standing, answeredAt: new Date(BEGUN).toISOString() };
    await look();
    fails = false;
    for (let times = 0; times < 3; times += 1) await look();
    expect(
      sent.map(({ key }) => key),
      'a notice that failed is tried again, and one is enough',
    ).to.deep.equal(['channel-silent:telegram:2026-01-01T00:00:00.000Z']);
    expect(sent[0]?.summary).to.contain('409').and.contain('Stop the other program.').and.contain('svc channels test telegram');
    standing = { ...standing, state: 'connected', answeredAt: new Date(now).toISOString() };
    await look();
    now += 30_000;
    standing = { ...standing, state: 'deaf' };
    await look();
    expect(sent.length, 'half a minute is no outage').to.equal(1);
    now += 60_000;
    await look();
    expect(sent.length).to.equal(2);
  });
});
