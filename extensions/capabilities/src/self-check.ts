/** What /api/security shows: the rules are asked about cases whose answer is known. */
import type { Capabilities, SecurityLook } from '@svc/api';
import { escalationOf } from './inheritance.js';

const NONE: Capabilities = {
  tools: ['file_read'],
  network: [],
  memory_read: [],
  memory_write: [],
  shell: [],
  agent_spawn: false,
  agent_message: [],
  file_system: true,
  max_llm_tokens_per_hour: 1_000,
};

const NO_LIMITS = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };

const rights = (changes: Partial<Capabilities>) => ({
  capabilities: { ...NONE, ...changes },
  resources: NO_LIMITS,
  autonomous: { max_iterations: 50 },
  tool_allowlist: [],
  tool_blocklist: [],
  tools_disabled: false,
});

const ESCALATIONS: readonly Partial<Capabilities>[] = [
  { tools: [] },
  { tools: ['file_read', 'shell_exec'] },
  { shell: ['*'] },
  { network: ['example.org'] },
  { shell: ['git *'] },
  { network: ['10.0.0.0/8'] },
  { agent_spawn: true },
  { declared: { declared_by_nobody: true } },
  { max_llm_tokens_per_hour: null },
];

export const lookAtInheritance = (): SecurityLook => {
  const same = escalationOf(rights({}), rights({}));
  if (same !== undefined) return { state: 'failed', detail: `A child with the rights of its parent would be refused, for ${same}.` };
  const passed = ESCALATIONS.filter((more) => escalationOf(rights({}), rights(more)) === undefined).flatMap((more) => Object.keys(more));
  if (passed.length > 0) return { state: 'failed', detail: `A child could have more than its parent: ${passed.join(', ')}.` };
  return { state: 'active', detail: `${ESCALATIONS.length} children with more than their parent were refused (tools, shell, network, spawning, tokens); one with the same rights was not.` };
};
