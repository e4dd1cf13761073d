/** Letta and Hermes, and logs that were packed. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { writeHermes } from './homes/hermes.js';
import { writeLetta } from './homes/letta.js';
import { ARCHIVED_SESSION, writeDatabase } from './homes/openclaw.js';
import { database, hashes, insert, lines, put } from './homes/write.js';

/** A frame of zstd whose one block is not packed. */
const zstd = (text: string): Uint8Array => {
  const content = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(content.length, 5);
  head.writeUIntLE((content.length << 3) | 1, 9, 3);
  return Buffer.concat([head, content]);
};

describe('migrate from other homes', function () {
  this.timeout(120_000);
  let folder = '';
  let kernel: TestKernel;
  let http: TestHttp;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-migrate-'));
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[migrate]\nroots = ["${folder}"]\n`, env: { HOME: join(folder, 'user') } });
    http = kernel.http;
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });
  const home = (name: string): string => join(folder, name);
  const run = async (source: string, more: object = {}, as = http) => (await as.expect(200, 'POST', '/api/migrate', { source, ...more })).body;
  const found = async (words: string, as = http) => (await as.expect(200, 'GET', `/api/sessions/search?q=${encodeURIComponent(words)}`)).body.items;
  const messagesOf = async (id: string, as = http): Promise<string> => JSON.stringify((await as.expect(200, 'GET', `/api/sessions/${id}`)).body);
  const figures = ({ agents_imported: agents, sessions_imported: sessions, messages_imported: messages, memories_imported: memories, skills_imported: skills }: Record<string, number>) => ({
    agents,
    sessions,
    messages,
    memories,
    skills,
  });

  it('T1 Letta: agents, talks and blocks come, tools are named and never run', async () => {
    await writeLetta(home('letta'));
    const untouched = await hashes(home('letta'));
    const report = await run(home('letta'));
    expect(figures(report)).to.deep.equal({ agents: 2, sessions: 1, messages: 4, memories: 4, skills: 0 });
    expect(report.skipped.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)).to.include.members(['Tool Muse: delete_everything', 'Agent broken.af', 'Config poems.txt']);
    const [{ session_id: id }] = await found('albatross');
    expect(await messagesOf(id))
      .to.contain('It flies far.')
      .and.to.contain('2025-07-01T09:02:00.000Z');
    expect(existsSync('/tmp/svc-letta-ran')).to.equal(false);
    expect((await run(home('letta'))).imported_count).to.equal(0);
    expect(await hashes(home('letta'))).to.deep.equal(untouched);
    // The file by itself is the same agent.
    const one = await run(join(home('letta'), 'muse.af'));
    expect([one.imported_count, one.found.agent]).to.deep.equal([0, 1]);
  });

  it('H1 H2 H3 Hermes: a compressed chain is one conversation, a copy is a branch, and what was rewound is none of it', async () => {
    await writeHermes(home('hermes'));
    const untouched = await hashes(home('hermes'));
    const report = await run(home('hermes'));
    expect(figures(report)).to.deep.equal({ agents: 1, sessions: 2, messages: 6, memories: 2, skills: 1 });
    const [{ session_id: id }] = await found('pelicans');
    const chain = await messagesOf(id);
    expect(chain).to.contain('where do herons nest').and.to.contain('terminal').and.to.contain('2025-08-01T07:01:00.250Z').and.not.to.contain('rewound');
    const [{ session_id: branch }] = await found('cormorants');
    const listed = (await http.expect(200, 'GET', '/api/sessions?tag=hermes&limit=50')).body.sessions;
    expect(listed.find((one: { id: string }) => one.id === branch)).to.deep.include({ branched_from: id, is_chosen: false });
    expect(await found('herons nest')).to.have.length(1);
    expect((await run(home('hermes'))).imported_count).to.equal(0);
    expect(await hashes(home('hermes'))).to.deep.equal(untouched);
  });

  it('reads logs that OpenClaw packed with zstd, and names an encoding that is not known', async () => {
    const log = lines([{ type: 'message', id: 'z1', parentId: null, timestamp: '2025-05-06T11:00:00.000Z', message: { role: 'user', content: 'packed away: the narwhal' } }]);
    await put(home('packed'), 'openclaw.json', '{}');
    const archives = new Map([
      [ARCHIVED_SESSION, { encoding: 'zstd', blob: zstd(log) }],
      ['other', { encoding: 'brotli', blob: Buffer.from('x') }],
    ]);
    await writeDatabase(home('packed'), 'main', { sessions: new Map(), archives });
    const report = await run(home('packed'));
    expect([report.sessions_imported, report.skipped.find(({ name }: { name: string }) => name === 'other').reason]).to.deep.equal([
      1,
      'it could not be read to its end: its archive has the encoding brotli, which is not known',
    ]);
    expect(await found('narwhal')).to.have.length(1);
  });

  it('reads jobs of OpenClaw that its shared database holds, and names those whose columns are not known', async () => {
    const job = { id: 'j1', name: 'Evening', schedule: { kind: 'cron', expr: '0 18 * * *', tz: 'Europe/Berlin' }, payload: { message: 'sum up the day' } };
    const tables = {
      known: ['CREATE TABLE cron_jobs(id TEXT, job_json TEXT);', insert('cron_jobs', { id: 'j1', job_json: JSON.stringify(job) })],
      unknown: ['CREATE TABLE cron_jobs(id TEXT, name TEXT, packed BLOB);', insert('cron_jobs', { id: 'j2', name: 'Noon', packed: Buffer.from('x') })],
    };
    const reports: Record<string, { found: { cron: number }; imported_by_kind: { cron: number }; skipped: Array<{ kind: string; name: string; reason: string }> }> = {};
    for (const [name, statements] of Object.entries(tables)) {
      await put(home(name), 'openclaw.json', '{}');
      await writeDatabase(home(name), 'main', { sessions: new Map() });
      await database(home(name), 'state/openclaw.sqlite', statements);
      reports[name] = await run(home(name));
    }
    expect([reports.known?.found.cron, reports.known?.imported_by_kind.cron]).to.deep.equal([1, 1]);
    expect((await http.expect(200, 'GET', '/api/cron/jobs')).body.jobs.find(({ name }: { name: string }) => name === 'Evening').schedule).to.deep.include({ expr: '0 18 * * *', tz: 'Europe/Berlin' });
    expect(reports.unknown?.found.cron).to.equal(1);
    expect(reports.unknown?.skipped.find(({ kind }) => kind === 'Cron')).to.deep.include({ name: 'Noon', reason: 'its columns in state/openclaw.sqlite are not known to svc' });
  });
});
