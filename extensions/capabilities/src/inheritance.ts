/**
 * A child has no more than its parent.
 *
 * I1  Every grant of the child is covered by one of the parent's; what cannot be shown to be covered is not.
 * I2  Whatever narrows the parent's tools narrows the child's.
 */
import { type Capabilities, matchesHost, matchesPattern } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';

type Rights = Pick<AgentManifest, 'capabilities' | 'tool_allowlist' | 'tool_blocklist' | 'tools_disabled'>;
type Matches = (pattern: string, value: string) => boolean;

const LISTS = ['network', 'memory_read', 'memory_write', 'shell', 'agent_message'] as const satisfies readonly (keyof Capabilities)[];
const FLAGS = ['agent_spawn', 'file_system'] as const satisfies readonly (keyof Capabilities)[];

/** What the child would have beyond its parent, in words; undefined when nothing. */
export const escalationOf = (parent: Rights, child: Rights): string | undefined => {
  const mine = parent.capabilities;
  const theirs = child.capabilities;
  // An empty list of tools is every tool.
  const tool = uncovered(mine.tools.length > 0 ? mine.tools : ['*'], theirs.tools.length > 0 ? theirs.tools : ['*']);
  if (tool !== undefined) return `the tool ${tool}`;
  for (const key of LISTS) {
    const extra = uncovered(mine[key], theirs[key], key === 'network' ? matchesHost : matchesPattern);
    if (extra !== undefined) return `${key} ${extra}`;
  }
  for (const key of FLAGS) if (theirs[key] && !mine[key]) return key;
  if (exceeds(theirs.max_llm_tokens_per_hour, mine.max_llm_tokens_per_hour)) return `more than ${mine.max_llm_tokens_per_hour} model tokens per hour`;
  return narrowingLost(parent, child);
};

const narrowingLost = (parent: Rights, child: Rights): string | undefined => {
  if (parent.tools_disabled && !child.tools_disabled) return 'tools, which the parent has none of';
  const freed = parent.tool_blocklist.find((blocked) => uncovered(child.tool_blocklist, [blocked]) !== undefined);
  if (freed !== undefined) return `the tool ${freed}, which the parent's tool_blocklist takes away`;
  if (parent.tool_allowlist.length === 0) return undefined;
  const extra = uncovered(parent.tool_allowlist, child.tool_allowlist.length > 0 ? child.tool_allowlist : ['*']);
  return extra === undefined ? undefined : `the tool ${extra}, which is not in the parent's tool_allowlist`;
};

/** The first pattern that no pattern of `granted` covers. */
const uncovered = (granted: readonly string[], wanted: readonly string[], matches: Matches = matchesPattern): string | undefined =>
  wanted.find((pattern) => !granted.some((grant) => covers(grant, pattern, matches)));

/**
 * A pattern is text too: where a grant matches it as text, each `*` of it falls
 * into a `*` of the grant, and so does whatever it could match.
 */
const covers = (grant: string, pattern: string, matches: Matches): boolean => grant === '*' || grant === pattern || (pattern !== '*' && matches(grant, pattern));

/** No number, and 0, mean no limit. */
const exceeds = (wanted: number | null, limit: number | null): boolean => limit !== null && limit > 0 && (wanted === null || wanted === 0 || wanted > limit);
