/**
 * Searches among the messages of one person, with a fourth as many of somebody else beside them. Input {engine, messages, rounds};
 * prints {messages, indexMs, floor, searches, found}: milliseconds by kind of search, and how many were found.
 */
import { actorOf } from '@svc/api/internal';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { catalogue as catalogueTables } from '../../../../extensions/sessions/migrations/0003_catalogue.js';
import { branches } from '../../../../extensions/sessions/migrations/0004_branches.js';
import { init } from '../../../../extensions/sessions/migrations/0001_init.js';
import { thinking } from '../../../../extensions/sessions/migrations/0002_thinking.js';
import { createCatalogue } from '../../../../extensions/sessions/src/catalogue/catalogue.js';
import { createCatalogueStore } from '../../../../extensions/sessions/src/catalogue/catalogue-store.js';
import { searchSaid } from '../../../../extensions/sessions/src/search/search.js';
import { createSearchStore } from '../../../../extensions/sessions/src/search/search-store.js';
import { openBenchStorage } from './open-storage.mjs';

const { engine, messages, rounds } = JSON.parse(process.argv[2]);
const SESSION_MESSAGES = 80;
const WORDS = 20_000;
const MESSAGE_WORDS = 40;
const FILL_SESSIONS = 50;

/** The same numbers in each run (mulberry32). */
const random = (() => {
  let state = 42;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
})();
/** Some words are common and most are rare, as in any language (Zipf). */
const word = () => `word${Math.floor(WORDS ** random())}`;
const uuid = (kind, n) => `${n.toString(16).padStart(8, '0')}-${kind.toString(16).padStart(4, '0')}-4000-8000-${(n * 2_654_435_761).toString(16).slice(-12).padStart(12, '0')}`;

const cluster = engine === 'PostgreSQL' ? await sharedCluster() : undefined;
const { storage, close } = await openBenchStorage(cluster ? { url: await cluster.fresh() } : {});
const owner = { id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said'] };
await storage.migrate(owner, [init, thinking, catalogueTables, branches]);
const db = storage.dbFor(owner);
const entries = (sessionId, after, limit) => db.system('bench').select({ from: 'entries', where: { session_id: sessionId, seq: { gt: after } }, order: [{ column: 'seq' }], limit });
const catalogue = createCatalogue({
  self: 'bench',
  notify: () => undefined,
  mono: () => performance.now(),
  store: createCatalogueStore(db),
  commit: (writes) => db.commit(writes),
  entries,
  later: () => undefined,
  log: console,
});
const store = createSearchStore(db, actorOf);

let said = 0;
const agents = [uuid(1, 1), uuid(1, 2), uuid(1, 3)];
/** Every fifth session is somebody else's, of the same time and the same words. */
const fill = async (total) => {
  for (let session = 0; said < total; ) {
    const rows = { sessions: [], entries: [] };
    for (let n = 0; n < FILL_SESSIONS && said < total; n += 1, session += 1) {
      const at = new Date(1_700_000_000_000 + session * 60_000).toISOString();
      const owner_id = session % 5 === 4 ? 'user:bob' : 'user:alice';
      const id = uuid(2, session);
      rows.sessions.push({ id, agent_id: agents[session % 3], owner_id, label: session % 100 === 0 ? 'hundredth' : null, created_at: at });
      for (let seq = 1; seq <= SESSION_MESSAGES; seq += 1, said += 1) {
        const text = [...Array.from({ length: MESSAGE_WORDS }, word), ...(said % 100_000 < 2 ? ['needle'] : []), ...(seq % 40 === 0 ? ['明天在北京见面'] : [])].join(' ');
        rows.entries.push({ session_id: id, seq, kind: seq % 2 === 1 ? 'user' : 'assistant', run_id: null, body: JSON.stringify({ parts: [{ type: 'text', text }] }), at, pending: 1 });
      }
    }
    await db.commit([db.insert('sessions', rows.sessions), db.insert('entries', rows.entries)]);
  }
};

const SEARCHES = {
  'a word in nearly every message': () => ({ q: 'word1' }),
  'three common words': () => ({ q: 'word1 word2 word3' }),
  'a rare word': () => ({ q: `word${WORDS - 1 - Math.floor(random() * 1_000)}` }),
  'a common and a rare word': () => ({ q: `word1 word${WORDS - 1 - Math.floor(random() * 1_000)}` }),
  'a word that stands in ten messages': () => ({ q: 'needle' }),
  'a word that nobody said': () => ({ q: 'nowhere' }),
  'a part of a Chinese sentence': () => ({ q: '北京' }),
  'a common word of one agent': () => ({ q: 'word2', agentId: agents[1] }),
  'a common word in sessions of a label': () => ({ q: 'word2', label: 'hundredth' }),
  'a common word, long ago': () => ({ q: 'word2', to: new Date(1_700_000_000_000 + 600_000).toISOString() }),
  'the tenth page': () => ({ q: 'word5', offset: 450 }),
};

const timed = async (work) => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

await fill(messages * 1.25);
const indexMs = await timed(() => catalogue.catchUp(Number.MAX_SAFE_INTEGER));
const [number, newest] = [await store.number('user:alice'), (await store.spans('user:alice', {}))[0]];
const [place] = await store.places([[`${number}w${newest}wword1`]], {}, 1);
// Both databases tend to what was written; a search long after sees it so.
await new Promise((resolve) => setTimeout(resolve, 1_000));
const floor = [];
const searches = Object.fromEntries(Object.keys(SEARCHES).map((kind) => [kind, []]));
const found = {};
for (let round = -5; round < rounds; round += 1) {
  const looked = await timed(() => store.said([place]));
  if (round >= 0) floor.push(looked);
  for (const [kind, query] of Object.entries(SEARCHES)) {
    let hits;
    const ms = await timed(async () => {
      hits = await searchSaid(store, catalogue, { ownerId: 'user:alice', limit: 50, offset: 0, ...query() });
    });
    if (round >= 0) searches[kind].push(ms);
    found[kind] = hits.total;
  }
}
await close();
console.log(JSON.stringify({ messages: said, indexMs, floor, searches, found }));
// The server of the tests ends with this process.
process.exit(0);
