/** From a validated table to a manifest with every default filled in. */
import { type Capabilities, type CapabilityDecl, lineOfPath, scanToml, tableOf } from '@svc/api';
import type { AgentManifest, ModelChoice } from '../contract.js';
import { invalidManifest } from '../errors.js';
import { MIN_CONTINUOUS_SECS, scheduleFrom, triggersFrom } from './autonomy-keys.js';
import { declaredGrants } from './declared-grants.js';
import { readExecPolicy } from './exec-policy.js';
import { validateManifest, type ManifestGround } from './validate-manifest.js';
import { type KeyNotes, SECTIONS, TOP_KEYS } from './manifest-keys.js';
import type { Taken } from './other-daemons.js';
import { profileNamed } from './profiles.js';
import { textsOf } from './texts.js';

const DEFAULT_PROMPT = 'You are a helpful assistant. Be accurate, be brief, and say so when you do not know.';
const MIN_HISTORY = 4;
const MAX_HISTORY = 500;
const THINKING_TOKENS = 10_000;

export interface ReadManifest {
  readonly manifest: AgentManifest;
  /** For the person who wrote it: keys that are unknown, or that nothing acts on. */
  readonly warnings: readonly string[];
}

type Table = Readonly<Record<string, unknown>>;

/** Throws `agents_invalid_manifest`, naming the key, what was expected, and the line where `source` is the text it came from. */
export const readManifest = async (ground: ManifestGround, raw: Table, source?: string): Promise<ReadManifest> => {
  const { warnings } = await validateManifest(ground, raw, source);
  const notes = textsOf(raw.tags) === undefined ? ['tags is not a list of strings and was taken as empty.'] : [];
  const pause = tableOf(tableOf(raw.schedule).continuous).check_interval_secs;
  if (typeof pause === 'number' && pause < MIN_CONTINUOUS_SECS) notes.push(`schedule.continuous.check_interval_secs is taken as ${MIN_CONTINUOUS_SECS}.`);
  const manifest = manifestFrom(raw, source, ground.declared);
  return { manifest, warnings: [...warnings, ...notes, ...(policyOf(raw, manifest.capabilities.shell, source)?.warnings ?? []), ...commandsMissing(manifest.capabilities)] };
};

const RUN_COMMANDS = ['shell_exec', 'process_start'];

/** A template lists them for the project that its user names: until then each call is refused. */
const commandsMissing = ({ tools, shell }: Capabilities): string[] => {
  const listed = tools.filter((name) => RUN_COMMANDS.includes(name));
  if (listed.length === 0 || shell.length > 0) return [];
  return [`${listed.join(' and ')} cannot run a command yet. Grant the commands of your project in [capabilities]: shell = ["npm test", "git diff *"].`];
};

/** The same of what other daemons write, with what was taken and does nothing. */
export const readTaken = async (ground: ManifestGround, { raw, remarks }: Taken, source?: string): Promise<ReadManifest> => {
  const { manifest, warnings } = await readManifest(ground, raw, source);
  const lines = source === undefined || remarks.length === 0 ? undefined : scanToml(source);
  const said = remarks.map(({ path, message }) => {
    const line = lines && lineOfPath(lines, path);
    return `${line ? `Line ${line}: ` : ''}${message}.`;
  });
  return { manifest, warnings: [...said, ...warnings] };
};

/** Throws where exec_policy is none: it is validated by its own rules. */
const policyOf = (raw: Table, shell: readonly string[], source: string | undefined): ReturnType<typeof readExecPolicy> =>
  readExecPolicy(raw.exec_policy, shell, (path, what) => {
    const line = source === undefined ? null : lineOfPath(scanToml(source), path);
    throw invalidManifest([{ line, key: path.join('.'), message: `${path.join('.')} ${what}`, expected: 'an exec_policy' }]);
  });

const thinkingOf = ({ budget_tokens, stream_thinking }: Table): NonNullable<AgentManifest['thinking']> => ({
  budget_tokens: numberOf(budget_tokens) ?? THINKING_TOKENS,
  ...(typeof stream_thinking === 'boolean' ? { stream_thinking } : {}),
});

