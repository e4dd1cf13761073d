import { type Actor, defineExtension, KernelReady, openCollection, type OpenCollection } from '@svc/api';
import { AgentChanged, Agents, AgentSpawned, AgentSpawning } from '@svc/ext-agents/contract';
import { createRunEnds, RunEnded, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { Workflows } from '@svc/ext-workflows/contract';
import { triggerTables } from '../migrations/0001_tables.js';
import { TriggersSection } from './config.js';
import * as contract from './contract.js';
import { COMMON_SOURCES, type FireRow, type Trigger, Triggers } from './contract.js';
import { createEngine } from './engine.js';
import { createFires } from './fires.js';
import { createManifestTriggers } from './manifest-triggers.js';
import { hookInRoute } from './hook-in.js';
import { ownSources } from './own-sources.js';
import { hookOf } from './pattern.js';
import { countersOf, triggerRules } from './rules.js';
import { whyOf } from './why.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MAX_COOLDOWN_MS = 8 * DAY_MS;
const MAX_SHOWN = 200;
const MAX_TRIGGERS = 10_000;

const shown = ({ owner_id: _owner, trigger_id: _trigger, agent_id: _agent, event_key: _key, origin: _origin, prompt: _prompt, root_id: _root, status, ...row }: FireRow): contract.Fire => ({
  ...row,
  status: status as contract.Fire['status'],
}); // the engine writes no other

const HOOKS_IN = '/api/hooks/in/';
const hookPathOf = ({ id, pattern }: Pick<Trigger, 'id' | 'pattern'>): string | null => (hookOf(pattern) ? `${HOOKS_IN}${id}` : null);

export default defineExtension({
  contract,
  collections: [Triggers],
  tables: [contract.CounterRows, contract.CooldownRows, contract.FireRows, contract.ManifestRows, contract.CallRows, contract.RotationRows],
  migrations: [triggerTables],
  config: [TriggersSection],
  commands: [{ command: 'triggers why', summary: 'say why a trigger did or did not fire', operation: 'listTriggerHistory', args: ['id'], output: { kind: 'line', text: '{why}' } }],
  commandWords: [
    {
      word: 'triggers',
      summary: 'when something happens: list, create, history',
      usage: 'triggers list|create|get|update|history|why|delete',
      order: 35,
      synonyms: [
        { word: 'why trigger', means: 'triggers why', runs: true, takesArguments: true },
        { word: 'trigger list', means: 'triggers list', runs: true, takesArguments: true },
        { word: 'trigger create', means: 'triggers create', runs: true, takesArguments: true },
      ],
    },
  ],
  activate(ctx) {
    const { db, events, journal, clock, ids, log, actors } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const workflows = ctx.services.optional(Workflows);
    const settings = () => ctx.config.get(TriggersSection);
    const rotations = contract.createRotations({ db, secrets: ctx.secrets, clock }, contract.RotationRows.name);
    const nameOf = (trigger: Pick<Trigger, 'id'>): string => triggers.secretOf(trigger, 'secret');
    const triggers: OpenCollection<typeof Triggers.spec.fields> = openCollection(ctx, Triggers, {
      ...triggerRules({ db, agents, workflows, maxPerAgent: () => settings().max_per_agent, changingSecret: (item, next) => rotations.changing(item, nameOf(item), next) }),
      computed: async (items) => {
        const counters = await countersOf(
          { db },
          items.map(({ id }) => id),
        );
        return items.map((item) => ({ ...item, fire_count: counters.get(item.id)?.fire_count ?? 0, last_fired_at: counters.get(item.id)?.last_fired_at ?? null, hook_path: hookPathOf(item) }));
      },
      answers: {
        create: ({ id, agent_id, target_agent_id, workflow_id, pattern }) => ({
          trigger_id: id,
          agent_id,
          ...(hookOf(pattern) ? { hook_path: `${HOOKS_IN}${id}` } : {}),
          ...(target_agent_id === null ? {} : { target_agent_id }),
          ...(workflow_id === null ? {} : { workflow_id }),
        }),
        delete: ({ id }) => ({ status: 'removed', trigger_id: id }),
      },
      actions: {
        history: async ({ actor, item }) => {
          const reader = db.as(actor);
          const rows = await reader.select<FireRow>({ from: 'fires', where: { trigger_id: item.id }, order: [{ column: 'fired_at', descending: true }, { column: 'id' }], limit: MAX_SHOWN });
          const [total, counters] = await Promise.all([reader.count('fires', { trigger_id: item.id }), countersOf({ db }, [item.id])]);
          return { history: rows.map(shown), total, why: whyOf(item, counters.get(item.id)?.fire_count ?? 0, rows) };
        },
      },
    });
    const fires = createFires({
      db,
      journal,
      clock,
      log,
      actors,
      agents,
      runs,
      sessions: ctx.services.require(Sessions),
      workflows,
      ends: createRunEnds((ended) => events.on(RunEnded, ended), log, 'A trigger was not woken at the end of its run; it looks again within a minute.'),
      closing: ctx.signal,
      trigger: (ownerId, id) => triggers.find(actors.of(ownerId), id),
    });
    const all: Actor = actors.system('triggers that are enabled');
    const sources = [...COMMON_SOURCES.filter(({ kinds }) => !kinds.includes('trigger_fired')), ...ownSources(ids)];
    const engine = createEngine({
      db,
      events,
      journal,
      clock,
      ids,
      log,
      actors,
      agents,
      runs,
      sources,
      fires,
      settings,
      read: async () => (await triggers.list(all, { limit: MAX_TRIGGERS })).rows.filter(({ enabled }: Trigger) => enabled),
    });
    const ofManifests = createManifestTriggers({ actors, agents, db, log, schemas: ctx.schemas, triggers, workflows });
    ctx.hooks.tap(AgentSpawning, ({ actor, manifest }) => ofManifests.verdict(actor, manifest));
    for (const event of [AgentSpawned, AgentChanged]) events.on(event, ({ ownerId, agentId }) => ofManifests.reconcile(ownerId, agentId));
    ctx.hooks.tap(KernelReady, async () => {
      await engine.reload();
      await fires.look();
      await engine.receive({ kind: 'system', ownerId: null, key: `started:${ids.uuid()}`, subject: 'daemon', text: 'The daemon started.', data: {} });
    });
    // A daemon whose events were lost, or an extension that was switched on later.
    ctx.timers.every('read-triggers', MINUTE_MS, () => engine.reload());
    ctx.timers.every('prune-fires', HOUR_MS, async () => {
      const before = new Date(clock.now() - settings().keep_history_days * DAY_MS).toISOString();
      const cooled = new Date(clock.now() - MAX_COOLDOWN_MS).toISOString();
      await db.commit([
        db.remove('fires', { fired_at: { lt: before }, status: ['ok', 'error', 'skipped'] }, { expect: 'any' }),
        db.remove(contract.CallRows.name, { created_at: { lt: new Date(clock.now() - contract.CALLS_KEPT_MS).toISOString() } }, { expect: 'any' }),
        db.remove('cooldowns', { fired_at: { lt: cooled } }, { expect: 'any' }),
      ]);
      await rotations.prune();
      await triggers.sweepSecrets();
    });
    const hookIn = hookInRoute({ db, actors, clock, ids, secrets: ctx.secrets, engine, find: (id) => triggers.find(all, id), secretsOf: (trigger) => rotations.standing(trigger.id, nameOf(trigger)) });
    ctx.routes.add(...triggers.routes, hookIn);
  },
});
