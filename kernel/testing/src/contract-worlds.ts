/** The daemons in which extensions pass the contract suite: each made by the first claim that asks, and ended with the suite. */
/// <reference types="mocha" />
import { createHash } from 'node:crypto';
import type { Db, ExtensionDefinition } from '@svc/api';
import type { InstalledFiles } from '@svc/daemon';
import { expect } from 'chai';
import type { TestHttp } from './test-http.js';
import { OPEN_RATE, type TestKernel, stopTestKernels } from './test-kernel.js';

const ROOT = 'contract-root-key';
const KEYS = { alice: 'contract-alice-key', bob: 'contract-bob-key' };
/** A word that stands in everything alice does, and nowhere else. */
export const MARK = 'heronmark';

/** Two people; one of them has an agent that has talked and worked. */
export interface World {
  readonly kernel: TestKernel;
  readonly root: TestHttp;
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly agentId: string;
  readonly sessionId: string;
  readonly ownerId: string;
}

/** Rows that name who is gone, in one column of a table of an area. */
interface Left {
  readonly area: string;
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

export interface Purged {
  readonly ofAgent: readonly Left[];
  readonly ofOwner: readonly Left[];
}

/** Code that was loaded once more and dropped. */
interface Loaded {
  /** What was open afterwards and not before. */
  readonly opened: number;
  /** It was not collected. */
  readonly isReachable: boolean;
}

export interface ContractWorlds {
  /** What came of loading the code of each extension into this process, by id. */
  loaded(): Promise<ReadonlyMap<string, Loaded>>;
  /** For claims that leave it as it is, so that their order does not matter. */
  standing(): Promise<TestKernel>;
  /** For claims of third parties, who change nothing. */
  people(): Promise<World>;
  /** For claims that switch extensions, and leave all of them on. */
  changing(): Promise<TestKernel>;
  /** What was left of an agent that was killed, and then of its owner who was purged. */
  purged(): Promise<Purged>;
  /** For claims that send what nobody should. */
  misused(): Promise<World>;
}

/** For the extensions `ids`, all of them on; `boot` is given the text of config.toml, `load` loads code where the daemon does not. Call it in `describe`. */
export const contractWorlds = (ids: readonly string[], boot: (config: string) => Promise<TestKernel>, load?: () => Promise<ExtensionDefinition>): ContractWorlds => {
  after(stopTestKernels);
  const enable = `${OPEN_RATE}[extensions]\nenable = ${JSON.stringify(ids)}\n`;
  const plain = (): Promise<TestKernel> => boot(enable);
  const inhabited = (): Promise<World> => inhabit(enable, boot);
  const standing = once(plain);
  return {
    standing,
    loaded: once(async () => loadAll(await standing(), ids, load)),
    people: once(inhabited),
    changing: once(plain),
    purged: once(async () => purge(await inhabited(), ids)),
    misused: once(inhabited),
  };
};

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** All of them at once: a collection takes longer than all else here. */
const loadAll = async (kernel: TestKernel, ids: readonly string[], load: (() => Promise<ExtensionDefinition>) | undefined): Promise<ReadonlyMap<string, Loaded>> => {
  const all: Array<{ readonly id: string; readonly opened: number; readonly definition: WeakRef<ExtensionDefinition> }> = [];
  for (const id of ids) {
    const before = process.getActiveResourcesInfo().length;
    const definition = new WeakRef(await (load ?? installedOf(kernel, id).load)());
    all.push({ id, opened: process.getActiveResourcesInfo().length - before, definition });
  }
  for (let tries = 0; tries < 50 && all.some(({ definition }) => definition.deref()); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    globalThis.gc?.();
  }
  return new Map(all.map(({ definition, id, opened }) => [id, { opened, isReachable: definition.deref() !== undefined }]));
};

export const installedOf = (kernel: TestKernel, id: string): InstalledFiles => {
  const installed = kernel.daemon.installed.get(id);
  if (!installed) throw new Error(`the extension ${id} is not installed`);
  return installed;
};

const inhabit = async (enable: string, boot: (config: string) => Promise<TestKernel>): Promise<World> => {
  const people = Object.entries(KEYS).map(([name, key]) => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(key).digest('hex')}"\n`);
  const kernel = await boot(`api_key = "${ROOT}"\n${enable}${people.join('')}`);
  const [alice, bob] = [kernel.as(KEYS.alice), kernel.as(KEYS.bob)];
  const { agent_id: agentId } = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: `${MARK}-agent` } })).body;
  for (const message of [`what time is it, ${MARK}?`, `write ${MARK} to log.txt`]) await alice.expect(200, 'POST', `/api/agents/${agentId}/message`, { message });
  const db = kernel.daemon.parts.storage.dbFor({ id: 'agents', tables: ['agents'] });
  const row = await db.system('a test').first<{ owner_id: string; session_id: string }>({ from: 'agents', where: { id: agentId } });
  if (!row) throw new Error('the agent was not stored');
  return { kernel, root: kernel.as(ROOT), alice, bob, agentId, sessionId: row.session_id, ownerId: row.owner_id };
};

/** The agent is killed, then its owner, who has another one, is purged. */
const purge = async (world: World, ids: readonly string[]): Promise<Purged> => {
  const { agentId, alice, kernel, ownerId, sessionId } = world;
  const tables = (await Promise.all(ids.map((id) => tablesOf(kernel, id)))).flat();
  const left = (column: string, value: string): Promise<Left[]> =>
    Promise.all(
      tables.filter(({ columns }) => columns.has(column)).map(async ({ area, db, name }) => ({ area, table: name, column, rows: await db.system('a test').count(name, { [column]: value }) })),
    );
  const { agent_id: other } = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: `${MARK}-other` } })).body;
  await alice.expect(200, 'POST', `/api/agents/${other}/message`, { message: 'what time is it?' });
  await alice.expect(200, 'DELETE', `/api/agents/${agentId}?erase=true`);
  const ofAgent = [...(await left('agent_id', agentId)), ...(await left('session_id', sessionId))];
  expect(await kernel.daemon.parts.purges.purge({ ownerId })).to.deep.include({ complete: true, waiting: [] });
  return { ofAgent, ofOwner: await left('owner_id', ownerId) };
};

interface Table {
  readonly area: string;
  readonly name: string;
  readonly db: Db;
  readonly columns: ReadonlySet<string>;
}

const tablesOf = async (kernel: TestKernel, area: string): Promise<Table[]> => {
  const tables = kernel.daemon.installed.get(area)?.manifest.tables ?? [];
  const { storage } = kernel.daemon.parts;
  const db = storage.dbFor({ id: area, tables });
  // Which columns there are is asked of the engine, past what an area may ask.
  const all = storage.dbFor({ id: area, tables, isPlatform: true });
  const columnsOf = (table: string): string =>
    storage.dialect === 'sqlite' ? `SELECT name FROM pragma_table_info('${table}')` : `SELECT column_name::text AS name FROM information_schema.columns WHERE table_name = '${table}'`;
  return Promise.all(
    tables.map(async (name) => {
      const columns = await all.system('a test').read<{ name: string }>(columnsOf(db.table(name)));
      return { area, name, db, columns: new Set(columns.map((column) => column.name)) };
    }),
  );
};
