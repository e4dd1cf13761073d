/** A vault whose master key is not the one it was written with: said each time, and never taken for "no key". */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '../../fixtures/providers/openai-server.js';
import { MODEL_KEY, modelConfig } from '../clients/model-kernel.js';
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
});
