/** `svc storage migrate` on a home that people live in: a daemon starts on the other database and answers the same. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bootTestKernel, OPEN_RATE, releaseFile, removeThirdParties, type TestHttp, type TestKernel } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { packaged } from '../burglar/real-daemon.js';
import { bootWithModel, MODEL_KEY, stopModelKernels, until } from '../clients/model-kernel.js';
import { echo } from './busy-clients.js';

const MAIN = join(dirname(releaseFile()), 'cli/main.js');
const NOTES = {
  id: 'acme-notes',
  manifest: { tables: ['notes'] },
  before: `const columns = { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true } };
    const Notes = api.defineTable('notes', '1.0.0', { columns, owner: 'owner_id' });`,
  rest: "tables: [Notes], migrations: [{ name: '0001_init', up: (m) => m.createTable('notes', columns) }], async start(ctx) { await ctx.db.commit([ctx.db.insert('notes', [{ id: 'one', owner_id: 'owner' }], { ifAbsent: true })]); },",
  activate: '',
};
/** What a person would see of it. */
const READS = ['/api/agents', '/api/sessions', '/api/goals', '/api/models/aliases', '/api/usage', '/api/sessions/search?q=heron'];

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('a home whose database moves', function () {
  this.timeout(300_000);
  let home: string;

  before(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-moves-'));
  });
  after(async () => {
    await stopModelKernels();
    await removeThirdParties();
    rmSync(home, { recursive: true, force: true });
  });

  const svc = (...args: string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(process.execPath, [...process.execArgv, MAIN, ...args], { env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_LISTEN: '127.0.0.1:0' }, cwd: home }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  /** As a person writes it into config.toml. */
  const setUrl = (url: string | undefined): void => {
    const file = join(home, 'config.toml');
    const text = readFileSync(file, 'utf8').replace(/\[storage\]\n.*\n/, '');
    writeFileSync(file, url === undefined ? text : `${text}\n[storage]\nurl = "${url}"\n`);
  };
  const look = async (http: TestHttp): Promise<unknown[]> => {
    const agents = (await http.expect(200, 'GET', '/api/agents')).body.agents as Array<{ id: string }>;
    const places = [...READS, ...agents.map(({ id }) => `/api/agents/${id}/session`)];
    return Promise.all(places.map(async (place) => [place, (await http.get(place)).body]));
  };
  const notesOf = (kernel: TestKernel) =>
    kernel.daemon.parts.storage
      .dbFor({ id: 'acme-notes', tables: ['notes'] })
      .system('a test')
      .count('notes');

  it('answers the same from PostgreSQL, and from SQLite again', async () => {
    const url = await (await sharedCluster()).fresh();
    const first = await bootWithModel(echo, { home, config: `${OPEN_RATE}[extensions]\nthird_party = "any"\n` });
    await first.kernel.daemon.kernel.installation.install({ source: await packaged(NOTES), enable: true });
    await first.kernel.daemon.kernel.disable('acme-notes');
    for (const name of ['ann', 'bob']) {
      const { agent_id } = (await first.http.expect(201, 'POST', '/api/agents', { name })).body;
      for (const message of ['a heron stands in the reeds', 'ñandú 鷺 🪶']) await first.http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message });
    }
    expect((await svc('storage', 'migrate', '--to', url)).stderr).to.contain('already uses');
    const before = await look(first.http);
    await first.kernel.stop();

    const preview = JSON.parse((await svc('storage', 'migrate', '--to', url, '--dry-run', '--json')).stdout);
    const moved = await svc('storage', 'migrate', '--to', url, '--json');

    expect(moved.code, moved.stderr).to.equal(0);
    const report = JSON.parse(moved.stdout);
    expect(report).to.include({ status: 'moved', set_aside: null });
    expect(report.setting).to.deep.equal({ name: 'storage.url', value: url.replace(/:[^:@]*@/, ':…@'), file: join(home, 'config.toml'), variable: null });
    expect(report.tables.map(({ name, rows }: { name: string; rows: number }) => ({ name, rows }))).to.deep.equal(preview.tables);
    expect(report.tables.map(({ name }: { name: string }) => name)).to.include.members(['acme_notes__notes', 'sessions__entries', 'journal__steps', 'audit__entries', 'kernel__events']);
    expect(moved.stderr).to.equal('');
    expect((await svc('start')).stderr).to.contain('was moved to');
    setUrl(url);

    const second = await bootTestKernel({ home, env: { OPENAI_API_KEY: MODEL_KEY } });
    expect(second.daemon.parts.storage.dialect).to.equal('postgres');
    expect(second.daemon.parts.storage.identityProblem()).to.equal(undefined);
    expect(await look(second.http)).to.deep.equal(before);
    // A daemon enters it after its start, as it delivers an event.
    await until(async () => JSON.stringify((await second.http.expect(200, 'GET', '/api/audit/recent')).body).includes('database_moved'));
    expect((await second.http.expect(200, 'GET', '/api/audit/verify')).body.status).to.equal('valid');
    await second.daemon.kernel.enable('acme-notes');
    expect(await notesOf(second)).to.equal(1);
    const [{ id }] = (await second.http.expect(200, 'GET', '/api/agents')).body.agents;
    await second.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'said on the server' });
    const later = await look(second.http);
    await second.stop();

    const status = JSON.parse((await svc('storage', 'status', '--json')).stdout);
    expect(status).to.include({ engine: 'postgres', exists: true });
    expect(status.move.state).to.equal('arrived');
    expect(status.schemas.find(({ owner }: { owner: string }) => owner === 'sessions').newest).to.match(/^\d{4}_/);
    const back = await svc('storage', 'migrate', '--to', 'sqlite', '--json');
    expect(back.code, back.stderr).to.equal(0);
    setUrl(undefined);
    expect(readdirSync(join(home, 'data')).filter((name) => name.startsWith('svc.db.moved-'))).to.have.length(1);

    const third = await bootTestKernel({ home, env: { OPENAI_API_KEY: MODEL_KEY } });
    expect(third.daemon.parts.storage.dialect).to.equal('sqlite');
    expect(await look(third.http)).to.deep.equal(later);
    await third.stop();
  });

  it('starts on the old database only after somebody has said so', async () => {
    const url = await (await sharedCluster()).fresh();
    expect((await svc('storage', 'migrate', '--to', url)).code).to.equal(0);
    const refused = await bootTestKernel({ home, env: { OPENAI_API_KEY: MODEL_KEY } }).then(
      () => 'it started',
      (error: { code: string }) => error.code,
    );
    expect(refused).to.equal('storage_moved');
    expect((await svc('storage', 'reopen')).code).to.equal(2);
    expect((await svc('storage', 'reopen', '--yes')).stdout).to.contain('can start');

    const kernel = await bootTestKernel({ home, env: { OPENAI_API_KEY: MODEL_KEY } });
    expect(kernel.daemon.parts.storage.identityProblem()).to.contain('is older than the last one');
    await kernel.stop();
  });
});
