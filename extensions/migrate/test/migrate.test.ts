/** Imports of homes in the formats of the programs, over HTTP. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { AGENT, JSON_SESSION, MESSAGES, SESSION, writeLibreFang } from './homes/librefang.js';
import { ARCHIVED_SESSION, NEW_SESSION, OLD_SESSION, talkEvents, writeDatabase, writeOlder } from './homes/openclaw.js';
import { database, hashes, lines, put } from './homes/write.js';

interface Item {
  kind: string;
  name: string;
  reason: string;
  destination: string;
}

describe('migrate', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let http: TestHttp;
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-migrate-'));
    const config = `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('ada', 'admin')}${person('alice', 'user')}[capabilities]\nadmin = ["network", "file_system"]\n[migrate]\nroots = ["${folder}"]\n`;
    kernel = await bootTestKernel({ config, key: keyOf('root'), env: { HOME: join(folder, 'user') } });
    http = kernel.as(keyOf('root'));
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });
  const home = (name: string): string => join(folder, name);
  const run = async (source: string, more: object = {}, as = http) => (await as.expect(200, 'POST', '/api/migrate', { source, ...more })).body;
  const reasonsOf = (report: { skipped: Item[] }, kind: string): Record<string, string> =>
    Object.fromEntries(report.skipped.filter((one) => one.kind === kind).map(({ name, reason }) => [name, reason]));
  const everyReason = (report: { skipped: Item[] }, kind: string): string[] => report.skipped.filter((one) => one.kind === kind).map(({ reason }) => reason);
  const balanced = (report: { found: Record<string, number>; imported_by_kind: Record<string, number>; skipped_by_kind: Record<string, number> }): void => {
    for (const [kind, found] of Object.entries(report.found)) expect((report.imported_by_kind[kind] ?? 0) + (report.skipped_by_kind[kind] ?? 0), kind).to.equal(found);
  };
  const found = async (words: string, as = http) => (await as.expect(200, 'GET', `/api/sessions/search?q=${encodeURIComponent(words)}`)).body;
  const agentNamed = async (name: string) => (await http.expect(200, 'GET', '/api/agents?limit=500')).body.agents.find((one: { name: string }) => one.name === name);

  describe('OpenClaw with logs in files', () => {
    let untouched: Record<string, string>;
    before(async () => {
      await writeOlder(home('older'));
      untouched = await hashes(home('older'));
    });

    it('a dry run counts everything and changes nothing', async () => {
      const dry = await run(home('older'), { dry_run: true });
      balanced(dry);
      expect([dry.status, dry.dry_run, dry.agents_imported, dry.sessions_imported, dry.messages_imported]).to.deep.equal(['completed', true, 2, 3, 6]);
      expect(await agentNamed('Clawd')).to.equal(undefined);
    });

    it('imports agents, talks with branches, memories, skills and jobs', async () => {
      const report = await run(home('older'));
      balanced(report);
      const { agents_imported: agents, sessions_imported: sessions, messages_found: inSource, messages_imported: messages, memories_imported: memories, skills_imported: skills } = report;
      // Of the log's five messages one is in another branch alone; the deleted log has one.
      expect({ agents, sessions, inSource, messages, memories, skills }).to.deep.equal({ agents: 2, sessions: 3, inSource: 6, messages: 6, memories: 3, skills: 1 });
      expect(reasonsOf(report, 'Cron').Broken).to.contain('none of cron, every and at');
      expect(reasonsOf(report, 'Channel').telegram).to.contain('channels stay off');
      expect(everyReason(report, 'Secret')).to.include('secrets are imported only with import_secrets');
    });

    it('names never become paths or TOML', async () => {
      const { agents } = (await http.expect(200, 'GET', '/api/agents?limit=500')).body;
      const work = agents.find(({ name }: { name: string }) => name.includes('"work"'));
      expect(work.name).to.equal('.. .. etc "work" [x]');
    });

    it('times, tool calls and branches stay, and the words are found', async () => {
      const { items } = await found('zanzibar invoice');
      const [{ session_id: id }] = items;
      const session = (await http.expect(200, 'GET', `/api/sessions/${id}`)).body;
      expect(JSON.stringify(session)).to.contain('invoices.md').and.to.contain('zanzibar: paid').and.to.contain('2025-05-06T10:05:00.000Z');
      const listed = (await http.expect(200, 'GET', '/api/sessions?tag=openclaw&limit=50')).body.sessions;
      expect(listed.map(({ is_chosen: isChosen, label }: { is_chosen: boolean; label: string }) => [label, isChosen])).to.deep.include.members([
        ['Invoices', true],
        ['Invoices', false],
      ]);
      const [other] = listed.filter(({ is_chosen: isChosen }: { is_chosen: boolean }) => !isChosen);
      expect(other.branched_from).to.equal(listed.find(({ label, is_chosen: isChosen }: { label: string; is_chosen: boolean }) => label === 'Invoices' && isChosen).id);
      expect(JSON.stringify((await http.expect(200, 'GET', `/api/sessions/${other.id}`)).body))
        .to.contain('The first branch.')
        .and.not.to.contain('paid in May');
      expect(listed.every(({ tags }: { tags: string[] }) => tags.includes('imported'))).to.equal(true);
      expect((await found('quokkas')).items).to.have.length(1);
    });

    it('memories, identity and jobs are where they belong', async () => {
      const agent = await agentNamed('Clawd');
      expect(JSON.stringify((await http.expect(200, 'GET', `/api/memory/agents/${agent.id}`)).body)).to.contain('Miso');
      const { jobs } = (await http.expect(200, 'GET', '/api/cron/jobs')).body;
      expect(jobs.find(({ name }: { name: string }) => name === 'Morning').schedule).to.deep.include({ expr: '0 9 * * 1-5', tz: 'Europe/Berlin' });
    });

    it('a second run imports nothing, and the source stays as it was', async () => {
      const again = await run(home('older'));
      balanced(again);
      expect([again.imported_count, again.messages_imported]).to.deep.equal([0, 0]);
      expect(reasonsOf(again, 'Agent').Clawd).to.contain('imported before');
      expect(await hashes(home('older'))).to.deep.equal(untouched);
      expect((await found('zanzibar invoice')).items).to.have.length(1);
    });
  });

  describe('OpenClaw with databases, half-moved', () => {
    const DB_EVENTS = talkEvents(NEW_SESSION).map((event) => JSON.parse(JSON.stringify(event).replaceAll('zanzibar', 'madagascar')) as object);
    let close = (): Promise<void> => Promise.resolve();
    before(async () => {
      await writeOlder(home('half'));
      // The log that was moved stands in both; in the database it goes on.
      const moved = [...talkEvents(), { type: 'message', id: 'a6', parentId: 'a5', timestamp: '2025-05-06T11:00:00.000Z', message: { role: 'user', content: 'and the walrus receipt' } }];
      const archived = lines([
        { type: 'session', id: ARCHIVED_SESSION, timestamp: '2025-05-06T11:00:00.000Z' },
        { type: 'message', id: 'z1', parentId: null, timestamp: '2025-05-06T11:00:00.000Z', message: { role: 'user', content: 'put away: the ocelot' } },
      ]);
      const sessions = new Map([
        [OLD_SESSION, moved],
        [NEW_SESSION, DB_EVENTS],
      ]);
      // Nothing was moved from its WAL to the file yet.
      close = await writeDatabase(home('half'), 'main', { sessions, archives: new Map([[ARCHIVED_SESSION, { encoding: 'identity', blob: Buffer.from(archived) }]]), stays: true });
    });
    after(() => close());

    it('names a source that is running', async function () {
      if (process.platform !== 'linux') this.skip();
      const { warnings } = (await http.expect(200, 'POST', '/api/migrate/scan', { path: home('half') })).body;
      expect(warnings.join()).to.contain(`OpenClaw is running (process ${process.pid})`);
    });

    it('reads what stands in the WAL alone, and a session of both layouts once', async () => {
      const untouched = await hashes(home('half'));
      const report = await run(home('half'), {}, kernel.as(keyOf('ada')));
      balanced(report);
      // The moved log with its branch and one more message, the new one with its branch, the deleted one and the archived one.
      expect([report.sessions_imported, report.messages_imported]).to.deep.equal([6, 13]);
      expect(await hashes(home('half'))).to.deep.equal(untouched);
      const ada = kernel.as(keyOf('ada'));
      for (const words of ['walrus receipt', 'madagascar invoice', 'ocelot', 'zanzibar invoice']) expect((await found(words, ada)).items, words).to.have.length(1);
      expect((await run(home('half'), {}, ada)).imported_count).to.equal(0);
    });

    it('S2 S3 brings what was added since, once, and leaves what was changed or deleted', async () => {
      const log = `agents/main/sessions/${OLD_SESSION}.jsonl`;
      await writeOlder(home('grown'));
      await run(home('grown'));
      const more = { type: 'message', id: 'a7', parentId: 'a5', timestamp: '2025-05-06T12:00:00.000Z', message: { role: 'user', content: 'one more about platypuses' } };
      await put(home('grown'), log, `${lines([...talkEvents(), more])}{"type":"message","mess\n`);
      const grown = await run(home('grown'));
      balanced(grown);
      expect(grown.warnings.join()).to.contain('Lines of logs that cannot be read, and are left out: 1, in ');
      expect([grown.imported_count, grown.messages_imported]).to.deep.equal([1, 1]);
      const [{ session_id: id }] = (await found('platypuses')).items;
      expect(JSON.stringify((await http.expect(200, 'GET', `/api/sessions/${id}`)).body)).to.contain('2025-05-06T12:00:00.000Z');
      expect((await run(home('grown'))).imported_count).to.equal(0);
      await put(home('grown'), log, lines(talkEvents().map((event) => JSON.parse(JSON.stringify(event).replace('where did', 'I ask where')) as object)));
      expect(everyReason(await run(home('grown')), 'Session').join()).to.contain('its beginning was changed');
      await http.expect(200, 'DELETE', `/api/sessions/${id}`);
      await put(home('grown'), log, lines([...talkEvents(), more]));
      expect(everyReason(await run(home('grown')), 'Session')).to.include('it was deleted here');
    });
  });

  describe('LibreFang and OpenFang', () => {
    before(async () => {
      await writeLibreFang(home('fang'));
    });

    it('reads MessagePack and JSON, and counts what a person counts', async () => {
      const untouched = await hashes(home('fang'));
      const scan = (await http.expect(200, 'POST', '/api/migrate/scan', { path: home('fang') })).body;
      expect(scan).to.deep.include({ type: 'librefang', sessions: 3, memories: 4, crons: 1, channels: ['telegram'], secrets: ['GROQ_API_KEY', 'TELEGRAM_BOT_TOKEN'] });
      const report = await run('opensvc', { source_dir: home('fang') });
      balanced(report);
      expect([report.agents_imported, report.sessions_imported, report.messages_imported, report.memories_imported]).to.deep.equal([1, 2, MESSAGES.length + 1, 4]);
      expect(reasonsOf(report, 'Session')['22222222-aaaa-4bbb-8ccc-000000000003']).to.contain('its agent gone is not in the source any more');
      const { items } = await found('xylophone tree');
      const session = JSON.stringify((await http.expect(200, 'GET', `/api/sessions/${items[0].session_id}`)).body);
      expect(session).to.contain('https://example.org').and.to.contain('Nothing grows there.').and.to.contain('2025-06-01T08:00:00.000Z');
      const agent = await agentNamed('helper');
      expect((await http.expect(200, 'GET', `/api/memory/agents/${agent.id}/kv/city`)).body.value).to.equal('Bremen');
      expect((await http.expect(200, 'GET', `/api/memory/agents/${agent.id}/kv/packed`)).body.value).to.deep.equal({ deep: [1, 2] });
      expect((await run(home('fang'))).imported_count).to.equal(0);
      expect(await hashes(home('fang'))).to.deep.equal(untouched);
      expect([AGENT, SESSION, JSON_SESSION].every((id) => id !== agent.id)).to.equal(true);
    });

    it('A2 leaves out what the role of the importer may not grant, and lists it', async () => {
      await writeLibreFang(home('fang-admin'));
      await put(home('fang-admin'), 'workspaces/agents/helper/agent.toml', 'name = "helper"\n[capabilities]\nnetwork = ["*", "10.0.0.0/8"]\nshell = ["bash"]\n');
      const report = await run(home('fang-admin'), {}, kernel.as(keyOf('ada')));
      expect(report.agents_imported).to.equal(1);
      expect(report.warnings.join('\n')).to.contain('the capability shell = "bash" was left out').and.to.contain('network = "10.0.0.0/8"');
      const helpers = (await http.expect(200, 'GET', '/api/agents?limit=500')).body.agents.filter(({ name }: { name: string }) => name === 'helper');
      const granted = await Promise.all(helpers.map(async ({ id }: { id: string }) => (await http.expect(200, 'GET', `/api/agents/${id}`)).body.capabilities));
      expect(granted.map(({ network, shell }) => [network, shell])).to.deep.include([['*'], []]);
    });
  });

  describe('what is refused', () => {
    it('folders outside of the roots, unknown programs, and those that are no home', async () => {
      const outside = await mkdtemp(join(tmpdir(), 'svc-outside-'));
      await writeOlder(outside);
      await symlink(outside, home('way-out'));
      const code = async (body: object, path = '/api/migrate') => (await http.expect(400, 'POST', path, body)).body.code;
      expect(await code({ source: outside })).to.equal('migrate_outside_roots');
      expect(await code({ path: outside }, '/api/migrate/scan')).to.equal('migrate_outside_roots');
      expect(await code({ source: home('way-out') })).to.equal('migrate_outside_roots');
      expect(await code({ source: `${folder}/../${outside.split('/').at(-1)}` })).to.equal('migrate_outside_roots');
      expect(await code({ source: 'langchain' })).to.equal('migrate_unknown_source');
      for (const source of ['autogpt', 'constructor']) expect(await code({ source }), source).to.equal('migrate_unknown_source');
      expect(await code({ source: 'hermes' })).to.equal('migrate_no_home');
      expect(await code({ source: 'openclaw', source_dir: home('fang') })).to.equal('migrate_nothing_there');
      expect(await code({ source: home('nowhere') })).to.equal('migrate_unreadable');
      expect(await code({ source: home('fang'), target_dir: '/tmp' })).to.equal('migrate_target_dir');
      await rm(outside, { recursive: true });
    });

    it('people who are no admins, secrets for admins, and imports of others', async () => {
      const alice = kernel.as(keyOf('alice'));
      await alice.expect(403, 'GET', '/api/migrate/detect');
      await alice.expect(403, 'POST', '/api/migrate', { source: home('fang') });
      const refused = (await kernel.as(keyOf('ada')).expect(403, 'POST', '/api/migrate', { source: home('fang'), import_secrets: true })).body;
      expect(refused.code).to.equal('migrate_secrets_denied');
      await http.expect(404, 'GET', '/api/migrate/11111111-1111-4111-8111-111111111111');
      await http.expect(400, 'GET', '/api/migrate/x');
    });

    it('a schema without the tables that are read, by its name, and a newer one with a warning', async () => {
      await database(home('strange'), 'agents/main/agent/openclaw-agent.sqlite', ['CREATE TABLE other(x);']);
      await put(home('strange'), 'openclaw.json', '{}');
      const { body } = await http.expect(400, 'POST', '/api/migrate', { source: home('strange') });
      expect(body.error).to.contain('agents/main/agent/openclaw-agent.sqlite').and.to.contain('transcript_events');
      await put(home('newer'), 'openclaw.json', '{}');
      await writeDatabase(home('newer'), 'main', { userVersion: 999, sessions: new Map([[NEW_SESSION, talkEvents(NEW_SESSION)]]) });
      const report = await run(home('newer'), { dry_run: true });
      expect(report.warnings.join()).to.contain('schema 999');
      expect(report.sessions_imported).to.equal(2);
    });
  });

  describe('homes of the user', () => {
    it('finds the homes of the user, and answers 202 where asked', async () => {
      const before = (await http.expect(200, 'GET', '/api/migrate/detect')).body;
      expect(before).to.deep.include({ detected: false, source: null, scan: null, sources: [] });
      await mkdir(home('user'), { recursive: true });
      await writeOlder(home('user/.openclaw-side'));
      const { detected, sources, scan } = (await http.expect(200, 'GET', '/api/migrate/detect')).body;
      expect([detected, sources.length, sources[0].type, sources[0].agents_found, scan.sessions]).to.deep.equal([true, 1, 'openclaw', 2, 2]);
      const started = await http.post('/api/migrate', { source: 'openclaw' }, { prefer: 'respond-async' });
      expect([started.status, started.headers.get('location')]).to.deep.equal([202, `/api/migrate/${started.body.id}`]);
      for (;;) {
        const { ended_at: ended, status } = (await http.expect(200, 'GET', `/api/migrate/${started.body.id}`)).body;
        if (ended === null) continue;
        expect(status).to.equal('completed');
        break;
      }
    });
  });
});
