import { Agents, type AgentsService } from '@svc/ext-agents/contract';
import { RunContext, Uploads } from '@svc/ext-runs/contract';
import { type Actors, type PurgeSubject, StoragePurge, defineExtension } from '@svc/api';
import { uploads as uploadTables } from '../migrations/0001_uploads.js';
import { bin as binColumns } from '../migrations/0002_bin.js';
import { createAttachments, removePlaced } from './attachments/attachments.js';
import { PdfText } from './workers/pdf-worker.js';
import { MaxUploadSetting, UploadsSection } from './config.js';
import { FilesChanged, Workspaces } from './contract.js';
import * as contract from './contract.js';
import { uploadRoutes } from './routes/upload-routes.js';
import { workspaceRoutes } from './routes/workspace-routes.js';
import { BlobRows, OrphanRows, UploadRows } from './tables.js';
import { createUploads } from './uploads/service.js';
import { createIdentityTexts } from './workspace/identity-texts.js';
import { createFileBin } from './workspace/file-bin.js';
import { createFilesService } from './workspace/service.js';
import { servedWorkspaces } from './workspace/served.js';

const SWEEP_EVERY_MS = 600_000;
/** Not at the start itself, which has enough to do. */
const FIRST_SWEEP_MS = 15_000;
const SWEPT_AT_ONCE = 100;

export default defineExtension({
  contract,
  tables: [UploadRows, BlobRows, OrphanRows],
  migrations: [uploadTables, binColumns],
  config: [MaxUploadSetting, UploadsSection],
  workers: [PdfText],
  commandWords: [{ word: 'files', summary: 'the workspace of an agent', usage: 'files list|get|put|rm|upload', order: 32, module: 'files' }],
  activate(ctx) {
    const workspaces = ctx.files.root('workspaces');
    const agents = ctx.services.require(Agents);
    const uploads = createUploads({ db: ctx.db, trash: ctx.trash, root: ctx.files.root('uploads'), ids: ctx.ids, clock: ctx.clock, log: ctx.log, config: ctx.config });
    ctx.services.provide(Uploads, createAttachments({ uploads, workspaces, workers: ctx.workers, clock: ctx.clock, log: ctx.log, memoryBytes: () => process.memoryUsage.rss() }));
    const identity = createIdentityTexts({ workspaces, clock: ctx.clock, log: ctx.log });
    ctx.hooks.tap(RunContext, (system, { agent }) => {
      const said = identity.of(agent.id);
      return typeof said === 'string' ? joined(system, said) : said.then((text) => joined(system, text));
    });
    const notify = (change: FilesChanged): void => ctx.events.publish(FilesChanged, change);
    const files = createFilesService(workspaces, (agentId) => identity.forget(agentId));
    ctx.services.provide(Workspaces, servedWorkspaces(agents, files));
    ctx.routes.add(...workspaceRoutes({ agents, files, bin: createFileBin({ uploads, agents, files }), notify }), ...uploadRoutes(agents, uploads, notify));
    ctx.hooks.tap(StoragePurge, async (subject) => {
      for (const agentId of await agentsOf(ctx.actors, agents, subject)) await removePlaced(workspaces, agentId);
      await uploads.letGoUnnamed();
    });
    const sweep = async (): Promise<void> => {
      await uploads.eraseOverdue(ctx.actors.system('deleted files whose time is over'));
      await uploads.sweep(SWEPT_AT_ONCE);
    };
    ctx.timers.after('sweep-uploads-first', FIRST_SWEEP_MS, sweep);
    ctx.timers.every('sweep-uploads', SWEEP_EVERY_MS, sweep);
  },
});

const joined = (system: string, text: string): string => [system, text].filter((part) => part !== '').join('\n\n');

/** Whose workspaces an erasure is about: what belongs to it goes, before the agents themselves do. */
const agentsOf = async (actors: Actors, agents: AgentsService, { agentId, ownerId }: PurgeSubject): Promise<string[]> => {
  if (agentId !== undefined) return [agentId];
  if (ownerId === undefined) return [];
  return (await agents.list(actors.system('purge'))).filter((agent) => agent.ownerId === ownerId).map(({ id }) => id);
};
