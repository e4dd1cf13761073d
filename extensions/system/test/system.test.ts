import { createHash } from 'node:crypto';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
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

  it('holds what memory, events, budget and models say, as far as the caller may see', async () => {
    const bob = createHash('sha256').update('bobs-key-of-system').digest('hex');
    const kernel = await bootTestKernel({
      config: `api_key = "${KEY}"\n${OPEN_RATE}[budget]\ndaily_limit = 4.0\n[proactive_memory]\nextraction_model = "builtin/rehearsal"\n[[users]]\nname = "bob"\nrole = "user"\napi_key_hash = "sha256:${bob}"\n`,
      key: KEY,
    });
    const { agent_id: id } = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'asked' } })).body;
    await kernel.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'hi' });

    const { body } = await kernel.http.expect(200, 'GET', '/api/health/detail');

    expect(body.memory).to.deep.equal({ embedding_available: true, embedding_provider: 'builtin', embedding_model: null, proactive_memory_enabled: true, extraction_model: 'builtin/rehearsal' });
    expect(body.event_bus).to.deep.equal({ dropped_events: 0 });
    expect(body.budget).to.include({ daily_limit_usd: 4, daily_spend_usd: 0, daily_spend_percent: 0, monthly_limit_usd: 0, monthly_spend_percent: null, alert_threshold: 0.8 });
    expect(body.llm.total_calls).to.be.at.least(1);
    expect(body.llm.max_latency_ms).to.be.at.least(body.llm.avg_latency_ms);
    expect(body.llm.model_count).to.be.above(0);
    expect((await kernel.as('bobs-key-of-system').expect(200, 'GET', '/api/health/detail')).body.budget).to.equal(null);
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
