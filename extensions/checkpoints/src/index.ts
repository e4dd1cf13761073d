import { Agents } from '@svc/ext-agents/contract';
import { CheckpointTake, defineExtension, type DirEntry, DoctorCheck, type DoctorFinding, StoragePurge, ToolAfter, ToolBefore } from '@svc/api';
import { CheckpointsSection } from './config.js';
import { CheckpointsChanged } from './contract.js';
import * as contract from './contract.js';
import { createRepositories } from './repositories.js';
import { checkpointRoutes } from './routes.js';
import { createCheckpoints } from './service.js';
import { WORKERS } from './workers/operations.js';

/** Of the listeners that may deny a call. */
const AFTER_ALL = 100;
const MAX_WHY = 300;

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
    ctx.hooks.tap(DoctorCheck, async () => brokenFinding(await ctx.files.root('checkpoints').list()));
    ctx.routes.add(...checkpointRoutes(checkpoints));
    ctx.hooks.tap(CheckpointTake, checkpoints.take);
    ctx.hooks.tap(ToolAfter, (output, { call }) => {
      const why = checkpoints.noteOn(call.callId);
      return why === undefined ? undefined : { ...output, content: `${output.content}\n\n[svc: What this call changed cannot be undone: ${why.slice(0, MAX_WHY)}.]` };
    });
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

/** Undo history that is gone from the lists is not gone from the disk: a person is shown where it is. */
const brokenFinding = (entries: readonly DirEntry[]): readonly DoctorFinding[] => {
  const broken = entries.filter(({ name }) => /\.broken(?:-\d)?$/.test(name)).map(({ name }) => `checkpoints/${name}`);
  if (broken.length === 0) return [];
  return [
    {
      check: 'CheckpointsCheck',
      result: 'warn',
      message: `Earlier snapshots of ${broken.length === 1 ? 'an agent' : 'agents'} could not be read and were moved aside: ${broken.slice(0, 5).join(', ')}. New snapshots are taken.`,
      fix: 'Each is a git repository: look into it with git fsck and git log, and delete the folder when you need nothing of it.',
    },
  ];
};
