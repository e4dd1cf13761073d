/** Secrets of several daemons on one PostgreSQL: all use what is stored at one of them, and no clear text is in the database. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { type PostgresCluster, sharedCluster } from '@svc/testing/postgres/cluster';
import { until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { seal } from '../src/vault-file.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = 'sk-canary-0123456789abcdef';

describe('a vault of several daemons', function () {
  this.timeout(120_000);
  let cluster: PostgresCluster;
  let url: string;
  let a: TestKernel;
  let b: TestKernel;
  const boot = (env: Record<string, string>, home?: string): Promise<TestKernel> =>
    bootTestKernel({ env: { SVC__STORAGE__URL: url, ...env }, config: OPEN_RATE, ...(home === undefined ? {} : { home }) });
  const put = (at: TestKernel, provider: string, value: string) => at.http.send('POST', `/api/providers/${provider}/key`, { api_key: value });
  const names = async (at: TestKernel): Promise<string[]> => (await at.http.expect(200, 'GET', '/api/vault')).body.names;
  const isConfigured = async (at: TestKernel, provider: string): Promise<boolean> =>
    (await at.http.expect(200, 'GET', '/api/providers')).body.providers.find(({ id, name }: { id?: string; name?: string }) => (id ?? name) === provider)?.auth_status === 'configured';
  before(async () => {
    cluster = await sharedCluster();
    url = await cluster.fresh();
    a = await boot({ SVC_VAULT_KEY: KEY });
    b = await boot({ SVC_VAULT_KEY: KEY });
  });
  after(stopTestKernels);

  it('P1 P2 uses at each daemon what was stored at one, at once, and stores no clear text', async () => {
    expect(await names(b)).to.deep.equal([]);
    expect((await put(a, 'openai', SECRET)).status).to.equal(200);
    await until(() => isConfigured(b, 'openai'));
    expect(await names(b)).to.include('provider.openai');
    await Promise.all([put(a, 'groq', `${SECRET}-a`), put(b, 'mistral', `${SECRET}-b`)]);
    for (const one of [a, b]) await until(async () => (await names(one)).length === 3);
    const [row] = (await cluster.admin('SELECT * FROM vault__sealed', url)) as Array<{ bytes: string }>;
    expect(row?.bytes).to.match(/^SVCV1/);
    for (const clear of [SECRET, Buffer.from(SECRET).toString('base64'), KEY]) expect(row?.bytes).to.not.contain(clear);
    expect(await readdir(join(a.home, 'data/ext/vault')).catch(() => [])).to.not.include('vault.enc');
    await b.http.expect(200, 'DELETE', '/api/providers/openai/key');
    await until(async () => !(await isConfigured(a, 'openai')));
  });

  it('P3 takes in what a home had in its own file', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-vault-home-'));
    await mkdir(join(home, 'data/ext/vault'), { recursive: true });
    const own = Buffer.alloc(32, 9);
    await writeFile(join(home, 'data/ext/vault/vault.key'), own.toString('base64'), { mode: 0o600 });
    await writeFile(join(home, 'data/ext/vault/vault.enc'), seal(new Map([['provider.cohere', Buffer.from('own')]]), own), { mode: 0o600 });
    const third = await boot({ SVC_VAULT_KEY: KEY }, home);
    try {
      expect(await names(third)).to.include.members(['provider.cohere', 'provider.groq']);
      await until(async () => (await names(a)).includes('provider.cohere'));
      expect((await readdir(join(home, 'data/ext/vault'))).filter((name) => name.startsWith('vault.enc'))).to.satisfy(([name]: string[]) => name?.startsWith('vault.enc.moved-'));
    } finally {
      await third.stop();
      await rm(home, { recursive: true, force: true });
    }
  });

  it('is locked for a daemon with another key, which cannot change it, and refuses a daemon without a key by name', async () => {
    const other = await boot({ SVC_VAULT_KEY: Buffer.alloc(32, 8).toString('base64') });
    const without = await boot({});
    try {
      expect((await other.http.expect(200, 'GET', '/api/vault')).body.state).to.equal('locked');
      expect((await put(other, 'openai', 'x')).body.code).to.equal('vault_locked');
      const refused = await put(without, 'openai', SECRET);
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'vault_not_shared']);
      expect(refused.body.hint).to.contain('SVC_VAULT_KEY');
      expect(await names(b)).to.include('provider.groq');
    } finally {
      await other.stop();
      await without.stop();
    }
  });
});
