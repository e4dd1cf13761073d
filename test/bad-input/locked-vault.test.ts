/** A vault whose master key is not the one it was written with: said each time, and never taken for "no key". */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { MODEL_KEY, modelConfig, QUICK_LLM } from '../clients/model-kernel.js';
import { expectClear } from './aftermath.js';

const RIGHT = Buffer.alloc(32, 1).toString('base64');
const WRONG = Buffer.alloc(32, 2).toString('base64');
/** More than an area may fail before it is put aside. */
const TIMES = 25;

describe('a vault that does not open', () => {
  let home: string;
  let model: ProviderServer;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-vault-'));
    model = await startOpenAiServer({ text: 'hello' });
  });
  afterEach(async () => {
    await stopTestKernels();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });

  const boot = (vaultKey: string) => bootTestKernel({ home, config: `${OPEN_RATE}${modelConfig(model.url)}`, env: { SVC_VAULT_KEY: vaultKey } });

  it('is named in every error for as long as it stays shut, keeps its secrets, and serves when it opens again', async () => {
    const first = await boot(RIGHT);
    await first.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: MODEL_KEY });
    await first.stop();

    const shut = await boot(WRONG);
    const [agent] = (await shut.http.expect(200, 'GET', '/api/agents')).body.agents;
    for (let time = 0; time < TIMES; time++) {
      const answer = await shut.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' });
      expectClear(answer, [500, 503], /vault/i, `message ${time}`);
      expectClear(await shut.http.post('/api/providers/openai/key', { api_key: MODEL_KEY }), 503, /vault/i, `key ${time}`);
    }
    expect(shut.daemon.kernel.extensions().find((one) => one.id === 'vault')).to.include({ state: 'active' });
    expect(model.requests).to.have.length(0);
    await shut.stop();

    const open = await boot(RIGHT);
    expect((await open.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hello' })).body.response).to.equal('hello');
    expect(model.requests[0]?.headers.authorization).to.equal(`Bearer ${MODEL_KEY}`);
  });

  /** Nobody names a provider: whoever has a key answers. */
  const keyDecides = () => `${OPEN_RATE}[provider_urls]\nopenai = "${model.url}/v1"\n${QUICK_LLM}`;
  const vaultDir = () => join(home, 'data', 'ext', 'vault');
  const withStoredKey = async () => {
    const first = await bootTestKernel({ home, config: keyDecides() });
    await first.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: MODEL_KEY });
    const [agent] = (await first.http.expect(200, 'GET', '/api/agents')).body.agents;
    expect(agent.model_provider).to.equal('openai');
    await first.stop();
    return agent.id as string;
  };

  const losses: ReadonlyArray<readonly [string, () => Promise<Record<string, string>>]> = [
    ['its key file is gone', async () => rm(join(vaultDir(), 'vault.key')).then(() => ({}))],
    ['SVC_VAULT_KEY is another one', async () => ({ SVC_VAULT_KEY: WRONG })],
    ['its file is garbage', async () => writeFile(join(vaultDir(), 'vault.enc'), 'garbage').then(() => ({}))],
    ['its key file is garbage', async () => writeFile(join(vaultDir(), 'vault.key'), 'garbage').then(() => ({}))],
  ];
  for (const [what, lose] of losses) {
    it(`because ${what}: only what needs a secret suffers, and it is begun anew when a person says so`, async () => {
      const agentId = await withStoredKey();
      const env = await lose();
      const shut = await bootTestKernel({ home, config: keyDecides(), env });
      const { http } = shut;

      const { body: status } = await http.expect(200, 'GET', '/api/status');
      // Who answers was chosen before and is no secret: nobody else takes over.
      expect(status.default_provider).to.equal('openai');
      expect(status.default_model_problem).to.match(/vault/i);
      expect(status.health_problems.join()).to.match(/vault/);
      expect((await http.expect(200, 'GET', '/api/agents')).body.agents[0]).to.include({ id: agentId, model_provider: 'openai' });
      await http.expect(200, 'GET', `/api/agents/${agentId}`);
      const { body: listed } = await http.expect(200, 'GET', '/api/providers');
      expect(listed.providers.find((one: { name: string }) => one.name === 'openai').error_message).to.match(/vault/i);
      expect((await http.expect(200, 'GET', '/api/health')).body.status).to.equal('degraded');
      expectClear(await http.post(`/api/agents/${agentId}/message`, { message: 'hello' }), 503, /svc vault/);
      expectClear(await http.post('/api/providers/openai/key', { api_key: MODEL_KEY }), 503, /svc vault reset/);

      const asked = await http.expect(409, 'POST', '/api/vault/reset');
      expect(asked.body.error).to.match(what === 'its file is garbage' ? /cannot be read/ : /provider\.openai/);
      expect((await readdir(vaultDir())).filter((name) => name.startsWith('vault.enc'))).to.deep.equal(['vault.enc']);
      const { body: done } = await http.expect(200, 'POST', '/api/vault/reset?confirm=true');
      expect(done.set_aside[0]).to.match(/^vault\.enc\.\d{4}-/);
      await http.expect(200, 'POST', '/api/providers/openai/key', { api_key: MODEL_KEY });
      expect((await http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'hello' })).body.response).to.equal('hello');
      expect(model.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${MODEL_KEY}`);
      expect((await http.expect(200, 'GET', '/api/health')).body.status).to.equal('ok');
    });
  }

  it('leaves keys of the environment in use, also where the default rests on one', async () => {
    const agentId = await withStoredKey();
    await rm(join(vaultDir(), 'vault.key'));
    const shut = await bootTestKernel({ home, config: keyDecides(), env: { OPENAI_API_KEY: 'sk-of-the-environment' } });
    expect((await shut.http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'hello' })).body.response).to.equal('hello');
    expect(model.requests.at(-1)?.headers.authorization).to.equal('Bearer sk-of-the-environment');
    expect((await shut.http.expect(200, 'GET', '/api/status')).body.health_problems.join()).to.match(/vault/);
  });

  it('is seen and begun anew by an owner or admin alone', async () => {
    await withStoredKey();
    const people = await bootTestKernel({
      home,
      config: `api_key = "${MODEL_KEY}"\n${keyDecides()}[[users]]\nname = "una"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update('una').digest('hex')}"\n`,
    });
    for (const [method, path] of [
      ['GET', '/api/vault'],
      ['POST', '/api/vault/reset?confirm=true'],
    ] as const)
      expect((await people.as('una').send(method, path, undefined)).status).to.equal(403);
    const { body } = await people.as(MODEL_KEY).expect(200, 'GET', '/api/vault');
    expect({ ...body, names: body.names.filter((name: string) => !name.startsWith('audit.')) }).to.deep.equal({ state: 'open', why: null, names: ['provider.openai'] });
  });
});
