import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'test-key-for-system';

describe('what the daemon says of itself', () => {
  afterEach(stopTestKernels);

  it('is little without a key, and the causes with one', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"`, key: KEY });

    const open = await kernel.as('wrong').get('/api/health');
    const detail = await kernel.http.expect(200, 'GET', '/api/health/detail');

    expect(open.status).to.equal(200);
    expect(Object.keys(open.body).sort()).to.deep.equal(['checks', 'status', 'uptime_seconds', 'version']);
    expect((await kernel.as('wrong').get('/api/health/detail')).status).to.equal(401);
    expect(detail.body.database).to.equal('connected');
    expect(detail.body.doctor.map((finding: { check: string }) => finding.check)).to.include.members(['ConfigTomlSchemaCheck', 'ApiListenAddrCheck', 'VaultKeyCheck']);
  });

  it('names the model that answers for default, and why', async () => {
    const { http } = await bootTestKernel();

    const { body } = await http.expect(200, 'GET', '/api/status');

    expect(body).to.include({ status: 'running', default_provider: 'builtin', default_model: 'rehearsal', default_model_stand_in: true });
    expect(body.default_model_why).to.contain('svc providers set-key');
  });

  it('is scraped as Prometheus text with the areas’ own figures in it', async () => {
    const { http } = await bootTestKernel();
    const { text, headers } = await http.expect(200, 'GET', '/api/metrics');

    expect(headers.get('content-type')).to.contain('text/plain');
    expect(text).to.match(/^svc_info\{version="\d/m);
    expect(text).to.contain('svc_runs_active').and.to.contain('svc_storage_commits').and.to.contain('svc_rate_limited_total');
  });

  it('is told to stop over the API', async () => {
    let asked: string | undefined;
    const { http } = await bootTestKernel({ onShutdown: (reason) => (asked = reason) });

    await http.expect(200, 'POST', '/api/shutdown');
    for (let tries = 0; tries < 200 && asked === undefined; tries++) await new Promise((resolve) => setTimeout(resolve, 5));

    expect(asked).to.contain('API');
  });
});
