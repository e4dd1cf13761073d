import { Agents } from '@svc/ext-agents/contract';
import { createRunEnds, RunContext, RunEnded, RunHalt, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { cacheRows, defineExtension, openCollection, type OpenCollection, StorageMoved, StoragePurge, whenKnown } from '@svc/api';
import { Goals } from './contract.js';
import * as contract from './contract.js';
import { goalTables } from '../migrations/0001_tables.js';
import { promptOf } from './prompt.js';
import { goalActions, listGoalTemplates } from './routes.js';
import { goalRules } from './rules.js';
import { createRunner, type Runner } from './runner.js';
import { goalUpdate } from './tool.js';

export default defineExtension({
  contract,
  collections: [Goals],
  tables: [contract.GoalRunRows],
  migrations: [goalTables],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const goals: OpenCollection<typeof Goals.spec.fields> = openCollection(ctx, Goals, {
      ...goalRules({ ctx, agents }),
      actions: goalActions(
        () => goals,
        () => runner,
      ),
    });
    const { db, journal, clock, ids, log, actors } = ctx;
    const runner: Runner = createRunner({
      db,
      journal,
      clock,
      ids,
      log,
      actors,
      agents,
      runs: ctx.services.require(Runs),
      sessions: ctx.services.require(Sessions),
      ends: createRunEnds((over) => ctx.events.on(RunEnded, over), log, 'Work at a goal was not woken at the end of a turn; it looks again within a minute.'),
      closing: ctx.signal,
      goal: (owner, id) => goals.find(owner, id),
      report: (owner, id, change) => goals.update(owner, id, change),
    });
    ctx.hooks.tap(RunHalt, ({ actor, runId, isRoot, why }) => runner.halt(actor, runId, isRoot, why));
    ctx.routes.add(...goals.routes, listGoalTemplates);
    ctx.tools.add(goalUpdate(goals));
    // Most agents have no goal: a message of theirs costs no read.
    const prompts = cacheRows<string>(ctx.clock);
    ctx.events.on(Goals.changed, () => prompts.clear());
    ctx.hooks.tap(RunContext, (system, { agent }) =>
      whenKnown(
        prompts.read(agent.id, () => promptOf(ctx.db.as(ctx.actors.of(agent.ownerId)), agent.id)),
        (said) => [system, said].filter((text) => text !== '').join('\n\n'),
      ),
    );
    ctx.hooks.tap(StorageMoved, async () => prompts.clear());
    // A goal stays when its agent goes, and waits for another one.
    ctx.hooks.tap(StoragePurge, async ({ agentId }) => {
      if (agentId !== undefined) await ctx.db.commit(await goals.detach('agent_id', agentId));
    });
  },
});
