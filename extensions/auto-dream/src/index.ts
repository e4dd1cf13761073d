import { Agents, type Agent } from '@svc/ext-agents/contract';
import { Memory } from '@svc/ext-memory/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { type Actor, defineExtension, openResource } from '@svc/api';
import { dreamTables } from '../migrations/0001_init.js';
import { AutoDreamSection } from './config.js';
import { createDreams, type DreamDeps, refusalOf, sessionsSince } from './dreams.js';
import { dreamErrors } from './errors.js';
import { Dreams } from './routes.js';
import { agentShown, NO_MEMORY } from './shown.js';
import { Dream, DreamChanged, DreamRows } from './tables.js';

const TICK_MS = 1_000;

export default defineExtension({
  contract: { Dream, DreamChanged, DreamRows },
  tables: [DreamRows],
  migrations: [dreamTables],
  config: [AutoDreamSection],
  resources: [Dreams],
  commandWords: [
    {
      word: 'auto-dream',
      summary: 'agents that tidy their memory by themselves',
      usage: 'auto-dream status|trigger|abort|set',
      order: 62,
      synonyms: [{ word: 'dream', means: 'auto-dream status', runs: true }],
    },
  ],
  activate(ctx) {
    const { db, events, journal, clock, ids, log, actors, streams } = ctx;
    const agents = ctx.services.require(Agents);
    const sessions = ctx.services.require(Sessions);
    const config = () => ctx.config.get(AutoDreamSection);
    const deps: DreamDeps = {
      db,
      events,
      journal,
      clock,
      ids,
      log,
      actors,
      agents,
      streams,
      sessions,
      runs: ctx.services.require(Runs),
      memory: ctx.services.optional(Memory),
      closing: ctx.signal,
      config,
    };
    const dreams = createDreams(deps);
    const agentOf = async (actor: Actor, id: string): Promise<Agent> => {
      const found = await agents.find(actor, id);
      if (!found) throw dreamErrors.agent_not_found(id);
      return found;
    };
    const open = openResource(Dreams, {
      list: async ({ actor }) => {
        const all = await agents.list(actor);
        const rows = await dreams.rows(
          actor,
          all.map(({ id }) => id),
        );
        const shown = await Promise.all(
          all.map(async (agent) =>
            agentShown(agent, rows.get(agent.id), {
              config: config(),
              now: clock.now(),
              sessions: await sessionsSince(deps, actor, agent.id, rows.get(agent.id)),
              unavailable: refusalOf(deps, agent),
            }),
          ),
        );
        const { enabled, min_hours, min_sessions, check_interval_secs } = config();
        return { enabled, unavailable: deps.memory.value ? null : NO_MEMORY, min_hours, min_sessions, check_interval_secs, lock_dir: '', agents: shown };
      },
      actions: {
        trigger: async ({ actor, key }) => {
          const agent = await agentOf(actor, key);
          const { fired, taskId = null, reason } = await dreams.trigger(agent);
          return { fired, agent_id: agent.id, task_id: taskId, reason };
        },
        abort: async ({ actor, key }) => {
          const agent = await agentOf(actor, key);
          return { ...(await dreams.abort(actor, agent)), agent_id: agent.id };
        },
        setEnabled: async ({ actor, key, body: { enabled } }) => {
          const agent = await agentOf(actor, key);
          await agents.edit(actor, agent.id, { manifest: { auto_dream_enabled: enabled } });
          return { agent_id: agent.id, enabled };
        },
      },
    });
    ctx.routes.add(...open.routes);
    let lastScan = clock.now();
    ctx.timers.every('look-for-dreams', TICK_MS, async () => {
      if (clock.now() - lastScan < config().check_interval_secs * 1_000) return;
      lastScan = clock.now();
      await dreams.scan();
    });
  },
});