/** Only of a table that `validateManifest` has let pass: types and ranges are not looked at again. */
export const manifestFrom = (raw: Table, source?: string, declared: readonly CapabilityDecl[] = []): AgentManifest => {
  const resources = tableOf(raw.resources);
  const autonomous = tableOf(raw.autonomous);
  const grants = capabilitiesOf(raw, tableOf(raw.capabilities), resources);
  const policy = policyOf(raw, grants.shell, source);
  const ofAreas = declaredGrants(raw, declared);
  return {
    name: textOf(raw.name, 'unnamed'),
    version: textOf(raw.version, '0.1.0'),
    description: textOf(raw.description, ''),
    author: textOf(raw.author, ''),
    tags: textsOf(raw.tags) ?? [],
    enabled: raw.enabled !== false,
    model: modelOf(tableOf(raw.model)),
    thinking: raw.thinking === undefined ? null : thinkingOf(tableOf(raw.thinking)),
    fallback_models: listOf(raw.fallback_models).map((item) => choiceOf(tableOf(item))),
    max_history_messages: historyOf(numberOf(raw.max_history_messages)),
    capabilities: { ...grants, ...(policy ? { exec: policy.limits } : {}), ...(ofAreas ? { declared: ofAreas } : {}) },
    ...approvalOf(tableOf(raw.approval)),
    resources: {
      burst_ratio: numberOf(resources.burst_ratio) ?? 0,
      max_cost_per_hour_usd: numberOf(resources.max_cost_per_hour_usd) ?? 0,
      max_cost_per_day_usd: numberOf(resources.max_cost_per_day_usd) ?? 0,
      max_cost_per_month_usd: numberOf(resources.max_cost_per_month_usd) ?? 0,
      max_concurrent_tools: numberOf(resources.max_concurrent_tools) ?? 0,
    },
    tool_allowlist: textsOf(raw.tool_allowlist) ?? [],
    tool_blocklist: textsOf(raw.tool_blocklist) ?? [],
    tools_disabled: raw.tools_disabled === true,
    ...lazyOf(raw),
    ...(raw.skills === undefined ? {} : { skills: textsOf(raw.skills) ?? [] }),
    ...(raw.skills_disabled === true ? { skills_disabled: true } : {}),
    ...(raw.channels === undefined ? {} : { channels: textsOf(raw.channels) ?? [] }),
    ...(raw.mcp_servers === undefined ? {} : { mcp_servers: textsOf(raw.mcp_servers) ?? [] }),
    ...(raw.mcp_disabled === true ? { mcp_disabled: true } : {}),
    ...(typeof raw.profile === 'string' ? { profile: raw.profile } : {}),
    ...(typeof raw.pinned_model === 'string' && raw.pinned_model !== '' ? { pinned_model: raw.pinned_model } : {}),
    autonomous: { max_iterations: numberOf(autonomous.max_iterations) ?? 50, ...unwatchedOf(autonomous.unwatched) },
    ...(raw.session_mode === 'new' ? { session_mode: 'new' as const } : {}),
    ...(typeof raw.max_concurrent_invocations === 'number' ? { max_concurrent_invocations: raw.max_concurrent_invocations } : {}),
    ...(raw.assignee_wake === false ? { assignee_wake: false } : {}),
    ...(raw.inherit_parent_context === false ? { inherit_parent_context: false } : {}),
    ...(raw.proactive_memory === undefined ? {} : { proactive_memory: raw.proactive_memory as NonNullable<AgentManifest['proactive_memory']> }),
    ...autonomyOf(raw),
    ...dreamOf(raw),
    kept: keptOf(raw),
  };
};

/** Checked by the schemas of the keys, which are those of the contract. */
const autonomyOf = ({ schedule, triggers, reconcile_orphans: orphans }: Table): Partial<AgentManifest> => ({
  ...(schedule === undefined ? {} : { schedule: scheduleFrom(schedule) }),
  ...(triggers === undefined ? {} : { triggers: triggersFrom(listOf(triggers)) }),
  ...(orphans === 'warn' || orphans === 'delete' ? { reconcile_orphans: orphans } : {}),
});

const dreamOf = ({ auto_dream_enabled: isOn, auto_dream_min_hours: hours, auto_dream_min_sessions: sessions }: Table): Partial<AgentManifest> => ({
  ...(isOn === true ? { auto_dream_enabled: true } : {}),
  ...(typeof hours === 'number' ? { auto_dream_min_hours: hours } : {}),
  ...(typeof sessions === 'number' ? { auto_dream_min_sessions: sessions } : {}),
});

