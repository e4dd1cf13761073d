import { AgentChanged, Agents } from '@svc/ext-agents/contract';
import { Runs } from '@svc/ext-runs/contract';
import { defineExtension, type Disposable, openResource, type RouteDecl } from '@svc/api';
import { promptTables } from '../migrations/0001_init.js';
import { createArms } from './arms.js';
import { PromptSection } from './config.js';
import * as contract from './contract.js';
import { promptErrors } from './errors.js';
import { createExperiments } from './experiments.js';
import { createTrials } from './trials.js';
import { createVersions } from './versions.js';

export default defineExtension({
  contract,
  tables: [contract.VersionRows, contract.ExperimentRows, contract.ArmRows, contract.TrialRows],
  migrations: [promptTables],
  config: [PromptSection],
  resources: [contract.PromptVersions, contract.PromptExperiments],
  commandWords: [
    { word: 'prompts', summary: 'versions of the prompts of agents', usage: 'prompts list|create|get|delete|activate', order: 41 },
    { word: 'experiments', summary: 'experiments that compare prompts', usage: 'experiments list|create|get|start|pause|complete|metrics', order: 42 },
  ],
  activate(ctx) {
    const { db, events, clock, ids } = ctx;
    const agents = ctx.services.require(Agents);
    const isOn = (): boolean => ctx.config.get(PromptSection).enabled;
    const versions = createVersions({ db, events, clock, ids, agents });
    const trials = createTrials(ctx, ctx.services.require(Runs));
    const experiments = createExperiments({ db, events, clock, ids, agents }, versions, trials);
    const arms = createArms(ctx, trials);
    const parent = (actor: Parameters<typeof agents.get>[0], id: string) => agents.get(actor, id);
    /** The next message meets the arms that are current when the answer is there. */
    const seen = async <A>(moved: Promise<A>): Promise<A> => {
      const answer = await moved;
      await arms.refreshLater();
      return answer;
    };
    const ofVersions = openResource(contract.PromptVersions, {
      parent,
      list: ({ actor, params }) => versions.list(actor, String(params.agent_id)),
      create: ({ actor, params, body }) =>
        versions.save(actor, String(params.agent_id), { ...body, tools: JSON.stringify(body.tools), variables: JSON.stringify(body.variables), created_by: body.created_by || actor.ownerId }),
      get: ({ actor, key }) => versions.get(actor, key),
      delete: async ({ actor, item }) => versions.remove(actor, item),
      actions: { activate: ({ actor, item }) => versions.activate(actor, item.id) },
    });
    const ofExperiments = openResource(contract.PromptExperiments, {
      parent,
      list: ({ actor, params }) => experiments.list(actor, String(params.agent_id)),
      create: ({ actor, params, body }) => experiments.create(actor, String(params.agent_id), body),
      get: ({ actor, key }) => experiments.get(actor, key),
      actions: {
        start: ({ actor, item }) => seen(experiments.move(actor, item.id, 'running')),
        pause: ({ actor, item }) => seen(experiments.move(actor, item.id, 'paused')),
        complete: ({ actor, item, body }) => seen(experiments.complete(actor, item, body?.winner_variant_id)),
        metrics: async ({ actor, item }) => {
          const numbers = await experiments.numbersOf(actor, item);
          return { ...numbers, total: numbers.metrics.length };
        },
      },
    });
    const guarded = (route: RouteDecl): RouteDecl => ({
      ...route,
      handler: async (req) => {
        if (!isOn()) throw promptErrors.off();
        return route.handler(req);
      },
    });
    const routes = [...ofVersions.routes, ...ofExperiments.routes].map(guarded);
    ctx.routes.add(...routes, ...routes.map((route) => ({ ...route, id: `${route.id}BelowApi`, path: `/api${route.path}` })));
    let live: Disposable[] = [];
    const apply = (): void => {
      if (!isOn()) {
        for (const one of live) one.dispose();
        live = [];
        arms.close();
      } else if (live.length === 0) {
        live = [
          ctx.events.on(contract.PromptsChanged, () => arms.refreshLater()),
          ctx.events.on(AgentChanged, ({ agentId, ownerId }) => versions.track(ctx.actors.of(ownerId), agentId)),
          ctx.timers.every('running-experiments', 30_000, () => arms.refreshLater()),
        ];
        void arms.refreshLater();
      }
    };
    ctx.config.onChange(PromptSection, apply);
    apply();
  },
});
