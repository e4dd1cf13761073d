/**
 * A child has no more than its parent.
 *
 * I1  Every grant of the child is covered by one of the parent's; what cannot be shown to be covered is not.
 * I2  Whatever narrows the parent's tools narrows the child's.
 * I3  No cap of the child is above its parent's.
 */
import { type Capabilities, type CapabilityDecl, coversGrant, coversHost, coversName, type ExecLimits, grantOf } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { capabilityNamed } from './declared.js';
import { wordsRefusal } from './shell-command.js';

type Rights = Pick<AgentManifest, 'capabilities' | 'resources' | 'autonomous' | 'tool_allowlist' | 'tool_blocklist' | 'tools_disabled'>;

const LISTS = ['memory_read', 'memory_write', 'agent_message'] as const satisfies readonly (keyof Capabilities)[];
const FLAGS = ['agent_spawn', 'file_system'] as const satisfies readonly (keyof Capabilities)[];

/** What the child would have beyond its parent, in words; undefined when nothing. `declared`: capabilities of installed areas. */
export const escalationOf = (parent: Rights, child: Rights, declared: readonly CapabilityDecl[] = []): string | undefined => {
  const mine = parent.capabilities;
  const theirs = child.capabilities;
  // An empty list of tools is every tool.
  const tool = uncovered(mine.tools.length > 0 ? mine.tools : ['*'], theirs.tools.length > 0 ? theirs.tools : ['*']);
  if (tool !== undefined) return `the tool ${tool}`;
  const source = sourceFreed(mine, theirs);
  if (source !== undefined) return source;
  for (const key of LISTS) {
    const extra = uncovered(mine[key], theirs[key]);
    if (extra !== undefined) return `${key} ${extra}`;
  }
  const host = theirs.network.find((pattern) => !coversHost(mine.network, pattern));
  if (host !== undefined) return `network ${host}`;
  const command = theirs.shell.find((pattern) => !coversCommand(mine.shell, pattern));
  if (command !== undefined) return `shell ${command}`;
  const mount = theirs.mounts?.find((one) => !coversMount(mine.mounts ?? [], one));
  if (mount !== undefined) return `mounts ${mount}`;
  for (const key of FLAGS) if (theirs[key] && !mine[key]) return key;
  return declaredExtra(mine, theirs, declared) ?? capExceeded(parent, child) ?? execFreed(mine.exec, theirs.exec) ?? narrowingLost(parent, child);
};

/** A source that is named needs no line in `tools`: so it takes either the same source of the parent, or the tools that it has. */
const sourceFreed = (mine: Capabilities, theirs: Capabilities): string | undefined => {
  for (const kind of new Set([...Object.keys(mine.sources ?? {}), ...Object.keys(theirs.sources ?? {})])) {
    const given = mine.sources?.[kind];
    const wanted = theirs.sources?.[kind] ?? (given ? ['*'] : []);
    const extra = wanted.find((name) => !(given ? given.includes('*') || given.includes(name) : mine.tools.length === 0 || uncovered(mine.tools, [sourcePattern(kind, name)]) === undefined));
    if (extra !== undefined) return `the tools of ${kind} ${extra}`;
  }
  return undefined;
};

const sourcePattern = (kind: string, name: string): string => (name === '*' ? `${kind}_*` : `${kind}_${name.toLowerCase().replace(/[^a-z0-9_]/g, '_')}_*`);

const declaredExtra = (mine: Capabilities, theirs: Capabilities, declared: readonly CapabilityDecl[]): string | undefined => {
  for (const [name, grant] of Object.entries(theirs.declared ?? {})) {
    const capability = capabilityNamed(name, declared);
    // Nothing can be shown of one that nobody declares.
    const extra = capability ? extraOf(capability, mine, theirs) : [grant].flat().find((one) => one !== false);
    if (extra !== undefined) return extra === true ? name : `${name} ${extra}`;
  }
  return undefined;
};

/** `true` for a flag, or the first pattern that is not covered. */
const extraOf = (capability: CapabilityDecl, mine: Capabilities, theirs: Capabilities): string | true | undefined => {
  if (capability.grant === 'flag') return (grantOf(capability, theirs) && !grantOf(capability, mine)) || undefined;
  const granted = grantOf(capability, mine);
  return grantOf(capability, theirs).find((pattern) => !coversGrant(capability, granted, pattern));
};

