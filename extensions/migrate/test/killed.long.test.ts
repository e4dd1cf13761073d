/** A daemon that is killed while it imports: the next one goes on, and nothing is lost or doubled. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, releaseFile, TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { hashes, lines, put } from './homes/write.js';

const KILLS = 4;
const LONG = 6_000;
const SHORT = 40;

describe('an import that is killed', function () {
  this.timeout(300_000);
  let home: string;
  let source: string;
  let daemon: ChildProcess;
  let http: TestHttp;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-killed-import-'));
    source = join(home, 'source');
    await writeFile(join(home, 'config.toml'), `${OPEN_RATE}[migrate]\nroots = ["${source}"]\n`);
    await put(source, 'openclaw.json', '{}');
    await put(source, 'workspace/MEMORY.md', '- The cat is called Miso.\n- Likes tea.');
    // One that takes many commits, and many that share one.
    for (let session = 0; session <= SHORT; session++) {
      const events = Array.from({ length: session === 0 ? LONG : 50 }, (_, index) => ({
        type: 'message',
        id: `m${index}`,
        parentId: index === 0 ? null : `m${index - 1}`,
        timestamp: new Date(Date.UTC(2025, 0, 1 + session) + index * 1_000).toISOString(),
        message: { role: index % 2 === 0 ? 'user' : 'assistant', content: `session ${session} message ${index}` },
      }));
      await put(source, `agents/main/sessions/0b6b5a3e-0000-4d6e-9a55-${String(session).padStart(12, '0')}.jsonl`, lines(events));
    }
    await start();
  });
  after(async () => {
    await kill();
    await rm(home, { recursive: true, force: true });
  });
  const start = async (): Promise<void> => {
    daemon = spawn(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'daemon/main.js')], {
      env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_LISTEN: '127.0.0.1:0' },
      stdio: 'ignore',
    });
    await until(async () => {
      const found = await readFile(join(home, 'daemon.json'), 'utf8').then(JSON.parse, () => undefined);
      if (found?.pid !== daemon.pid) return false;
      http = new TestHttp(found.url);
      return (await http.get('/api/ready').catch(() => undefined))?.status === 200;
    });
  };
  const kill = async (): Promise<void> => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  };

  it('D1 S1 goes on with what is left, after each of several deaths', async () => {
    const untouched = await hashes(source);
    const all = LONG + SHORT * 50;
    const { id } = (await http.expect(202, 'POST', '/api/migrate', { source }, { prefer: 'respond-async' })).body;
    const report = async () => (await http.expect(200, 'GET', `/api/migrate/${id}`)).body;
    const seen: number[] = [];
    for (let round = 0; round < KILLS; round++) {
      const before = seen.at(-1) ?? 0;
      let now = await report();
      while (now.ended_at === null && now.messages_imported <= before) now = await report();
      if (now.ended_at !== null) break;
      await kill();
      await start();
      seen.push((await report()).messages_imported);
    }
    expect(seen.length, 'it was never killed before its end').to.be.greaterThan(0);
    let now = await report();
    while (now.ended_at === null) now = await report();
    const { status, agents_imported: agents, sessions_imported: sessions, messages_found: inSource, messages_imported: messages, memories_imported: memories } = now;
    expect({ status, agents, sessions, inSource, messages, memories }).to.deep.equal({ status: 'completed', agents: 1, sessions: SHORT + 1, inSource: all, messages: all, memories: 2 });
    // What lists say of sessions is read in the background.
    const counts = async (): Promise<number[]> => (await http.expect(200, 'GET', '/api/sessions?tag=openclaw&limit=100')).body.sessions.map((one: { message_count: number }) => one.message_count);
    await until(async () => (await counts()).reduce((sum, count) => sum + count, 0) >= all);
    expect((await counts()).toSorted((a, b) => b - a)).to.deep.equal([LONG, ...Array.from({ length: SHORT }, () => 50)]);
    expect((await http.expect(200, 'POST', '/api/migrate', { source })).body.imported_count).to.equal(0);
    expect(await hashes(source)).to.deep.equal(untouched);
  });
});
