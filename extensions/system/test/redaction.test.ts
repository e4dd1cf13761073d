/** What the probe says of answers to a caller without a key. */
import type { HealthProbe, HookHandle } from '@svc/api';
import { expect } from 'chai';
import { lookAtRedaction } from '../src/redaction.js';

const PLAIN = { status: 'ok', version: '0.1.0', uptime_seconds: 1, checks: [{ name: 'database', status: 'ok' }] };
const probe = { call: async () => [{ owner: 'kernel', value: { name: 'database', status: 'ok' as const, detail: '/home/somebody/svc.db' } }] } as unknown as HookHandle<typeof HealthProbe>; // only `call` is used

describe('the probe of redaction', () => {
  const look = (health: unknown, statuses: Readonly<Record<string, number>> = {}) =>
    lookAtRedaction(async (path) => ({ status: statuses[path] ?? (path === '/api/health' ? 200 : 401), headers: {}, body: JSON.stringify(health) }), probe);

  it('sees that the causes stay with those who have a key', async () => {
    expect(await look(PLAIN)).to.deep.equal({
      state: 'active',
      detail: 'A caller without a key got the status, version, uptime and 1 checks from GET /api/health, without the causes that 1 of them have. GET /api/health/detail was refused (401).',
    });
  });

  it('names what is told beyond that', async () => {
    expect((await look({ ...PLAIN, hostname: 'box' })).detail).to.equal('GET /api/health tells a caller without a key more than it should: hostname.');
    expect((await look({ ...PLAIN, checks: [{ name: 'database', status: 'ok', detail: '/home' }] })).detail).to.contain(': checks.detail.');
    expect((await look(PLAIN, { '/api/health/detail': 200 })).state).to.equal('failed');
    expect((await look(PLAIN, { '/api/health/detail': 429 })).state).to.equal('degraded');
    expect((await look(PLAIN, { '/api/health': 429 })).detail).to.equal('GET /api/health answered 429 to a caller without a key.');
  });

  it('says that everybody may see the details while there is no API key', async () => {
    const { state, detail } = await look(PLAIN, { '/api/version': 200, '/api/health/detail': 200 });
    expect([state, detail.endsWith('But no API key is set, so anyone who can reach the port can read GET /api/health/detail. svc key new makes a key.')]).to.deep.equal(['degraded', true]);
  });
});