const capExceeded = (parent: Rights, child: Rights): string | undefined => {
  const [mine, theirs] = [parent.capabilities, child.capabilities];
  if (exceeds(theirs.max_llm_tokens_per_hour, mine.max_llm_tokens_per_hour)) return `more than ${mine.max_llm_tokens_per_hour} model tokens per hour`;
  if (exceeds(theirs.max_tool_calls_per_minute, mine.max_tool_calls_per_minute)) return `more than ${mine.max_tool_calls_per_minute} tool calls per minute`;
  if (child.autonomous.max_iterations > parent.autonomous.max_iterations) return `more than ${parent.autonomous.max_iterations} iterations`;
  const above = LIMITS.find(([, limit]) => exceeds(limit(child), limit(parent)));
  return above && `more than ${above[1](parent)} ${above[0]}`;
};

const MODES: readonly ExecLimits['mode'][] = ['deny', 'allowlist', 'full'];

/** What the parent's exec_policy keeps from it and the child's would not. */
const execFreed = (mine: ExecLimits | undefined, theirs: ExecLimits | undefined): string | undefined => {
  if (!mine) return undefined;
  if (!theirs || MODES.indexOf(theirs.mode) > MODES.indexOf(mine.mode)) return `a wider exec_policy than "${mine.mode}"`;
  const { programs, env } = mine;
  if (programs && theirs.mode !== 'deny' && (theirs.programs?.some((program) => !programs.includes(program)) ?? true)) return 'programs beyond its exec_policy.allowed_commands';
  if (env && (theirs.env?.some((name) => !env.includes(name)) ?? true)) return 'variables beyond its exec_policy.allowed_env_vars';
  const cap = (['timeout_secs', 'no_output_timeout_secs', 'max_output_bytes'] as const).find((key) => exceeds(theirs[key], mine[key]));
  return cap && `more than ${mine[cap]} as exec_policy.${cap}`;
};

const LIMITS: ReadonlyArray<readonly [string, (rights: Rights) => number]> = [
  ['of its hourly tokens per minute (burst_ratio)', ({ resources }) => resources.burst_ratio],
  ['US dollars per hour', ({ resources }) => resources.max_cost_per_hour_usd],
  ['US dollars per day', ({ resources }) => resources.max_cost_per_day_usd],
  ['US dollars per month', ({ resources }) => resources.max_cost_per_month_usd],
  ['tool calls at the same time', ({ resources }) => resources.max_concurrent_tools],
];

const narrowingLost = (parent: Rights, child: Rights): string | undefined => {
  if (parent.tools_disabled && !child.tools_disabled) return 'tools, which the parent has none of';
  const freed = parent.tool_blocklist.find((blocked) => uncovered(child.tool_blocklist, [blocked]) !== undefined);
  if (freed !== undefined) return `the tool ${freed}, which the parent's tool_blocklist blocks`;
  if (parent.tool_allowlist.length === 0) return undefined;
  const extra = uncovered(parent.tool_allowlist, child.tool_allowlist.length > 0 ? child.tool_allowlist : ['*']);
  return extra === undefined ? undefined : `the tool ${extra}, which is not in the parent's tool_allowlist`;
};

/** The first pattern that no pattern of `granted` covers. */
const uncovered = (granted: readonly string[], wanted: readonly string[]): string | undefined => wanted.find((pattern) => !granted.some((grant) => coversName(grant, pattern)));

/** What a child's pattern spells out counts as granted later on: here it has to pass as a command of the parent. */
const coversCommand = (granted: readonly string[], pattern: string): boolean =>
  granted.includes('*') || granted.includes(pattern) || (!pattern.trim().startsWith('*') && wordsRefusal(pattern.trim().split(/\s+/), granted) === undefined);

/** The same folder, and no more to be done with it. One below it may be a link by now that its parent made. */
const coversMount = (granted: readonly string[], wanted: string): boolean => granted.includes(wanted) || granted.includes(`${wanted}:rw`);

/** No number, and 0, mean no limit. */
const exceeds = (wanted: number | null | undefined, limit: number | null | undefined): boolean => typeof limit === 'number' && limit > 0 && (!wanted || wanted > limit);
