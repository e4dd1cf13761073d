/** The fixture area `reminders`: eight operations, a page and commands from two declarations, and what that costs to write. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureArea, OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';

const OPERATIONS = 8;
const MAX_LINES = 50;
const KEYS = { owner: 'reminders-root-key', alice: 'reminders-alice-key', bob: 'reminders-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const area = await fixtureArea('reminders');

describe('the area reminders', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  before(async () => {
    world = await bootWithModel(undefined, {
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[extensions]\nenable = ["reminders"]\n${person('alice')}${person('bob')}`,
      key: KEYS.owner,
      extra: [area.installed],
    });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
  });
  after(stopModelKernels);

  const due = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
  const add = async (fields: object = {}) => (await alice.expect(201, 'POST', '/api/reminders', { title: 'Water the plants', due_at: due(60), ...fields })).body;
  const spawn = async (name: string): Promise<string> => (await alice.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;

  it(`has ${OPERATIONS} operations in at most ${MAX_LINES} lines of source each, and touches nothing outside its folder`, () => {
    const src = join(area.sources, 'src');
    const lines = readdirSync(src).map((file) => readFileSync(join(src, file), 'utf8').split('\n').length - 1);
    expect(area.installed.contributions.routes).to.have.length(OPERATIONS);
    expect(lines.reduce((sum, count) => sum + count, 0) / OPERATIONS).to.be.at.most(MAX_LINES);
  });

  it('shows what is computed, in a list as in one', async () => {
    const agent = await spawn('gardener');
    const { id } = await add({ agent_id: agent });
    const shown = { agent_name: 'gardener', is_due: false, repeat_every: null };
    expect((await alice.expect(200, 'GET', `/api/reminders/${id}`)).body).to.include(shown);
    expect((await alice.expect(200, 'GET', `/api/reminders?agent_id=${agent}`)).body.reminders[0]).to.include({ id, ...shown });
    expect((await alice.expect(200, 'PATCH', `/api/reminders/${id}`, { title: 'Water them' })).body).to.include({ title: 'Water them', ...shown });
  });

  it('takes a secret, says that it is set, and shows it nowhere', async () => {
    const secret = 'sleutel-onder-de-pot';
    const made = await add({ webhook_key: secret });
    const read = (await alice.expect(200, 'GET', `/api/reminders/${made.id}`)).body;
    expect([made.has_webhook_key, read.has_webhook_key]).to.deep.equal([true, true]);
    const { parts } = world.kernel.daemon;
    const rows = await parts.storage
      .dbFor({ id: 'reminders', tables: ['reminders'] })
      .system('a test')
      .select({ from: 'reminders' });
    expect(JSON.stringify([made, read, rows]))
      .to.not.contain(secret)
      .and.not.contain('"webhook_key"');
    expect((await alice.expect(200, 'PATCH', `/api/reminders/${made.id}`, { webhook_key: null })).body.has_webhook_key).to.equal(false);
  });

  it('does what its actions say, for whoever may see the item', async () => {
    const { id } = await add({ repeat_every: 30 });
    await bob.expect(404, 'POST', `/api/reminders/${id}/snooze`, { minutes: 5 });
    const later = (await alice.expect(200, 'POST', `/api/reminders/${id}/snooze`, { minutes: 120 })).body;
    expect(Date.parse(later.due_at)).to.be.greaterThan(Date.now() + 100 * 60_000);
    const again = (await alice.expect(200, 'POST', `/api/reminders/${id}/done`)).body;
    expect(Date.parse(again.next)).to.be.lessThan(Date.now() + 31 * 60_000);
    const { id: once } = await add();
    expect((await alice.expect(200, 'POST', `/api/reminders/${once}/done`)).body).to.deep.equal({ id: once, next: null });
    await alice.expect(404, 'GET', `/api/reminders/${once}`);
  });

  it('lists below an agent what is its own, for who may see the agent, and keeps it when the agent goes', async () => {
    const agent = await spawn('cleaner');
    const { id } = await add({ agent_id: agent });
    await add();
    const { body } = await alice.expect(200, 'GET', `/api/agents/${agent}/reminders?limit=5`);
    expect([body.reminders.map((one: { id: string }) => one.id), body.total]).to.deep.equal([[id], 1]);
    await bob.expect(404, 'GET', `/api/agents/${agent}/reminders`);
    await alice.expect(200, 'DELETE', `/api/agents/${agent}?erase=true`);
    for (let left: unknown = agent; left !== null; ) left = (await alice.expect(200, 'GET', `/api/reminders/${id}`)).body.agent_id;
  });

  it('refuses what its rules refuse, and changes nothing', async () => {
    const { id, due_at: before } = await add();
    expect((await alice.expect(400, 'PATCH', `/api/reminders/${id}`, { due_at: due(-5) })).body.code).to.equal('reminders_past');
    expect((await alice.expect(200, 'GET', `/api/reminders/${id}`)).body.due_at).to.equal(before);
    expect((await alice.expect(200, 'DELETE', `/api/reminders/${id}`)).body).to.deep.equal({ status: 'deleted', reminder_id: id });
  });
});
