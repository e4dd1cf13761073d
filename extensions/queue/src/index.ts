import { defineExtension, StoragePurge } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { NoticesServed } from '@svc/ext-notices/contract';
import { createRunEnds, RunEnded, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { boardTables } from '../migrations/0001_board.js';
import { createBoard } from './board/board.js';
import { TaskBoardSection } from './board/board-rows.js';
import { boardTools } from './board/tools.js';
import { createWakes } from './board/wakes.js';
import { commands, commandWords } from './commands.js';
import * as contract from './contract.js';
import { queueRoutes } from './routes.js';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

export default defineExtension({
  contract,
  tables: [contract.BoardRows],
  migrations: [boardTables],
  config: [TaskBoardSection],
  commands,
  commandWords,
  resources: [contract.Tasks],
  activate(ctx) {
    const { db, events, clock, log } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const settings = () => ctx.config.get(TaskBoardSection);
    const wakes = createWakes({
      db,
      journal: ctx.journal,
      clock,
      log,
      actors: ctx.actors,
      agents,
      runs,
      sessions: ctx.services.require(Sessions),
      notices: ctx.services.optional(NoticesServed),
      ends: createRunEnds((ended) => events.on(RunEnded, ended), log, 'A task was not looked at when its agent had answered; svc looks again within a minute.'),
      closing: ctx.signal,
      settings,
    });
    const board = createBoard({ db, events, clock, ids: ctx.ids, actors: ctx.actors, agents, runs, settings, commit: wakes.commit });
    let sweptAt = clock.now();
    ctx.timers.every('sweep-claims', SECOND_MS, async () => {
      if (clock.now() - sweptAt < settings().sweep_interval_secs * SECOND_MS) return;
      sweptAt = clock.now();
      await board.sweep();
    });
    ctx.timers.every('prune-tasks', HOUR_MS, () => board.prune());
    // Its tasks stay on the board, for whoever claims them.
    ctx.hooks.tap(StoragePurge, async ({ agentId }) => {
      if (agentId !== undefined) await db.commit([db.sql(`UPDATE ${db.table('board')} SET assigned_to = NULL WHERE assigned_to = ?`, [agentId])]);
    });
    ctx.services.provide(contract.TaskCounts, { waiting: async (actor) => (await runs.taskCounts(actor)).queued + (await board.counts(actor)).pending });
    ctx.routes.add(...queueRoutes({ agents, runs, board }));
    ctx.tools.add(...boardTools(board));
  },
});
