/** An agent and its dream, as they are answered. */
import type { Agent } from '@svc/ext-agents/contract';
import type { AutoDreamConfig } from './config.js';
import { jsonOf, type Turn } from './dreams.js';
import { gatesOf, nextAt } from './due.js';
import type { DreamRow, PHASES, STATES } from './tables.js';

export const NO_MEMORY = 'The extension memory is off: svc ext enable memory';
const HOUR_MS = 3_600_000;

interface Beside {
  readonly config: AutoDreamConfig;
  readonly now: number;
  readonly sessions: number;
  readonly unavailable: string | undefined;
}

interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

const msOf = (at: string | null | undefined): number | null => (at === null || at === undefined ? null : Date.parse(at));

export const agentShown = (agent: Agent, row: DreamRow | undefined, { config, now, sessions, unavailable }: Beside) => {
  const { minHours, minSessions } = gatesOf(agent, config);
  return {
    id: agent.id,
    agent_id: agent.id,
    agent_name: agent.name,
    auto_dream_enabled: agent.manifest.auto_dream_enabled === true,
    last_consolidated_at_ms: msOf(row?.consolidated_at),
    next_eligible_at_ms: nextAt(row, { minHours, minSessions }) ?? null,
    hours_since_last: row ? Math.round(((now - Date.parse(row.started_at)) / HOUR_MS) * 100) / 100 : null,
    sessions_since_last: sessions,
    effective_min_hours: minHours,
    effective_min_sessions: minSessions,
    lock_path: `database: the work auto-dream:${agent.id}`,
    can_abort: row?.status === 'running' && row.run_id !== null,
    progress: row ? progressOf(row) : null,
    unavailable: unavailable ?? null,
  };
};

const progressOf = (row: DreamRow) => ({
  task_id: row.task_id,
  agent_id: row.agent_id,
  started_at_ms: Date.parse(row.started_at),
  ended_at_ms: msOf(row.ended_at),
  status: row.status as (typeof STATES)[number],
  phase: row.phase as (typeof PHASES)[number],
  tool_use_count: row.tool_use_count,
  memories_touched: jsonOf<string[]>(row.memories_touched),
  turns: jsonOf<Turn[]>(row.turns),
  error: row.error,
  usage: row.usage === null ? null : jsonOf<Usage>(row.usage),
});
