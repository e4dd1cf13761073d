/** How much harm a call can do, by its tool. */
import { matchesAny, type ToolFacts } from '@svc/api';

/** Lowest first. */
export const RISKS = ['low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof RISKS)[number];

const BY_NAME: ReadonlyArray<readonly [risk: Risk, names: readonly string[]]> = [
  ['critical', ['shell_exec', 'process_start', 'agent_spawn', 'agent_kill', 'config_set', 'kernel_reload']],
  ['high', ['file_write', 'web_fetch_to_file', 'file_delete', 'apply_patch', 'mcp_*', 'skill_evolve_*']],
  ['medium', ['web_fetch', 'browser_navigate']],
];
const BY_KIND: Readonly<Record<ToolFacts['risk'], Risk>> = { exec: 'critical', network: 'medium', write: 'medium', agent: 'medium', read: 'low' };

/** `kind` is what the tool declares of itself; undefined for an action that is no tool. */
export const riskOf = (name: string, kind: ToolFacts['risk'] | undefined): Risk => BY_NAME.find(([, names]) => matchesAny(names, name))?.[0] ?? (kind === undefined ? 'low' : BY_KIND[kind]);

export const isAtLeast = (risk: Risk, least: Risk): boolean => RISKS.indexOf(risk) >= RISKS.indexOf(least);
