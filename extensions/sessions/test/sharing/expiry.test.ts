/** When a link ends: by its own expiry, and by the longest time that the setting allows. */
import { type Actor, actorFrom, type Write } from '@svc/api';
import { expect } from 'chai';
import type { Entry } from '../../src/contract.js';
import type { ListedSession } from '../../src/listing.js';
import { createSharing, type Days } from '../../src/sharing/sharing.js';
import type { ShareRow } from '../../src/tables.js';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
const ALICE: Actor = actorFrom({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });
const SESSION: ListedSession = {
  id: 's',
  agentId: 'a',
  ownerId: ALICE.ownerId,
  label: null,
  title: null,
  createdAt: '',
  branchedFrom: null,
  conversationId: null,
  isChosen: true,
  isArchived: false,
  tags: [],
  messages: 1,
  contextChars: 2,
  inputTokens: 0,
  outputTokens: 0,
  costMicros: 0,
  firstWords: 'hi',
  firstAt: null,
  lastAt: null,
  lastRole: 'user',
};
const WRITE = {} as Write; // nobody looks into it here
const HI: Entry = { kind: 'user', runId: null, parts: [{ type: 'text', text: 'hi' }], seq: 1, at: '' };

const sharingAt = (maxDays = 0) => {
  const state = { days: 0, maxDays };
  const rows = new Map<string, ShareRow>();
  const put = (row: ShareRow): Write => {
    rows.set(row.token_hash, row);
    return WRITE;
  };
  const now = (): number => START_MS + state.days * DAY_MS;
  let made = 0;
  const sharing = createSharing({
    store: { find: async () => ({ ...SESSION, thinking: null, model: null, isAside: false, seq: 1, mark: '' }), entries: async () => [HI] },
    shares: {
      list: async () => [...rows.values()],
      get: async () => Promise.reject(new Error('not asked here')),
      byHash: async (hash) => rows.get(hash),
      countOf: async () => rows.size,
      insert: put,
      update: put,
      remove: () => WRITE,
      removeOver: () => WRITE,
    },
    clock: { now, iso: () => new Date(now()).toISOString() },
    ids: { uuid: () => `share ${++made}`, bytes: (count) => new Uint8Array(count).fill(made) },
    settings: () => ({ share_links: true, share_max_days: state.maxDays }),
  });
  const share = async (days?: Days) => sharing.create(ALICE, SESSION, days);
  const lives = async (token: string): Promise<boolean> => (await sharing.read(token)) !== undefined;
  return { state, sharing, share, lives };
};

describe('the expiry of a link', () => {
  for (const [asked, days] of [
    [undefined, 30],
    [1, 1],
    [400, 400],
  ] as const)
    it(`is ${days} days where it was made for ${asked ?? 'the usual time'}`, async () => {
      const { state, share, lives } = sharingAt();
      const { token } = await share(asked);
      state.days = days - 0.01;
      expect(await lives(token)).to.equal(true);
      state.days = days;
      expect(await lives(token)).to.equal(false);
    });

  it('is none where somebody wants none and nothing limits it', async () => {
    const { state, share, lives } = sharingAt();
    const { token } = await share(null);
    state.days = 10_000;
    expect(await lives(token)).to.equal(true);
  });

  it('is no later than the setting allows, which shortens links that exist', async () => {
    const { state, sharing, share, lives } = sharingAt(7);
    for (const days of [8, null]) {
      const error = await share(days).then(
        () => undefined,
        (cause: { code?: string }) => cause.code,
      );
      expect(error).to.equal('sessions_share_too_long');
    }
    expect(sharing.usualDays()).to.equal(7);
    state.maxDays = 0;
    const { token } = await share(null);
    state.days = 8;
    expect(await lives(token)).to.equal(true);
    state.maxDays = 7;
    expect(await lives(token)).to.equal(false);
  });

  it('stays when the link is updated, unless another one is asked for', async () => {
    const { state, sharing, share } = sharingAt();
    const { row } = await share(10);
    state.days = 5;
    const kept = (await sharing.update(ALICE, row, undefined)).row;
    expect(kept).to.include({ expires_at: row.expires_at, as_of: new Date(START_MS + 5 * DAY_MS).toISOString() });
    expect((await sharing.update(ALICE, row, 10)).row.expires_at).to.equal(new Date(START_MS + 15 * DAY_MS).toISOString());
  });
});
