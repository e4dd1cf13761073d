import { Agents } from '@svc/ext-agents/contract';
import { RunContext } from '@svc/ext-runs/contract';
import { cacheRows, defineExtension, openCollection, type OpenCollection, StoragePurge, whenKnown } from '@svc/api';
import { Goals } from './contract.js';
import * as contract from './contract.js';
import { promptOf } from './prompt.js';
import { goalActions, listGoalTemplates } from './routes.js';
import { goalRules } from './rules.js';
import { goalUpdate } from './tool.js';

export default defineExtension({
  contract,
  collections: [Goals],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const goals: OpenCollection<typeof Goals.spec.fields> = openCollection(ctx, Goals, { ...goalRules({ ctx, agents }), actions: goalActions(() => goals) });
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
    // A goal stays when its agent goes, and waits for another one.
    ctx.hooks.tap(StoragePurge, async ({ agentId }) => {
      if (agentId !== undefined) await ctx.db.commit(await goals.detach('agent_id', agentId));
    });
  },
});
