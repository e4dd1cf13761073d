/** By whom a bucket is shared, on a daemon behind a proxy. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

/** 36 tokens at once, and a new one every 100 s: nothing comes back while the test runs. */
const BEHIND_PROXY = 'trusted_proxies = ["127.0.0.1"]\n[api]\nrate_limit_per_second = 0.01\n[rate_limit]\nwindow_secs = 3600\n';

describe('the rate limit', () => {
  afterEach(stopTestKernels);

  const from = (http: { get(path: string, headers: Record<string, string>): Promise<{ status: number }> }, ip: string) => async (path: string) =>
    (await http.get(path, { 'x-forwarded-for': ip })).status;

  it('has one bucket for all addresses of a /64, which guessed paths use up too', async () => {
    const { http } = await bootTestKernel({ config: BEHIND_PROXY });
    const [one, sibling, thirdParty] = [from(http, '2001:db8::1'), from(http, '2001:db8::2'), from(http, '2001:db8:0:1::1')];
    const statuses: number[] = [];
    for (let n = 0; n < 40; n++) statuses.push(await one(`/api/guess/${n}`));
    expect([statuses[0], statuses.at(-1)]).to.deep.equal([404, 429]);
    expect(await sibling('/api/version')).to.equal(429);
    expect(await thirdParty('/api/version')).to.equal(200);
  });
});
