/** Two daemons on one PostgreSQL with one sign-in: a refresh token works once, and both go on with what it gave. */
import { bootTwo, type Replica, type TwoDaemons } from '@svc/test/replicas/two-daemons';
import { until } from '@svc/test/clients/model-kernel';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type Company, startCompany, walked } from './sign-in-kit.js';

describe('two daemons that are signed in at one MCP server', function () {
  this.timeout(90_000);
  let company: Company;
  let two: TwoDaemons;
  const whoami = ({ kernel }: Replica) => kernel.http.post('/api/tools/mcp_company_whoami/invoke', {});
  const isConnected = async ({ kernel }: Replica): Promise<boolean> => (await kernel.http.get('/api/mcp/servers/company')).body.status === 'connected';
  before(async () => {
    company = await startCompany();
    two = await bootTwo({
      url: await (await sharedCluster()).fresh(),
      config: '[tool_invoke]\nenabled = true\nallowlist = ["*"]\n',
      env: { SVC_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') },
    });
    const { http } = two.a.kernel;
    await http.expect(201, 'POST', '/api/mcp/servers', { name: 'company', transport: { type: 'http', url: company.url } });
    const { body } = await http.expect(200, 'POST', '/api/mcp/servers/company/auth/start', {});
    expect((await fetch(await walked(body.auth_url, 'ada'))).status).to.equal(200);
    await until(() => isConnected(two.a));
    await two.b.kernel.http.expect(200, 'POST', '/api/mcp/reload');
    await until(() => isConnected(two.b));
  });
  after(async () => {
    await two.stop();
    await stopTestKernels();
    await company.stop();
  });

  it('O2 refresh at the same time once, and keep one valid token', async () => {
    for (let round = 0; round < 2; round++) {
      for (const token of company.tokens) company.refused.add(token);
      // Long enough for the other to come while the first one waits.
      company.refreshDelayMs = 400;
      const before = company.counts.refreshes;
      const answers = await Promise.all([two.a, two.b, two.a, two.b].map(whoami));
      expect(
        answers.map(({ body }) => body.content ?? body.error),
        `round ${round}`,
      ).to.deep.equal(Array(4).fill('you are ada'));
      expect(company.counts.refreshes - before).to.equal(1);
    }
    // The authority ends a sign-in whose refresh token comes twice: it is still there.
    for (const one of [two.b, two.a]) {
      expect((await whoami(one)).body.content).to.equal('you are ada');
      expect((await one.kernel.http.expect(200, 'GET', '/api/mcp/servers/company/auth/status')).body.auth.state).to.equal('authorized');
    }
  });

  it('O2 leave a sign-in to the other that was begun anew there', async () => {
    for (const token of company.tokens) company.refused.add(token);
    await company.lastRefresh?.destroy();
    expect((await whoami(two.a)).body.error).to.match(/svc mcp login company/);
    const { body } = await two.b.kernel.http.expect(200, 'POST', '/api/mcp/servers/company/auth/start', {});
    expect((await fetch(await walked(body.auth_url, 'grace'))).status).to.equal(200);
    await until(() => isConnected(two.b));
    await two.a.kernel.http.expect(200, 'POST', '/api/mcp/reload');
    await until(() => isConnected(two.a));
    expect((await whoami(two.a)).body.content).to.equal('you are grace');
  });
});
