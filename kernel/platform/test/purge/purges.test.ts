/** Erasing somebody: rows by declaration, the rest by the tap of each area, and receipts for areas that could not. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables, defineRoute, defineTable, DoctorCheck, type Db, type ExtensionContext, type PurgeSubject, reply, type RowOf, StoragePurge, Type } from '@svc/api';
import type { Storage } from '@svc/platform/storage/storage';
import { openStorage } from '@svc/platform/storage/storage';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const Notes = defineTable('notes', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, who: { kind: 'text', notNull: true }, agent: { kind: 'text' }, session: { kind: 'text' } },
  owner: 'who',
  agent: 'agent',
  session: 'session',
});
const Lines = defineTable('lines', '1.0.0', {
  columns: { note: { kind: 'text', notNull: true }, n: { kind: 'integer', notNull: true } },
  primaryKey: ['note', 'n'],
  through: { table: Notes, column: 'note' },
});
const Words = defineTable('words', '1.0.0', { columns: { word: { kind: 'text', primaryKey: true } } });
const ALL = [Notes, Lines, Words];
const MANY = 1_200;

interface Tapped {
  readonly subject: PurgeSubject;
  /** Whether the area's route could be reached then, and how many notes it had. */
  readonly isServing: boolean;
  readonly notes: number;
}

interface World {
  readonly kernel: TestKernel;
  readonly ctx: ExtensionContext;
  readonly taps: Tapped[];
  readonly db: Db;
  /** What the tap does beside noting that it was called. */
  whenTapped(fn: () => void | Promise<void>): void;
}

interface WorldOptions {
  readonly home?: string;
  readonly tables?: readonly string[];
  readonly grants?: readonly string[];
  readonly wrap?: (storage: Storage) => Storage;
  readonly config?: string;
}

const route = defineRoute({
  id: 'listNotes',
  method: 'GET',
  path: '/api/notes',
  summary: 'Notes',
  auth: 'bearer',
  permission: 'notes.read',
  cost: 1,
  responses: { 200: Type.Object({}) },
  handler: async () => reply(200, {}),
});

