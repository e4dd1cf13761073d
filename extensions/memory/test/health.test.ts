/** What the health page and the doctor say of memory. */
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { memoryFindings, memoryProbe, type HealthDeps } from '../src/health.js';
import { createCanary, type CanaryDeps } from '../src/search/canary.js';
import { createVectorShare } from '../src/search/vector-share.js';

const rows = [
  { id: 'a', owner_id: 'alice', agent_id: '', content: 'The spare key is under the pot' },
  { id: 'b', owner_id: 'bob', agent_id: 'agent', content: 'Tulips grow behind the shed' },
  { id: 'c', owner_id: 'bob', agent_id: '', content: 'it is not so' },
];

const OTHERS = [
  'The meeting is on Monday',
  'Lisbon is warm in May',
  'Bread needs salt',
  'The invoice was paid',
  'Her brother plays the violin',
  'Tea is in the cupboard',
  'The server restarts at night',
  'Chess club meets on Fridays',
];

describe('health of memory', () => {
  after(() => stopTestKernels());

  /** A search that finds some of the entries alone. */
  const looked = async (findable: readonly string[]) => {
    const asked: string[] = [];
    const deps = {
      db: { system: () => ({ select: async () => rows, count: async (table: string) => (table === 'entries' ? 3 : 2) }) },
      actors: { only: (_area: string, ownerId: string) => ({ ownerId }) },
      memories: {
        search: async (actor: { ownerId: string }, query: { q: string }, counts: boolean) => {
          asked.push(`${actor.ownerId} ${query.q} ${counts}`);
          return { found: rows.filter((row) => findable.includes(row.id) && row.content === query.q).map((row) => ({ row })), edges: [] };
        },
      },
      log: { warn: () => undefined },
    } as unknown as CanaryDeps;
    const canary = createCanary(deps);
    await canary.look();
    const share = createVectorShare();
    share.note(true);
    share.note(false);
    const health = { db: deps.db, canary, share, embedding: { kind: () => 'built-in', name: () => 'auto', model: async () => 'static/256', state: { error: undefined } } } as unknown as HealthDeps;
    return { asked, canary, health };
  };

  it('C1 entries are looked for as their owner would, without counting as used; what has no words is left out', async () => {
    const { asked, canary, health } = await looked(['a', 'b']);
    expect(asked).to.deep.equal(['alice The spare key is under the pot false', 'bob Tulips grow behind the shed false']);
    expect(canary.standing).to.deep.equal({ asked: 2, found: 2 });
    expect(await memoryProbe(health)).to.deep.equal({
      name: 'memory',
      status: 'ok',
      detail: '2 of 3 entries have a vector (static/256); 2 of 2 entries were found by their own text; vectors found more than words in 1 of the last 2 searches',
    });
  });

  it('an entry that is not found is a warning, with what to do', async () => {
    const { health } = await looked(['a']);
    const [finding] = await memoryFindings(health);
    expect(finding).to.include({ check: 'memory.index', result: 'warn', message: 'Only 1 of the 2 newest entries of memory are found by their own text.' });
    expect(finding?.fix).to.contain('page Memory');
    expect((await memoryProbe(health)).status).to.equal('warn');
  });

  it('a daemon says how often vectors found more than words', async () => {
    const { http } = await bootTestKernel({ config: OPEN_RATE });
    // What is near is what stands out from others.
    for (const content of [...OTHERS, 'My car is an old blue Volvo']) await http.expect(200, 'POST', '/api/memory', { content });
    const detail = async (): Promise<string> => (await http.expect(200, 'GET', '/api/health/detail')).body.checks.find(({ name }: { name: string }) => name === 'memory').detail;
    expect(await detail()).to.match(/^(\d+) of \1 entries have a vector/);
    await http.expect(200, 'GET', '/api/memory/search?q=volvo');
    await http.expect(200, 'GET', '/api/memory/search?q=what+automobile+does+she+drive');
    expect(await detail()).to.contain('vectors found more than words in 1 of the last 2 searches');
  });
});
