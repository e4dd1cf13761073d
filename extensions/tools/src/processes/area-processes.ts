/** Processes as the area has them: what ends them from outside, and when. */
import { type ExtensionContext, StoragePurge } from '@svc/api';
import { AgentChanged, type AgentsService } from '@svc/ext-agents/contract';
import type { ReachOf } from '../builtin/command-start.js';
import { createWorkspaces } from '../builtin/workspace.js';
import { createProcessStore } from './process-rows.js';
import { createProcesses, type Processes } from './processes.js';

export const openProcesses = (ctx: ExtensionContext, agents: Pick<AgentsService, 'get'>, reachOf: ReachOf): Processes => {
  const processes = createProcesses({
    store: createProcessStore(ctx.db),
    journal: ctx.journal,
    agents,
    workspaces: createWorkspaces(ctx.files.root('workspaces')),
    reachOf,
    spawn: (command, args, options) => ctx.spawn(command, args, options),
    endSurvivors: (key) => ctx.endSurvivors(key),
    clock: ctx.clock,
    ids: ctx.ids,
    log: ctx.log,
    actors: ctx.actors,
  });
  ctx.hooks.tap(StoragePurge, ({ agentId, ownerId }) => processes.endAll({ agentId, ownerId }, agentId === undefined ? 'its owner left' : 'the agent was killed'));
  ctx.events.on(AgentChanged, ({ agentId }) => processes.review(agentId));
  // Children are ended before this; their ends are written down while the leases are still held.
  ctx.onDispose('write down how processes ended', () => processes.gone());
  return processes;
};
