/** What a person may do with the vault over the API: store, delete, rotate its key, and never read a value. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const VALUE = 'tvly-a-value-that-nobody-may-see';
const [OWNER, UNA] = ['vault-owner-key', 'vault-una-key'];

describe('vault routes', function () {
  this.timeout(30_000);
  let home: string;
  let owner: TestHttp;
  let una: TestHttp;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-vault-routes-'));
    const user = `[[users]]\nname = "una"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(UNA).digest('hex')}"\n`;
    const kernel = await bootTestKernel({ home, config: `api_key = "${OWNER}"\n${OPEN_RATE}${user}` });
    [owner, una] = [kernel.as(OWNER), kernel.as(UNA)];
  });
  after(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const path = (name: string) => `/api/vault/secrets/${encodeURIComponent(name)}`;
  const names = async (): Promise<string[]> => (await owner.expect(200, 'GET', '/api/vault')).body.names;
  const audited = async (): Promise<string> => JSON.stringify((await owner.expect(200, 'GET', '/api/audit/recent?limit=200')).body);

  it('stores a value under a name, with a slash too, and deletes it', async () => {
    for (const name of ['search.tavily', 'acme/token:2']) {
      expect((await owner.expect(200, 'PUT', path(name), { value: VALUE })).body).to.deep.equal({ status: 'stored', name });
      expect(await names()).to.include(name);
      expect((await owner.expect(200, 'DELETE', path(name))).body).to.deep.equal({ status: 'removed', name });
      expect(await names()).not.to.include(name);
      expect((await owner.expect(404, 'DELETE', path(name))).body.code).to.equal('vault_not_found');
    }
  });

  it('refuses names and values that cannot be, and what svc manages itself', async () => {
    for (const [name, body] of [
      ['a b', { value: VALUE }],
      ['x'.repeat(201), { value: VALUE }],
      ['fine', { value: '' }],
      ['fine', {}],
    ] as const)
      expect((await owner.send('PUT', path(name), body)).status, name).to.equal(400);
    for (const name of ['audit.signing-key', 'totp.0123.4', 'provider.openai']) {
      expect((await owner.expect(409, 'PUT', path(name), { value: VALUE })).body.code).to.equal('vault_not_yours');
      expect((await owner.expect(409, 'DELETE', path(name))).body.hint).to.contain('svc providers set-key');
    }
    expect(await names()).not.to.include('fine');
  });

  it('rotates the key of the file and keeps what is stored', async () => {
    await owner.expect(200, 'PUT', path('kept'), { value: VALUE });
    const { body } = await owner.expect(200, 'POST', '/api/vault/rotate-key');
    expect(body).to.include({ status: 'rotated' });
    expect(await readdir(join(home, 'data/ext/vault'))).to.include(body.earlier_key);
    expect(await names()).to.include('kept');
  });

  it('is for owners and admins alone', async () => {
    for (const [method, place] of [
      ['PUT', path('a')],
      ['DELETE', path('kept')],
      ['POST', '/api/vault/rotate-key'],
    ] as const)
      expect((await una.send(method, place, method === 'PUT' ? { value: VALUE } : undefined)).status, place).to.equal(403);
  });

  it('enters each change in the audit trail, by name and never with its value, which no file has in the clear', async () => {
    await owner.expect(200, 'PUT', path('told.of'), { value: VALUE });
    await owner.expect(200, 'DELETE', path('told.of'));
    await owner.expect(200, 'PUT', path('stays'), { value: VALUE });
    await owner.expect(200, 'POST', '/api/vault/rotate-key');
    let trail = '';
    // Entries are chained a moment after the changes that they tell of.
    await until(async () => {
      trail = await audited();
      return ['vault_secret_set', 'vault_secret_removed', 'vault_key_rotated', 'told.of'].every((said) => trail.includes(said));
    });
    expect(trail).not.to.contain(VALUE);
    const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    for (const { name, parentPath } of files) expect((await readFile(join(parentPath, name))).includes(VALUE), name).to.equal(false);
  });
});
