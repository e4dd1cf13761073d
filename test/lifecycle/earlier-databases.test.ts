/** A home of an earlier build starts with this one: its agents, sessions and messages are there, on either engine (fixtures/databases). */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgres } from '@svc/platform/storage/postgres/postgres-connection';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';
import { describeDaemonOnEngines } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { until } from '../burglar/real-daemon.js';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';
import { echo } from './busy-clients.js';

const DUMPS = join(process.cwd(), 'fixtures/databases');
const SAID = "it's ñandú 鷺 🪶; -- \\";

describeDaemonOnEngines('a database of an earlier build', function (engine) {
  this.timeout(60_000);
  const ending = engine.name === 'SQLite' ? '.sqlite.sql' : '.postgres.sql';
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-earlier-'));
    mkdirSync(join(home, 'data'));
  });
  afterEach(async () => {
    await stopModelKernels();
    rmSync(home, { recursive: true, force: true });
  });

  /** What to put into the environment of a daemon. */
  const load = async (text: string): Promise<Record<string, string>> => {
    if (engine.name === 'SQLite') {
      const connection = await openSqlite({ file: join(home, 'data/svc.db'), readOnly: false, maxStatements: 1 });
      await connection.exec(text);
      await connection.close();
      return {};
    }
    const url = await (await sharedCluster()).fresh();
    const connection = await openPostgres(url);
    await connection.query(text).finally(connection.close);
    return { SVC__STORAGE__URL: url };
  };

  for (const file of readdirSync(DUMPS).filter((name) => name.endsWith(ending)))
    it(`of ${file.slice(0, -ending.length)} opens with all that was in it`, async () => {
      const svc = await bootWithModel(echo, { home, env: await load(readFileSync(join(DUMPS, file), 'utf8')) });

      const failed = svc.kernel.daemon.kernel.extensions().filter(({ state }) => state === 'failed');
      expect(failed).to.deep.equal([]);
      expect(svc.kernel.daemon.parts.storage.identityProblem()).to.equal(undefined);
      const { agents } = (await svc.http.expect(200, 'GET', '/api/agents')).body;
      expect(agents.map(({ name }: { name: string }) => name).sort()).to.deep.equal(['ann', 'assistant', 'bob']);
      for (const { id, name } of agents.filter((one: { name: string }) => one.name !== 'assistant')) {
        const { messages } = (await svc.http.expect(200, 'GET', `/api/agents/${id}/session`)).body;
        const heron = `a heron stands in the reeds, says ${name}`;
        expect(messages.map(({ content }: { content: string }) => content)).to.deep.equal([heron, `re: ${heron}`, SAID, `re: ${SAID}`]);
        await svc.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'and now?' });
      }
      const [ann] = agents.filter(({ name }: { name: string }) => name === 'ann');
      expect((await svc.http.expect(200, 'GET', '/api/goals')).body.goals.map(({ title }: { title: string }) => title)).to.deep.equal(['Count the herons']);
      expect((await svc.http.expect(200, 'GET', '/api/schedules')).body.schedules.map(({ name }: { name: string }) => name)).to.deep.equal(['dawn']);
      expect((await svc.http.expect(200, 'GET', '/api/triggers')).body.triggers).to.have.length(1);
      expect((await svc.http.expect(200, 'GET', `/api/memory/agents/${ann.id}/kv/heron`)).body.value).to.equal('grey');
      // The index of words is filled in the background where the build had none.
      await until(async () => (await svc.http.expect(200, 'GET', '/api/sessions/search?q=heron')).body.items.length >= 2);
    });
});
