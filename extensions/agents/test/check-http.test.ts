/** A manifest that is validated before anybody sends it: the same words, and nothing changed. */
import type { TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { bootWithPeople, madeBy } from './people-kit.js';

describe('a manifest that is checked', () => {
  let people: Awaited<ReturnType<typeof bootWithPeople>>;
  before(async () => {
    people = await bootWithPeople();
  });
  after(stopModelKernels);

  const checked = async (http: TestHttp, manifest_toml: string, agent_id?: string) => (await http.expect(200, 'POST', '/api/agents/check', { manifest_toml, ...(agent_id ? { agent_id } : {}) })).body;

  it('is told every slip with its line, and what it warns of', async () => {
    const wrong = await checked(people.owner, 'name = "x"\n\ndescripton = "y"\n[model]\ntemperature = 9\n');
    expect([wrong.ok, wrong.problems.map(({ line, key }: { line: number; key: string }) => [line, key])]).to.deep.equal([
      false,
      [
        [3, 'descripton'],
        [5, 'model.temperature'],
      ],
    ]);
    expect((await checked(people.owner, 'name = [')).problems[0]).to.include({ line: 1 });
    const good = await checked(people.owner, 'name = "x"\npriority = "High"\n');
    expect([good.ok, good.problems, good.warnings.join()]).to.deep.equal([true, [], 'Line 2: priority is stored and has no effect yet: it needs an order among runs.']);
  });

  it('makes no agent, and changes none', async () => {
    const path = await madeBy(people.owner, 'stays');
    const before = (await people.owner.expect(200, 'GET', '/api/agents')).body;
    await checked(people.owner, 'name = "new one"\n');
    expect((await checked(people.owner, 'description = "another"\n', path.split('/').at(-1))).ok).to.equal(true);
    const after = (await people.owner.expect(200, 'GET', '/api/agents')).body;
    expect([after.total, after.items.map(({ revision }: { revision: number }) => revision)]).to.deep.equal([before.total, before.items.map(({ revision }: { revision: number }) => revision)]);
  });

  it('may hold no more than its writer may grant, of a new agent and of one that is there', async () => {
    const shell = 'name = "x"\n[capabilities]\nshell = ["git *"]\n';
    const path = await madeBy(people.alice, 'of-alice');
    for (const id of [undefined, path.split('/').at(-1)]) {
      const { ok, problems } = await checked(people.alice, shell, id);
      expect([ok, problems[0].line, problems[0].message]).to.deep.equal([
        false,
        null,
        (await people.alice.send(id ? 'PATCH' : 'POST', id ? path : '/api/agents', { manifest_toml: shell })).body.error,
      ]);
    }
    expect((await checked(people.owner, shell)).ok).to.equal(true);
  });

  it('cannot replace that of an agent which its writer may not see, and is not for those who only look', async () => {
    const path = await madeBy(people.owner, 'of-the-owner');
    expect((await people.bob.post('/api/agents/check', { manifest_toml: 'name = "x"', agent_id: path.split('/').at(-1) })).body.code).to.equal('agent_not_found');
    expect((await people.vera.post('/api/agents/check', { manifest_toml: 'name = "x"' })).status).to.equal(403);
    expect((await people.owner.post('/api/agents/check', {})).status).to.equal(400);
    expect((await people.owner.post('/api/agents/check', { manifest_toml: `#${'x'.repeat(1_048_576)}` })).body.code).to.equal('manifest_too_large');
  });
});
