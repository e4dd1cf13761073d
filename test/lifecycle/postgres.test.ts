/** The server of the database ends and comes back while runs go on: nothing is lost, and nobody but the wait tells of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';
import { readLedger } from '../crash/account/ledger.js';
import { echo, makeAgents } from './busy-clients.js';

const AGENTS = 4;
const CRASHES = 3;
const DOWN_MS = 300;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a PostgreSQL that is restarted in the midst of work', function () {
  this.timeout(180_000);
  let cluster: PostgresCluster;
  let home: string;

  before(async () => {
    cluster = await startCluster();
    home = await mkdtemp(join(tmpdir(), 'svc-restart-'));
  });
  after(async () => {
    await stopModelKernels();
    await cluster.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('loses nothing: every message is answered once, and every run ends', async () => {
    const url = await cluster.fresh();
    const svc = await bootWithModel(echo, { home, env: { SVC__STORAGE__URL: url } });
    const agents = await makeAgents(svc.http, AGENTS);
    let isOver = false;
    const sent: string[] = [];
    const refused: string[] = [];
    /** As a client does that is told to try again: the same message under the same key. */
    const say = async (agent: string, message: string): Promise<void> => {
      for (;;) {
        const answer = await svc.http.post(`/api/agents/${agent}/message`, { message }, { 'idempotency-key': message });
        if (answer.status === 200) {
          expect(answer.body.response).to.equal(`re: ${message}`);
          return;
        }
        refused.push(`${answer.status} ${answer.body.code}`);
        if (refused.length > 200) throw new Error(refused.slice(-5).join('; '));
        await pause(100);
      }
    };
    const clients = agents.map(async (agent, index) => {
      for (let turn = 0; !isOver; turn += 1) {
        const message = `message ${turn} of ${index}`;
        sent.push(message);
        await say(agent, message);
      }
    });
    const talking = Promise.all(clients);
    for (let crashes = 0; crashes < CRASHES; crashes += 1) {
      const before = sent.length;
      while (sent.length < before + AGENTS * 2) await pause(20);
      await cluster.crash();
      await pause(DOWN_MS);
      await cluster.start();
    }
    const before = sent.length;
    while (sent.length < before + AGENTS * 2) await pause(20);
    isOver = true;
    await talking;

    const { entries, runs } = await readLedger({ file: '', url });
    const said = (kind: string): string[] => entries.filter((entry) => entry.kind === kind).map((entry) => (entry.body.parts ?? []).map((part) => part.text ?? '').join(''));
    expect(said('user').sort()).to.deep.equal([...sent].sort());
    expect(
      said('assistant')
        .map((text) => text.replace('re: ', ''))
        .sort(),
    ).to.deep.equal([...sent].sort());
    expect(runs.filter(({ status }) => status !== 'done')).to.deep.equal([]);
  });
});
