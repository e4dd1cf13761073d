/** What sessions tell other areas, give up when they are told to, and cost those who ask over HTTP. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';

/** 36 tokens for an address, and a new one every 100 s: nothing comes back while the test runs. */
const SCARCE = 'trusted_proxies = ["127.0.0.1"]\n[api]\nrate_limit_per_second = 0.01\n[rate_limit]\nwindow_secs = 3600\n';

describe('the sessions of a daemon', () => {
  afterEach(stopModelKernels);
  afterEach(stopTestKernels);

  it('are counted, and go with their agent, while those of others stay', async () => {
    const { http, agent } = await bootWithModel({ text: 'ok' });
    const other = (await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    const count = async () => (await http.expect(200, 'GET', '/api/status')).body.session_count;
    expect(await count()).to.equal(0);
    for (const id of [agent.id, other]) await http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'hi' });
    expect(await count()).to.equal(2);
    await http.expect(200, 'DELETE', `/api/agents/${other}`);
    expect(await count()).to.equal(1);
    expect((await http.expect(200, 'GET', `/api/agents/${agent.id}/session`)).body.message_count).to.equal(2);
  });

  it('go with their owner, while those of others stay', async () => {
    const { kernel, http, agent } = await bootWithModel({ text: 'ok' });
    await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hi' });
    const purge = (asked: { ownerId: string }) => kernel.daemon.parts.purges.purge(asked);
    const count = async () => (await http.expect(200, 'GET', '/api/status')).body.session_count;
    await purge({ ownerId: 'user:nobody' });
    expect(await count()).to.equal(1);
    await purge({ ownerId: 'owner' });
    expect(await count()).to.equal(0);
  });

  it('cannot be shortened on request by the built-in mock provider, which says so', async () => {
    const { http } = await bootTestKernel();
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    for (let n = 0; n < 11; n++) await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: `number ${n}` });
    const { status, body } = await http.post(`/api/agents/${agent.id}/session/compact`);
    expect([status, body.error]).to.deep.equal([500, 'The session was not compacted: No model is available for the summary. The built-in mock provider cannot summarise.']);
    expect((await http.expect(200, 'GET', `/api/agents/${agent.id}/session`)).body.compacted_summary).to.equal(null);
  });

  it('cost an address 2 to read, 5 to begin and 30 to shorten', async () => {
    const { http } = await bootTestKernel({ config: SCARCE });
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    /** As many of these as an address has tokens for: one that has taken `before` first. */
    const within = async (ip: string, method: string, path: string, before: readonly string[] = []): Promise<number> => {
      const headers = { 'x-forwarded-for': ip };
      for (const other of before) await http.expect(200, 'POST', `/api/agents/${agent.id}/${other}`, undefined, headers);
      let count = 0;
      while (count < 100 && (await http.send(method, `/api/agents/${agent.id}/${path}`, undefined, headers)).status === 200) count += 1;
      return count;
    };
    expect(await within('192.0.2.1', 'GET', 'session')).to.equal(18);
    expect(await within('192.0.2.2', 'POST', 'sessions')).to.equal(7);
    expect(await within('192.0.2.3', 'GET', 'session', ['session/compact'])).to.equal(3);
  });
});
