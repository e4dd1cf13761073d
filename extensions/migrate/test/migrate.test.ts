/** Imports of homes in the formats of the programs, over HTTP. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { AGENT, JSON_SESSION, MESSAGES, SESSION, writeLibreFang } from './homes/librefang.js';
import { ARCHIVED_SESSION, DELETED_SESSION, NEW_SESSION, OLD_SESSION, talkEvents, writeDatabase, writeOlder } from './homes/openclaw.js';
import { hashes, lines } from './homes/write.js';

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
    const config = `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('ada', 'admin')}${person('alice', 'user')}[migrate]\nroots = ["${folder}"]\n`;
    kernel = await bootTestKernel({ config, key: keyOf('root'), env: { HOME: join(folder, 'user') } });
    http = kernel.as(keyOf('root'));
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });
  const home = (name: string): string => join(folder, name);
  const run = async (source: string, more: object = {}, as = http) => (await as.expect(200, 'POST', '/api/migrate', { source, ...more })).body;
  const reasonsOf = (report: { skipped: Item[] }, kind: string): Record<string, string> => Object.fromEntries(report.skipped.filter((one) => one.kind === kind).map(({ name, reason }) => [name, reason]));
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
      expect(Object.values(reasonsOf(report, 'Secret'))).to.include('secrets are imported only with import_secrets');
    });

    it('names never become paths or TOML', async () => {
      const { agents } = (await http.expect(200, 'GET', '/api/agents?limit=500')).body;
      const work = agents.find(({ name }: { name: string }) => name.includes('"work"'));
      expect(work.name).to.equal('.. .. etc "work" [x]');
    });

    it('times, tool calls and branches stay, and the words are found', async () => {
      const { results } = await found('zanzibar invoice');
      const [{ session_id: id }] = results;
      const session = (await http.expect(200, 'GET', `/api/sessions/${id}`)).body;
      expect(JSON.stringify(session)).to.contain('invoices.md').and.to.contain('zanzibar: paid').and.to.contain('2025-05-06T10:05:00.000Z');
      const listed = (await http.expect(200, 'GET', '/api/sessions?tag=openclaw&limit=50')).body.sessions;
      expect(listed.map(({ is_chosen: isChosen, label }: { is_chosen: boolean; label: string }) => [label, isChosen])).to.deep.include.members([
        ['Invoices', true],
        ['Invoices', false],
      ]);
      const [other] = listed.filter(({ is_chosen: isChosen }: { is_chosen: boolean }) => !isChosen);
      expect(other.branched_from).to.equal(listed.find(({ label, is_chosen: isChosen }: { label: string; is_chosen: boolean }) => label === 'Invoices' && isChosen).id);
      expect(JSON.stringify((await http.expect(200, 'GET', `/api/sessions/${other.id}`)).body)).to.contain('The first branch.').and.not.to.contain('paid in May');
      expect(listed.every(({ tags }: { tags: string[] }) => tags.includes('imported'))).to.equal(true);
      expect((await found('quokkas')).results).to.have.length(1);
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
      expect((await found('zanzibar invoice')).results).to.have.length(1);
    });
  });
});
