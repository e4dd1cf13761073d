/** Who is erased leaves no word in any row: a conversation, an agent, a person, each with runs and stored answers. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { engineInUse } from '@svc/testing/postgres/engines';
import { expect } from 'chai';

const ROOT = 'purged-root-key';
const ALICE = 'purged-alice-key';
const CONFIG = `api_key = "${ROOT}"\n${OPEN_RATE}[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(ALICE).digest('hex')}"\n`;
const MANY = 1_000;

describeDaemonOnEngines('a purge through the daemon', () => {
  let kernel: TestKernel;
  let alice: TestHttp;
  let home: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-purged-'));
    kernel = await bootTestKernel({ config: CONFIG, home });
    alice = kernel.as(ALICE);
  });
  after(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const rows = async (sql: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
    kernel.daemon.parts.storage
      .dbFor({ id: 'journal', tables: ['runs'], isPlatform: true })
      .system('a test')
      .read<Record<string, unknown>>(sql);

  /** The tables with a row that holds the word, whatever the column. */
  const tablesWith = async (word: string): Promise<string[]> => {
    const isSqlite = engineInUse() === 'SQLite';
    const tables = isSqlite
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%!_!_words!_%' ESCAPE '!'"
      : "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'";
    const found: string[] = [];
    for (const { name } of await rows(tables)) {
      const text = isSqlite ? await sqliteText(String(name)) : 't::text';
      if ((await rows(`SELECT 1 AS n FROM "${String(name)}" AS t WHERE ${text} LIKE '%${word}%' LIMIT ${MANY}`)).length > 0) found.push(String(name));
    }
    return found.sort();
  };
  const sqliteText = async (table: string): Promise<string> =>
    (await rows(`SELECT name FROM pragma_table_info('${table}')`)).map(({ name }) => `COALESCE(CAST("${String(name)}" AS TEXT), '')`).join(" || ' ' || ");

  const agent = async (name: string): Promise<string> => (await alice.expect(201, 'POST', '/api/agents', { manifest: { name } }, { 'idempotency-key': `agent ${name}` })).body.agent_id;
  const say = async (agentId: string, message: string, sessionId?: string): Promise<void> => {
    const body = { message, ...(sessionId === undefined ? {} : { session_id: sessionId }) };
    await alice.expect(200, 'POST', `/api/agents/${agentId}/message`, body, { 'idempotency-key': message.slice(0, 40) });
  };

  it('of a conversation takes its runs and stored answers, and leaves those of the agent', async () => {
    const id = await agent('robin');
    await say(id, 'hello otterword');
    const { session_id: first } = (await alice.expect(200, 'GET', `/api/agents/${id}/session`)).body;
    const { session_id: second } = (await alice.expect(200, 'POST', `/api/sessions/${first}/branch`, { label: 'weaselword' }, { 'idempotency-key': 'branch' })).body;
    await say(id, 'hello weaselword', second);
    await say(id, '/btw is it a weaselword?', second);
    expect(await tablesWith('weaselword')).to.include.members(['journal__runs', 'sessions__sessions']);

    await alice.expect(200, 'DELETE', `/api/sessions/${second}?erase=true`);
    expect(await tablesWith('weaselword')).to.deep.equal([]);
    expect(await tablesWith('otterword')).to.include('journal__runs');
  });

  it('of an agent takes its runs and the stored answer that made it', async () => {
    const id = await agent('magpie');
    await say(id, 'hello magpieword');
    expect(await tablesWith('magpieword')).to.include('journal__runs');
    await alice.expect(200, 'DELETE', `/api/agents/${id}?erase=true`);
    expect(await tablesWith('magpieword')).to.deep.equal([]);
  });

  /** Words are indexed soon after they are said, and other areas erase soon after a conversation is closed. */
  const until = async (word: string, isThere: (tables: readonly string[]) => boolean): Promise<void> => {
    for (let tries = 0; tries < 100 && !isThere(await tablesWith(word)); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await tablesWith(word), word).to.satisfy(isThere);
  };
  const atRest = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await kernel.daemon.parts.storage.tend();
  };
  /** Files of the home with the word in their bytes. An index stores small letters, and of a word what differs from the one before. */
  const filesWith = async (word: string): Promise<string[]> => {
    const found: string[] = [];
    for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name), 'latin1')).toLowerCase().includes(word.slice(2))) found.push(entry.name);
    }
    return found.sort();
  };

  it('leaves no word in any file of the home, once the database rests: of messages, a conversation, an agent and a person', async () => {
    const wren = await agent('wren');
    const finch = await agent('finch');
    const [owner] = await rows(`SELECT owner_id FROM agents__agents WHERE id = '${finch}'`);
    const current = async (agentId: string): Promise<string> => (await alice.expect(200, 'GET', `/api/agents/${agentId}/session`)).body.session_id;
    const erasures: ReadonlyArray<readonly [string, string, () => Promise<unknown>]> = [
      [
        wren,
        'zimessagez',
        async () => {
          const id = await current(wren);
          await alice.expect(200, 'DELETE', `/api/agents/${wren}/history`);
          // The sweep moves it into the bin; from there it can be erased.
          for (let tries = 0; tries < 100 && (await alice.delete(`/api/sessions/${id}?erase=true`)).status !== 200; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
        },
      ],
      [wren, 'xisessionx', async () => alice.expect(200, 'DELETE', `/api/sessions/${await current(wren)}?erase=true`)],
      [wren, 'jiagentwj', () => alice.expect(200, 'DELETE', `/api/agents/${wren}?erase=true`)],
      [
        finch,
        'kipersonk',
        async () => {
          // What lies in the bin goes with the person.
          await alice.expect(200, 'DELETE', `/api/agents/${finch}`);
          await kernel.daemon.parts.purges.purge({ ownerId: String(owner?.owner_id) });
        },
      ],
    ];
    const isSqlite = engineInUse() === 'SQLite';
    for (const [agentId, word, erase] of erasures) {
      await say(agentId, `a ${word} is said`);
      await until(word, (tables) => tables.includes('sessions__said'));
      await atRest();
      if (isSqlite) expect(await filesWith(word), word).to.include('svc.db');
      await erase();
      await until(word, (tables) => tables.length === 0);
      await atRest();
      // A rest soon after another one leaves the index as it is for a while.
      for (let tries = 0; tries < 100 && (await filesWith(word)).length > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
      await atRest();
      expect(await filesWith(word), word).to.deep.equal([]);
    }
  });

  it('of a person takes all of it, also from the bytes of the database file', async () => {
    const id = await agent('swift');
    await say(id, `hello swallowword ${'x'.repeat(10_000)}`);
    const [owner] = await rows("SELECT owner_id FROM journal__runs WHERE input LIKE '%agentId%' ORDER BY position DESC LIMIT 1");
    expect(await kernel.daemon.parts.purges.purge({ ownerId: String(owner?.owner_id) })).to.deep.include({ complete: true, waiting: [] });
    expect(await tablesWith('swallowword')).to.deep.equal([]);
    expect(await rows(`SELECT id FROM journal__runs WHERE owner_id = '${String(owner?.owner_id)}'`)).to.deep.equal([]);
    if (engineInUse() !== 'SQLite') return;
    await kernel.stop();
    for (const name of await readdir(home, { recursive: true })) if (name.includes('.db')) expect(await readFile(join(home, name), 'latin1'), name).not.to.contain('hello swallowword');
  });
});
