/** Approvals turned on over the API: by the owner, with a confirmation of what they saw, and in this direction only. */
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { bootApprovals, type World } from './approvals-kit.js';

const SETTING = 'approval.require_approval';

describe('approvals turned on over the API', function () {
  this.timeout(30_000);
  after(stopModelKernels);

  const set = ({ http }: Pick<World, 'http'>, body: object) => http.post('/api/config/set', { path: SETTING, ...body });
  const checksum = async ({ http }: Pick<World, 'http'>): Promise<string> => (await http.expect(200, 'GET', '/api/config/status')).body.checksum;

  it('take effect for the owner with the state that they saw, and for nobody else', async () => {
    const world = await bootApprovals('timeout_secs = 60', { role: 'admin' });
    const agent = await world.spawn('writer');
    const unconfirmed = await set(world, { value: true });
    expect([unconfirmed.status, unconfirmed.body.code]).to.deep.equal([409, 'config_confirmation_needed']);
    const stale = await set(world, { value: true, confirm: 'another-state' });
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'config_changed_meanwhile']);
    const admin = await set({ http: world.alice }, { value: true, confirm: await checksum(world) });
    expect([admin.status, admin.body.code]).to.deep.equal([403, 'config_owner_confirms']);
    expect((await world.http.expect(200, 'GET', '/api/approvals')).body.asking).to.equal(false);

    expect((await set(world, { value: true, confirm: await checksum(world) })).body.status).to.equal('applied');
    world.calls(['file_write', { path: 'a.txt', content: 'one\n' }]);
    expect((await world.say(agent)).waiting?.approval_id).to.be.a('string');

    for (const value of [false, null, ['file_write']]) {
      const off = await set(world, { value, confirm: await checksum(world) });
      expect([off.status, off.body.code], JSON.stringify(value)).to.deep.equal([403, 'config_by_hand']);
    }
    const other = await world.http.post('/api/config/set', { path: 'approval.auto_approve', value: true, confirm: await checksum(world) });
    expect([other.status, other.body.code]).to.deep.equal([403, 'config_by_hand']);
  });

  it('replace no list of tools, which may ask for more', async () => {
    const world = await bootApprovals('require_approval = ["web_fetch"]');
    const answer = await set(world, { value: true, confirm: await checksum(world) });
    expect([answer.status, answer.body.code]).to.deep.equal([403, 'config_by_hand']);
  });
});