const openWorld = async ({ home, tables = ALL.map(({ name }) => name), grants = ['purge'], wrap = (storage) => storage, config = '' }: WorldOptions = {}): Promise<World> => {
  const seen: ExtensionContext[] = [];
  const taps: Tapped[] = [];
  let also: () => void | Promise<void> = () => undefined;
  const world: { kernel?: TestKernel } = {};
  const activate = (ctx: ExtensionContext): void => {
    seen.push(ctx);
    ctx.routes.add(route);
    ctx.hooks.tap(StoragePurge, async (subject) => {
      const isServing = world.kernel?.daemon.kernel.routes().some(({ id }) => id === route.id) ?? false;
      taps.push({ subject, isServing, notes: await ctx.db.system('a test').count('notes') });
      await also();
    });
  };
  world.kernel = await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["notes"]\n${config}`,
    ...(home === undefined ? {} : { home }),
    factories: { openStorage: async (options) => wrap(await openStorage(options)) },
    extra: [
      fixtureExtension({
        id: 'notes',
        manifest: { tables: [...tables], hooks: [{ name: 'storage.purge' }], grants: grants.map((grant) => ({ grant, why: 'to erase' })) },
        contributions: { routes: ['GET /api/notes'], migrations: ['0001_init'] },
        definition: { tables: ALL, migrations: [createTables('0001_init', ALL)], activate },
      }),
    ],
  });
  const [ctx] = seen;
  if (!ctx) throw new Error('the area did not start');
  return {
    kernel: world.kernel,
    ctx,
    taps,
    db: world.kernel.daemon.parts.storage.dbFor({ id: 'notes', tables: ALL.map(({ name }) => name) }),
    whenTapped: (fn) => {
      also = fn;
    },
  };
};

type Note = RowOf<typeof Notes>;

const note = (id: string, rest: Partial<Note> = {}): Note => ({ id, who: 'ann', agent: null, session: null, ...rest });

/** Ann's notes, each with a line, and one of Bob's. */
const fill = async (db: Db, count = 1): Promise<void> => {
  const hers = Array.from({ length: count }, (_, n) => note(`a${n}`, { agent: 'robot', session: `s${n}` }));
  await db.commit([db.insert('notes', [...hers, note('b', { who: 'bob', agent: 'other', session: 'sb' })]), db.insert('lines', [...hers.map(({ id }) => ({ note: id, n: 1 })), { note: 'b', n: 1 }])]);
  await db.commit([db.insert('words', [{ word: 'heron' }])]);
};

const left = async (db: Db): Promise<readonly number[]> => [await db.system('a test').count('notes'), await db.system('a test').count('lines'), await db.system('a test').count('words')];

const refusal = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const eventually = async (what: () => Promise<boolean>): Promise<void> => {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe('a purge', () => {
  afterEach(stopTestKernels);

  it('removes the rows of an owner as the tables declare them, with what belongs to them, and nobody else’s', async () => {
    const { ctx, db } = await openWorld();
    await fill(db, MANY);
    expect(await left(db)).to.deep.equal([MANY + 1, MANY + 1, 1]);
    expect(await ctx.purge({ ownerId: 'ann' })).to.deep.include({ complete: true, waiting: [] });
    expect(await left(db)).to.deep.equal([1, 1, 1]);
  });

  it('of an agent or of a session takes no more than that', async () => {
    const { ctx, db } = await openWorld();
    await fill(db, 2);
    await ctx.purge({ sessionId: 's0' });
    expect(await left(db)).to.deep.equal([2, 2, 1]);
    await ctx.purge({ agentId: 'robot' });
    expect(await left(db)).to.deep.equal([1, 1, 1]);
  });

  it('goes in pieces, so that others write between', async () => {
    const sizes: number[] = [];
    const wrap = (storage: Storage): Storage => ({
      ...storage,
      dbFor: (owner) => {
        const db = storage.dbFor(owner);
        if (owner.id !== 'notes' || owner.isPlatform !== true) return db;
        return {
          ...db,
          commit: async (writes) => {
            const result = await db.commit(writes);
            sizes.push(result.changes.reduce((sum, one) => sum + one, 0));
            return result;
          },
        };
      },
    });
    const { ctx, db } = await openWorld({ wrap });
    await fill(db, MANY);
    await ctx.purge({ ownerId: 'ann' });
    expect(Math.max(...sizes)).to.equal(500);
  });

  it('calls the tap of each area, and takes away what running work wrote until the tap ended', async () => {
    const { ctx, db, taps, whenTapped } = await openWorld();
    await fill(db);
    whenTapped(async () => void (await ctx.db.commit([ctx.db.insert('notes', [note('late')])])));
    await ctx.purge({ ownerId: 'ann' });
    expect(taps).to.deep.equal([{ subject: { ownerId: 'ann' }, isServing: true, notes: 1 }]);
    expect(await left(db)).to.deep.equal([1, 1, 1]);
  });

  it('is refused without the grant, and its hook cannot be called by an area', async () => {
    const { ctx, db, taps } = await openWorld({ grants: [] });
    await fill(db);
    expect(await refusal(() => ctx.purge({ ownerId: 'ann' }))).to.equal('daemon_not_granted');
    expect(await refusal(() => ctx.hooks.use(StoragePurge))).to.equal('hook_not_callable');
    expect(await left(db)).to.deep.equal([2, 2, 1]);
    expect(taps).to.deep.equal([]);
  });

  it('names exactly one owner, agent or session', async () => {
    const { ctx, db } = await openWorld();
    await fill(db);
    for (const subject of [{}, { ownerId: '' }, { ownerId: 'ann', agentId: 'robot' }]) expect(await refusal(() => ctx.purge(subject)), JSON.stringify(subject)).to.equal('daemon_bad_purge');
    expect(await left(db)).to.deep.equal([2, 2, 1]);
  });

  it('waits for an area that is off, which erases before it serves anybody', async () => {
    const { kernel, db, taps } = await openWorld();
    await fill(db);
    await kernel.daemon.lifecycle.disable('notes');
    expect(await kernel.daemon.parts.purges.purge({ ownerId: 'ann' })).to.deep.include({ complete: false, waiting: ['notes'] });
    expect(await left(db)).to.deep.equal([2, 2, 1]);
    expect(await kernel.daemon.parts.purges.waiting()).to.deep.equal([{ area: 'notes', purges: 1 }]);
    await kernel.daemon.lifecycle.enable('notes');
    expect(taps).to.deep.equal([{ subject: { ownerId: 'ann' }, isServing: false, notes: 1 }]);
    expect(await left(db)).to.deep.equal([1, 1, 1]);
    expect(await kernel.daemon.parts.purges.waiting()).to.deep.equal([]);
  });

  it('keeps an area from serving that cannot erase, and the doctor says which', async () => {
    const { kernel, db, whenTapped } = await openWorld();
    await fill(db);
    await kernel.daemon.lifecycle.disable('notes');
    await kernel.daemon.parts.purges.purge({ ownerId: 'ann' });
    whenTapped(() => {
      throw new Error('the disk is read only');
    });
    expect(await kernel.daemon.lifecycle.enable('notes')).to.deep.include({ state: 'failed', phase: 'erase', reason: 'the disk is read only' });
    expect(kernel.daemon.kernel.routes().some(({ id }) => id === route.id)).to.equal(false);
    const findings = (await kernel.daemon.parts.hooks.handle(DoctorCheck).call(undefined)).flatMap(({ value }) => value ?? []);
    expect(findings.find(({ check }) => check === 'ErasureCheck')).to.deep.include({ result: 'warn', message: 'Pending erasures in extensions that are off or failed: notes (1).' });
    whenTapped(() => undefined);
    expect(await kernel.daemon.lifecycle.enable('notes')).to.deep.include({ state: 'active' });
    expect(await kernel.daemon.parts.purges.waiting()).to.deep.equal([]);
  });

  it('asks an area again that failed while it runs', async () => {
    const { ctx, kernel, taps, whenTapped } = await openWorld();
    whenTapped(() => {
      if (taps.length === 1) throw new Error('not now');
    });
    expect(await ctx.purge({ ownerId: 'ann' })).to.deep.include({ complete: false, waiting: ['notes'] });
    await eventually(async () => (await kernel.daemon.parts.purges.waiting()).length === 0);
    expect(taps).to.have.length(2);
  });

  it('that was cut off in the middle goes on at the next start', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-purge-'));
    let commits = 0;
    const wrap = (storage: Storage): Storage => ({
      ...storage,
      dbFor: (owner) => {
        const db = storage.dbFor(owner);
        if (owner.id !== 'notes' || owner.isPlatform !== true) return db;
        return {
          ...db,
          commit: (writes) => {
            commits += 1;
            return commits === 2 ? Promise.reject(new Error('the power is gone')) : db.commit(writes);
          },
        };
      },
    });
    const first = await openWorld({ home, wrap });
    await fill(first.db, MANY);
    expect(await first.ctx.purge({ ownerId: 'ann' })).to.deep.include({ waiting: ['notes'] });
    expect((await left(first.db))[1], 'the first piece went').to.equal(MANY + 1 - 500);
    await first.kernel.stop();

    const second = await openWorld({ home });
    expect(await left(second.db)).to.deep.equal([1, 1, 1]);
    expect(second.taps).to.deep.equal([{ subject: { ownerId: 'ann' }, isServing: false, notes: 1 }]);
    expect(await second.kernel.daemon.parts.purges.waiting()).to.deep.equal([]);
    await second.kernel.stop();
    await rm(home, { recursive: true });
  });

  it('that a tap begins is stored, and does not wait for the one it is part of', async () => {
    const { ctx, kernel, taps, whenTapped } = await openWorld();
    whenTapped(async () => {
      if (taps.length === 1) await ctx.purge({ agentId: 'robot' });
    });
    await ctx.purge({ ownerId: 'ann' });
    await eventually(async () => (await kernel.daemon.parts.purges.waiting()).length === 0);
    expect(taps.map(({ subject }) => subject)).to.deep.equal([{ ownerId: 'ann' }, { agentId: 'robot' }]);
  });
});

describe('declared tables', () => {
  afterEach(stopTestKernels);

  it('are those that extension.json names, or the area does not start', async () => {
    const failed = await refusalOfStart(openWorld({ tables: ['notes', 'lines', 'words', 'more'] }));
    expect(failed).to.equal('the area did not serve: tables in extension.json declares the table more, which it does not add');
  });
});

const refusalOfStart = async (opening: Promise<World>): Promise<string> => {
  const { kernel } = await opening;
  const { state, reason } = kernel.daemon.lifecycle.status('notes');
  return state === 'failed' ? `the area did not serve: ${reason}` : state;
};
