/** Claims of the contract suite about rows of people and about what strangers send. */
import { createHash } from 'node:crypto';
import type { Db, RouteDecl } from '@svc/api';
import { expect } from 'chai';
import type { TestHttp } from './test-http.js';
import { OPEN_RATE, type TestKernel, type TestKernelOptions } from './test-kernel.js';

type Boot = (rest?: TestKernelOptions) => Promise<TestKernel>;

const ROOT = 'contract-root-key';
const KEYS = { alice: 'contract-alice-key', bob: 'contract-bob-key' };
/** A word that stands in everything alice does, and nowhere else. */
const MARK = 'heronmark';

export interface PeopleOptions {
  /** Tables whose rows of an agent outlive it, because they are its owner's books. */
  readonly keeps: readonly string[];
}

/** Claims that leave the world as it is. */
export function strangerClaims(id: string, world: () => Promise<World>): void {
  it("shows nobody another person's rows, and lets nobody change them", async () => {
    const place = await world();
    for (const { value: decl } of place.kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id)) {
      const path = pathOf(decl, place);
      const { status, text } = await place.bob.send(decl.method, path, decl.body ? {} : undefined);
      expect(text, `${decl.id} shows it`).to.not.contain(MARK);
      if (path.includes(place.agentId)) expect(status, `${decl.id} for a stranger: ${text}`).to.be.oneOf([400, 403, 404]);
    }
    expect((await place.alice.expect(200, 'GET', `/api/agents/${place.agentId}`)).text).to.contain(MARK);
  });

  it('refuses every route that is not public without the key', async () => {
    const { kernel } = await world();
    for (const { value: decl } of kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id && row.value.auth !== 'public')) {
      const { status, body } = await kernel.as('').send(decl.method, pathOf(decl, await world()), decl.method === 'GET' ? undefined : {});
      expect([status, typeof body.error], decl.id).to.deep.equal([401, 'string']);
    }
  });

  it('opens no socket without the key', async () => {
    const { kernel } = await world();
    for (const { value: decl } of kernel.daemon.parts.http.sockets.active().filter((row) => row.owner.id === id && row.value.auth !== 'public')) {
      expect((await kernel.as('').get(pathOf(decl, await world()))).status, decl.id).to.equal(401);
    }
  });
}

/** Claims that change theirs. */
export function purgeClaims(id: string, boot: Boot, options: PeopleOptions): void {
  it('keeps nothing of an agent that was killed, and nothing of an owner who is purged', async () => {
    const world = await inhabited(id, boot);
    const tables = await tablesOf(world.kernel, id);
    const { agent_id: other } = (await world.alice.expect(201, 'POST', '/api/agents', { manifest: { name: `${MARK}-other` } })).body;
    await world.alice.expect(200, 'POST', `/api/agents/${other}/message`, { message: 'what time is it?' });
    await world.alice.expect(200, 'DELETE', `/api/agents/${world.agentId}`);
    for (const { name, db, columns } of tables) {
      const named = [...columns].filter((column) => column === 'agent_id' || column === 'session_id');
      if (options.keeps.includes(name)) continue;
      for (const column of named) expect(await count(db, name, column, column === 'agent_id' ? world.agentId : world.sessionId), `${name}.${column} of the agent`).to.equal(0);
    }
    expect(await world.kernel.daemon.parts.purges.purge({ ownerId: world.ownerId })).to.deep.include({ complete: true, waiting: [] });
    for (const { name, db, columns } of tables) if (columns.has('owner_id')) expect(await count(db, name, 'owner_id', world.ownerId), `${name} of the owner`).to.equal(0);
  });

  it('refuses a body of another kind than it declares, and never breaks on one', async () => {
    const world = await inhabited(id, boot);
    for (const { value: decl } of world.kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id && row.value.body)) {
      for (const body of ['[]', '"text"', '7', 'null']) {
        const { status, text } = await world.kernel.as(ROOT).send(decl.method, pathOf(decl, world), body);
        expect(status, `${decl.id} with ${body}: ${text}`).to.equal(400);
      }
      const odd = await world.kernel.as(ROOT).send(decl.method, pathOf(decl, world), { nobody_declared_this: { deep: [MARK] } });
      expect(odd.status, `${decl.id} with an unknown key: ${odd.text}`).to.be.below(500);
    }
  });
}

export interface World {
  readonly kernel: TestKernel;
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly agentId: string;
  readonly sessionId: string;
  readonly ownerId: string;
}

/** Two people; one of them has an agent that has talked and worked, and that agent has made another. */
export async function inhabited(id: string, boot: Boot): Promise<World> {
  const people = Object.entries(KEYS).map(([name, key]) => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(key).digest('hex')}"\n`);
  const kernel = await boot({ config: `api_key = "${ROOT}"\n${OPEN_RATE}[extensions]\nenable = ["${id}"]\n${people.join('')}` });
  const [alice, bob] = [kernel.as(KEYS.alice), kernel.as(KEYS.bob)];
  const { agent_id: agentId } = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: `${MARK}-agent` } })).body;
  for (const message of [`what time is it, ${MARK}?`, `write ${MARK} to log.txt`]) await alice.expect(200, 'POST', `/api/agents/${agentId}/message`, { message });
  const db = kernel.daemon.parts.storage.dbFor({ id: 'agents', tables: ['agents'] });
  const row = await db.system('a test').first<{ owner_id: string; session_id: string }>({ from: 'agents', where: { id: agentId } });
  if (!row) throw new Error('the agent was not stored');
  return { kernel, alice, bob, agentId, sessionId: row.session_id, ownerId: row.owner_id };
}

interface Table {
  readonly name: string;
  readonly db: Db;
  readonly columns: ReadonlySet<string>;
}

async function tablesOf(kernel: TestKernel, id: string): Promise<Table[]> {
  const tables = kernel.daemon.installed.get(id)?.manifest.tables ?? [];
  const { storage } = kernel.daemon.parts;
  const db = storage.dbFor({ id, tables });
  // Which columns there are is asked of the engine, past what an area may ask.
  const all = storage.dbFor({ id, tables, isPlatform: true });
  const columnsOf = (table: string): string =>
    storage.dialect === 'sqlite' ? `SELECT name FROM pragma_table_info('${table}')` : `SELECT column_name::text AS name FROM information_schema.columns WHERE table_name = '${table}'`;
  return Promise.all(
    tables.map(async (name) => {
      const columns = await all.system('a test').read<{ name: string }>(columnsOf(db.table(name)));
      return { name, db, columns: new Set(columns.map((column) => column.name)) };
    }),
  );
}

const count = (db: Db, table: string, column: string, value: string): Promise<number> => db.system('a test').count(table, { [column]: value });

const pathOf = (decl: Pick<RouteDecl, 'path'>, world: World): string =>
  decl.path.replaceAll(/\{\*?([^}]+)\}/g, (_whole, name: string) => (name === 'session_id' ? world.sessionId : /(^|_)id$/.test(name) ? world.agentId : 'nothing-of-that-name'));
