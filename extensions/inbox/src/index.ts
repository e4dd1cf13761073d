import { defineExtension, Nullable, reply, routeGroup, Type } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Approvals } from '@svc/ext-approvals/contract';
import { TaskCounts } from '@svc/ext-queue/contract';
import { Runs } from '@svc/ext-runs/contract';
import { InboxSection } from './config.js';
import { createFolder } from './folder.js';

const SECOND_MS = 1_000;
const Count = Type.Integer({ minimum: 0 });
const route = routeGroup({ area: 'inbox' });

const InboxStatus = Type.Object(
  {
    enabled: Type.Boolean(),
    directory: Type.String({ description: 'Text files in it become messages; those that were taken are in its folder processed' }),
    poll_interval_secs: Type.Integer(),
    default_agent: Nullable(Type.String()),
    pending_count: Type.Integer({ description: 'Files that wait' }),
    processed_count: Type.Integer({ description: 'Files in processed, 1,000 at most' }),
    skipped: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() }), { description: 'Files that were left where they are, and why' }),
    sources: Type.Object({ files: Count, approvals: Count, tasks: Count }, { description: 'What waits: files, requests for approval, and tasks that nobody has begun' }),
    total: Count,
  },
  { 'x-name': 'InboxStatus' },
);

export default defineExtension({
  config: [InboxSection],
  commands: [
    {
      command: 'inbox status',
      summary: 'show what waits: files, approvals and tasks',
      operation: 'getInboxStatus',
      output: { kind: 'record', fields: ['enabled', 'directory', 'pending_count', 'processed_count', 'sources.approvals', 'sources.tasks', 'total'] },
    },
  ],
  commandWords: [{ word: 'inbox', summary: 'what waits for you and your agents', usage: 'inbox status', order: 40 }],
  activate(ctx) {
    const [approvals, tasks] = [ctx.services.optional(Approvals), ctx.services.optional(TaskCounts)];
    const settings = () => ctx.config.get(InboxSection);
    const dir = ctx.files.root('inbox');
    // The folder is the machine owner's.
    const owner = ctx.actors.of('owner');
    const folder = createFolder({ dir, owner, log: ctx.log, agents: ctx.services.require(Agents), runs: ctx.services.require(Runs), settings });
    let lookedAt = 0;
    ctx.timers.every('read-inbox', SECOND_MS, async () => {
      if (!settings().enabled || ctx.clock.now() - lookedAt < settings().poll_interval_secs * SECOND_MS) return;
      lookedAt = ctx.clock.now();
      await folder.look();
    });
    ctx.routes.add(
      route({
        id: 'getInboxStatus',
        method: 'GET',
        path: '/api/inbox/status',
        summary: 'Get what waits, by source',
        description: 'Files count for the owner of the daemon alone; approvals and tasks are those that you may see.',
        responses: { 200: InboxStatus },
        handler: async ({ actor }) => {
          const { enabled, poll_interval_secs, default_agent } = settings();
          const files = actor.ownerId === owner.ownerId ? await folder.status() : { pending: 0, processed: 0, skipped: [] };
          const sources = { files: files.pending, approvals: (await approvals.value?.waiting(actor)) ?? 0, tasks: (await tasks.value?.waiting(actor)) ?? 0 };
          return reply(200, {
            enabled,
            directory: actor.ownerId === owner.ownerId ? dir.path : '',
            poll_interval_secs,
            default_agent: default_agent ?? null,
            pending_count: files.pending,
            processed_count: files.processed,
            skipped: [...files.skipped],
            sources,
            total: sources.files + sources.approvals + sources.tasks,
          });
        },
      }),
    );
  },
});
