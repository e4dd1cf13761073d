/** Imports over HTTP. A home holds what people said elsewhere, and their secrets: for admins and owners. */
import { reply, type RouteDecl, routeGroup, type Clock } from '@svc/api';
import { migrateErrors } from './errors.js';
import type { Imports } from './imports.js';
import { Detected, ImportPath, MigrateBody, Report, Scan, ScanBody, Started } from './shapes.js';

const route = routeGroup({ area: 'migrate', errors: [403] });
const COST = 100;
/** A request that takes longer is answered with the id. */
const ANSWER_MS = 60_000;

export interface MigrateRouteDeps {
  readonly imports: Imports;
  readonly clock: Pick<Clock, 'sleep'>;
}

export const migrateRoutes = ({ imports, clock }: MigrateRouteDeps): RouteDecl[] => [
  route({
    id: 'discoverMigrationSources',
    method: 'GET',
    path: '/api/migrate/detect',
    summary: 'Find homes of other programs',
    description:
      'Looks at the usual homes of OpenClaw, LibreFang, OpenFang, Letta and Hermes of the user that runs the daemon, and at the folders under `[migrate] roots`. It reads, and changes nothing.',
    permission: 'migrate.admin',
    cost: 10,
    errors: [409],
    responses: { 200: Detected },
    handler: async () => reply(200, await imports.detect()),
  }),
  route({
    id: 'scanMigrationSource',
    method: 'POST',
    path: '/api/migrate/scan',
    summary: 'Show what a home holds',
    description: 'Agents, skills, conversations, memories, jobs and channels of one home, and the names of its secrets. It reads, and changes nothing. Only folders that imports may read are taken.',
    permission: 'migrate.admin',
    cost: 10,
    errors: [400, 409],
    body: ScanBody,
    examples: {
      'the usual home': { path: '~/.openclaw' },
      'a copy of a home': { path: '/srv/old-home/.librefang' },
      'agent files of Letta': { path: '~/.letta' },
    },
    responses: { 200: Scan },
    handler: async ({ body: { path } }) => reply(200, await imports.scan(path)),
  }),
  route({
    id: 'startMigration',
    method: 'POST',
    path: '/api/migrate',
    summary: 'Import from another program',
    description:
      'Imports agents, conversations, memories, skills and jobs. The source is only read. What was imported before is not imported again, and each item that does not come along is named with the reason. ' +
      'Channels stay off, and secrets come only with `import_secrets`. With `Prefer: respond-async`, or after a minute, the answer is 202 with an id, and GET /api/migrate/{id} shows how far it is. An import goes on after a restart of the daemon.',
    permission: 'migrate.admin',
    cost: COST,
    audit: 'migration_started',
    auditCategory: 'settings',
    errors: [400, 409],
    body: MigrateBody,
    examples: {
      'all of the usual home': { source: 'openclaw' },
      'what would come': { source: 'librefang', dry_run: true },
      'conversations of one agent': { source: '~/.openclaw', agents: ['main'], import_skills: false, import_crons: false },
    },
    responses: { 200: Report, 202: Started },
    handler: async ({ actor, body, headers }) => {
      const { id, ended } = await imports.start(actor, body);
      const isAsync = /\brespond-async\b/i.test(headers.prefer ?? '');
      const stop = new AbortController();
      if (!isAsync) await Promise.race([ended, clock.sleep(ANSWER_MS, stop.signal).catch(() => undefined)]);
      stop.abort();
      const report = await imports.report(actor, id);
      if (!isAsync && report.status === 'failed') throw migrateErrors.failed(report.error ?? '');
      return !isAsync && report.status === 'completed'
        ? reply(200, report)
        : reply(202, { id, status: report.status }, { location: `/api/migrate/${id}`, ...(isAsync ? { 'preference-applied': 'respond-async' } : {}) });
    },
  }),
  route({
    id: 'getMigration',
    method: 'GET',
    path: '/api/migrate/{id}',
    summary: 'Show an import',
    description: 'How far it is while it runs, and its report once it has ended. The lists have 5,000 items at most; the counts are of all.',
    permission: 'migrate.admin',
    errors: [400, 404],
    params: ImportPath,
    responses: { 200: Report },
    handler: async ({ actor, params: { id } }) => reply(200, await imports.report(actor, id)),
  }),
];