const approvalOf = ({ require_approval: required, rules }: Table): Pick<AgentManifest, 'approval'> => {
  const approval = {
    require_approval: required === true || (Array.isArray(required) && required.length > 0 ? (textsOf(required) ?? true) : false),
    // Checked by the schema of the key, which is the one of the contract.
    rules: listOf(rules) as NonNullable<AgentManifest['approval']>['rules'],
  };
  return approval.require_approval === false && approval.rules.length === 0 ? {} : { approval };
};

/** LibreFang reads it under [metadata]. */
const lazyOf = ({ lazy_tools: lazy, metadata }: Table): Pick<AgentManifest, 'lazy_tools'> => {
  const said = lazy ?? tableOf(metadata).lazy_tools;
  return typeof said === 'boolean' ? { lazy_tools: said } : {};
};

const unwatchedOf = (value: unknown): Pick<AgentManifest['autonomous'], 'unwatched'> => (value === 'finish' || value === 'cancel' ? { unwatched: value } : {});

const choiceOf = (table: Table): ModelChoice => ({ provider: textOf(table.provider, 'default'), model: textOf(table.model ?? table.name, 'default') });

const modelOf = (table: Table): AgentManifest['model'] => ({
  ...choiceOf(table),
  max_tokens: numberOf(table.max_tokens) ?? 4_096,
  temperature: numberOf(table.temperature) ?? 0.7,
  system_prompt: textOf(table.system_prompt, DEFAULT_PROMPT),
  request_timeout_secs: numberOf(table.request_timeout_secs),
  context_window: numberOf(table.context_window),
  max_output_tokens: numberOf(table.max_output_tokens),
});

/** Left out, the list of tools decides. */
const sourcesOf = ({ mcp_servers: servers, mcp_disabled: isOff, skills, skills_disabled: hasNoSkills }: Table): Pick<Capabilities, 'sources'> => {
  const mcp = isOff === true ? [] : servers === undefined ? undefined : textsOf(servers);
  // An empty list is all skills.
  const named = textsOf(skills) ?? [];
  const skill = hasNoSkills === true ? [] : named.length > 0 ? named : undefined;
  if (mcp === undefined && skill === undefined) return {};
  return { sources: { ...(mcp === undefined ? {} : { mcp }), ...(skill === undefined ? {} : { skill }) } };
};

const capabilitiesOf = (raw: Table, table: Table, resources: Table): Capabilities => {
  const list = (key: string): readonly string[] => textsOf(table[key]) ?? [];
  const tools = list('tools');
  return {
    tools: tools.length > 0 ? tools : profileTools(raw.profile),
    network: list('network'),
    memory_read: list('memory_read'),
    memory_write: list('memory_write'),
    shell: list('shell'),
    agent_spawn: table.agent_spawn === true,
    agent_message: list('agent_message'),
    file_system: table.file_system !== false,
    ...(list('mounts').length > 0 ? { mounts: list('mounts') } : {}),
    max_llm_tokens_per_hour: numberOf(table.max_llm_tokens_per_hour) ?? numberOf(resources.max_llm_tokens_per_hour),
    ...sourcesOf(raw),
    ...(resources.max_tool_calls_per_minute === undefined ? {} : { max_tool_calls_per_minute: numberOf(resources.max_tool_calls_per_minute) }),
  };
};

/** Empty is every tool, as for `full` and `custom`. */
const profileTools = (profile: unknown): readonly string[] => (typeof profile === 'string' ? (profileNamed(profile)?.grants ?? []) : []);

const historyOf = (messages: number | null): number | null => (messages === null ? null : Math.min(MAX_HISTORY, Math.max(MIN_HISTORY, messages)));

/** What only describes, and what waits for its area: nothing that was written down and let pass is lost. */
const keptOf = (raw: Table): Table => {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    const section = SECTIONS[key];
    if (section === undefined) {
      if (isKept(TOP_KEYS[key]) && !OWN_FIELDS.has(key)) kept[key] = value;
      continue;
    }
    const inner = Object.entries(tableOf(value)).filter(([name]) => isKept(section[name]));
    if (inner.length > 0) kept[key] = Object.fromEntries(inner);
  }
  return kept;
};

/** Shown keys that have a field of their own. */
const OWN_FIELDS = new Set(['version', 'description', 'author', 'tags']);

const isKept = (key: unknown): boolean => {
  const effect = (key as Partial<KeyNotes> | undefined)?.['x-effect']; // what the table wrote beside the schema
  return effect === 'shown' || effect === 'waits';
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
