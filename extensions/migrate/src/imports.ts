/** Starting imports, and looking at sources. */
import type { Actor, Ids, Plain } from '@svc/api';
import { type ImportRow, Migrating } from './contract.js';
import { migrateErrors } from './errors.js';
import { changed, type DriveDeps, driveImport } from './importing/drive.js';
import { reportOf } from './report.js';
import type { Detected, MigrateBody, Report, Scan } from './shapes.js';
import { reasonOf } from './sources/files.js';
import type { Source } from './sources/model.js';

export interface ImportsDeps extends DriveDeps {
  readonly ids: Pick<Ids, 'uuid'>;
}

type Wish = Plain<typeof MigrateBody>;

export interface Imports {
  detect(): Promise<Plain<typeof Detected>>;
  scan(path: string): Promise<Plain<typeof Scan>>;
  /** Throws where the source is unknown, or cannot be opened. `ended` resolves when this process is done with it. */
  start(actor: Actor, wish: Wish): Promise<{ readonly id: string; readonly ended: Promise<void> }>;
  report(actor: Actor, id: string): Promise<Plain<typeof Report>>;
}

const AT_ONCE = 2;

export const createImports = (deps: ImportsDeps): Imports => {
  const { finder, store } = deps;
  const worker = deps.journal.worker(Migrating, { concurrency: AT_ONCE, drive: (run) => driveImport(deps, run) });
  const looked = async <T>(type: Source['type'], path: string, look: (source: Source) => Promise<T>): Promise<T> => {
    const source = await finder.open(type, path);
    try {
      return await look(source);
    } finally {
      await source.close();
    }
  };
  return {
    detect: async () => {
      const found = await finder.homes();
      const sources = await Promise.all(
        found.map(async ({ type, path }) => {
          try {
            return await looked(type, path, (source) =>
              Promise.resolve({ type, path, version: source.version, agents_found: source.agents.length, skills_found: source.skills.length, problem: null }),
            );
          } catch (error) {
            return { type, path, version: null, agents_found: 0, skills_found: 0, problem: reasonOf(error) };
          }
        }),
      );
      const [first] = sources;
      const scan = first?.problem === null ? await looked(first.type, first.path, scanOf) : null;
      return { detected: first !== undefined, source: first?.type ?? null, path: first?.path ?? null, scan, sources };
    },
    scan: async (path) => {
      const found = await finder.find(path.startsWith('/') || path.startsWith('~') ? path : `/${path}`, path);
      return looked(found.type, found.path, scanOf);
    },
    start: async (actor, wish) => {
      if (wish.target_dir !== undefined && wish.target_dir !== '') throw migrateErrors.target_dir();
      if (wish.import_secrets === true && actor.role !== 'owner' && actor.role !== 'system') throw migrateErrors.secrets_denied();
      const { type, path } = await finder.find(wish.source, wish.source_dir);
      if (await store.running(actor.ownerId, path)) throw migrateErrors.busy();
      const row = rowOf(deps, actor, type, path, wish);
      const { leased } = await deps.journal.open({ id: row.id, kind: Migrating.name, actor, lane: `migrate:${actor.ownerId}:${path}`, input: { importId: row.id } }, [
        store.insert(row),
        ...(await store.dropOld(actor.ownerId)),
        changed(deps, row, 'queued'),
      ]);
      return { id: row.id, ended: leased ? worker.take(leased) : Promise.resolve() };
    },
    report: async (actor, id) => {
      const row = await store.find(actor, id.toLowerCase());
      if (!row) throw migrateErrors.not_found(id);
      return reportOf(store, row);
    },
  };
};

const rowOf = ({ ids, clock }: ImportsDeps, actor: Actor, source: string, path: string, wish: Wish): ImportRow => {
  const { source: _source, source_dir: _dir, target_dir: _target, dry_run: isDry = false, ...options } = wish;
  return {
    id: ids.uuid(),
    owner_id: actor.ownerId,
    source,
    path,
    options: JSON.stringify(options),
    dry_run: isDry ? 1 : 0,
    status: 'queued',
    step: 'waiting',
    total: 0,
    warnings: '[]',
    error: null,
    created_at: clock.iso(),
    ended_at: null,
  };
};

const scanOf = async (source: Source): Promise<Plain<typeof Scan>> => {
  const agents: Array<Plain<typeof Scan>['agents'][number]> = [];
  for (const agent of source.agents) {
    agents.push({
      name: agent.name,
      description: agent.description,
      format: agent.format,
      convertible: true,
      provider: agent.provider,
      model: agent.model,
      tool_count: agent.tools.length,
      has_memory: agent.memories.length + agent.pairs.length > 0,
      has_sessions: await hasAny(source.sessions(agent.key)),
      has_workspace: agent.files.length > 0,
    });
  }
  const memories = source.agents.reduce((sum, agent) => sum + agent.memories.length + agent.pairs.length, 0);
  return {
    type: source.type,
    path: source.dir.path,
    version: source.version,
    has_config: source.hasConfig,
    agents,
    skills: source.skills.map(({ name }) => ({ name, format: 'SKILL.md', convertible: true })),
    sessions: await source.countSessions(),
    memories,
    crons: source.crons.length,
    channels: [...source.channels],
    secrets: source.secrets.map(({ name }) => name),
    has_memory: memories > 0,
    warnings: [...source.warnings],
  };
};

const hasAny = async (items: AsyncIterable<unknown>): Promise<boolean> => {
  for await (const _ of items) return true;
  return false;
};
