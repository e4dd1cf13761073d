import { type Actor, defineExtension, openResource } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { a2aTables } from '../migrations/0001_init.js';
import { commands } from './commands.js';
import { RemoteAgents, RemoteTasks } from './contract.js';
import { createRemotes } from './remote.js';
import { restRoutes } from './official/rest.js';
import { officialRoutes } from './official/routes.js';
import { localRoutes, served, showTasks } from './routes.js';
import { A2aSection } from './shapes.js';
import { RemoteAgentRows, RemoteTaskRows } from './tables.js';
import { askRemote } from './tool.js';

const PRUNE_MS = 3_600_000;

export default defineExtension({
  tables: [RemoteAgentRows, RemoteTaskRows],
  migrations: [a2aTables],
  resources: [RemoteAgents, RemoteTasks],
  config: [A2aSection],
  commands,
  activate(ctx) {
    const remotes = createRemotes(ctx);
    const agents = openResource(RemoteAgents, {
      list: ({ actor }) => remotes.list(actor),
      get: ({ actor, key }) => remotes.find(actor, key),
      actions: {
        discover: ({ actor, body }) => remotes.discover(actor, body.url),
        send: ({ actor, body }) => remotes.send(actor, body.agent_id, body.message),
      },
    });
    const tasks = openResource(RemoteTasks, {
      get: async ({ actor, key }) => {
        const task = await remotes.task(actor, key.toLowerCase());
        return task && { id: task.task_id, ...task };
      },
      actions: {
        status: async ({ item: { task_id, status } }) => ({ task_id, status }),
        send: ({ actor, body }) => remotes.send(actor, body.agent_id, body.message),
      },
    });
    showTasks(ctx.streams);
    const settings = () => ctx.config.get(A2aSection);
    const local = { agents: ctx.services.require(Agents), runs: ctx.services.require(Runs), actors: ctx.actors, settings };
    const { streams, clock, ids, db } = ctx;
    const deps = { ...local, streams, clock, ids, db, sessions: ctx.services.require(Sessions), served: (actor: Actor) => served(local, actor) };
    const official = [...officialRoutes(deps), ...restRoutes(deps)];
    ctx.routes.add(...agents.routes, ...tasks.routes, ...localRoutes(local), ...official);
    ctx.tools.add(askRemote(remotes));
    ctx.timers.every('prune-remote-tasks', PRUNE_MS, () => remotes.prune());
  },
});
