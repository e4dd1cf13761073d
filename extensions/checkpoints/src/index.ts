import { Agents } from '@svc/ext-agents/contract';
import { CheckpointTake, defineExtension, StoragePurge, ToolBefore } from '@svc/api';
import { CheckpointsSection } from './config.js';
import { CheckpointsChanged } from './contract.js';
import * as contract from './contract.js';
import { createRepositories } from './repositories.js';
import { checkpointRoutes } from './routes.js';
import { createCheckpoints } from './service.js';
import { WORKERS } from './workers/operations.js';

/** Of the listeners that may deny a call. */
const AFTER_ALL = 100;

export default defineExtension({
  contract,
  config: [CheckpointsSection],
  workers: WORKERS,
  commandWords: [
    {
      word: 'checkpoints',
      summary: 'snapshots of the files of an agent',
      usage: 'checkpoints list|show|restore',
      order: 33,
      module: 'checkpoints',
      synonyms: [{ word: 'checkpoint', means: 'checkpoints' }],
    },
  ],
  activate(ctx) {
    const repositories = createRepositories({ root: ctx.files.root('checkpoints'), workers: ctx.workers, clock: ctx.clock, ids: ctx.ids });
    const checkpoints = createCheckpoints({
      repositories,
      agents: ctx.services.require(Agents),
      workspaces: ctx.files.root('workspaces').path,
      settings: () => ctx.config.get(CheckpointsSection),
      log: ctx.log,
      clock: ctx.clock,
      changed: (agentId, ownerId, restored) => ctx.events.publish(CheckpointsChanged, { agentId, ownerId, restored }),
    });
    ctx.routes.add(...checkpointRoutes(checkpoints));
    ctx.hooks.tap(CheckpointTake, checkpoints.take);
    // An agent reads before it writes: while the model thinks about what it read, the thread of snapshots starts.
    ctx.hooks.tap(
      ToolBefore,
      () => {
        if (ctx.config.get(CheckpointsSection).enabled) repositories.warm();
        return undefined;
      },
      { stage: AFTER_ALL },
    );
    ctx.hooks.tap(StoragePurge, async ({ agentId }) => (agentId === undefined ? undefined : checkpoints.forget(agentId)));
    // What a tool wrote last is noted before the pool closes.
    ctx.onDispose('operations of snapshot repositories', repositories.idle);
  },
});
