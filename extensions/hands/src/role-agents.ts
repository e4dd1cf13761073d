/**
 * The agents of a hand: one for each role, as a manifest that the agents area validates as it does any other.
 *
 * A1  An agent of a hand has the same id each time the same person activates it.
 * A2  A hand grants what its file lists under `capabilities` of a role, and what whoever activates it adds. Tools alone grant no host and no command.
 * A3  What a person chose, the texts beside the file and the other roles follow the prompt of the author, in this order.
 */
import { createHash } from 'node:crypto';
import { isTable, uuidOfHex } from '@svc/api';
import { type Definition, promptIn } from './definitions.js';
import type { Hand, Role } from './hand-file.js';
import type { Values } from './settings.js';

/** As the row of an instance holds it. */
export interface RoleAgent {
  readonly role: string;
  readonly isCoordinator: boolean;
  readonly agentId: string;
  readonly agentName: string;
  /** When its loop comes, and what it is asked then; null for a role that only answers. */
  readonly loop: { readonly schedule: string; readonly message: string } | null;
  /** Once it was created: a job that a person deletes is not created again. */
  readonly jobId?: string;
}

/** What whoever activates a hand lets its agents reach, beside what the file grants. */
export interface Grants {
  readonly network?: readonly string[] | undefined;
  readonly shell?: readonly string[] | undefined;
  readonly mounts?: readonly string[] | undefined;
}

export interface Place {
  readonly ownerId: string;
  readonly instanceId: string;
  /** Empty for the only instance. */
  readonly slot: string;
}

const MAX_NAME = 256;
const MIN_EVERY_SECS = 60;
const MAX_EVERY_SECS = 86_400;
const MEMORY_TOOL = /^(\*$|memory_|knowledge_|wiki_)/;
const MEMORY_TARGETS = ['self.*', 'shared.*'];
const ASK = 'agent_send';
const TICK = 'It is time for your regular work. Do what is due by your instructions and your settings, and then stop. If nothing is due, say so in one line.';

export const roleAgents = ({ hand }: Pick<Definition, 'hand'>, { ownerId, slot }: Place): RoleAgent[] =>
  hand.roles.map((role) => ({
    role: role.role,
    isCoordinator: role.isCoordinator,
    agentId: agentIdOf(ownerId, hand.id, role.role, slot),
    agentName: nameOf(hand.id, role.role, slot),
    loop: loopOf(role.schedule),
  }));

const agentIdOf = (...parts: readonly string[]): string => {
  const hex = createHash('sha256')
    .update(JSON.stringify(['agent of a hand', ...parts]))
    .digest('hex');
  // The form of a version 8 UUID: made by a rule of its own.
  return uuidOfHex(`${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17, 32)}`);
};

const nameOf = (hand: string, role: string, slot: string): string => `${hand}:${role}${slot === '' ? '' : `:${slot.slice(0, 8)}`}`.slice(0, MAX_NAME);

/** Null where nothing comes by itself: other schedules of agents need triggers. */
export const loopOf = (schedule: unknown): RoleAgent['loop'] => {
  const plan = planOf(schedule);
  return plan === undefined ? null : { schedule: plan, message: TICK };
};

const planOf = (schedule: unknown): string | undefined => {
  if (typeof schedule === 'string') return ['', 'reactive', 'manual', 'none'].includes(schedule.trim()) ? undefined : schedule.trim();
  if (!isTable(schedule)) return undefined;
  const { periodic, continuous } = schedule;
  if (isTable(periodic) && typeof periodic.cron === 'string') return periodic.cron.trim();
  if (!isTable(continuous)) return undefined;
  const secs = typeof continuous.check_interval_secs === 'number' ? continuous.check_interval_secs : 300;
  return `every ${Math.min(Math.max(Math.round(secs), MIN_EVERY_SECS), MAX_EVERY_SECS)}s`;
};

export interface ManifestParts {
  readonly definition: Definition;
  readonly config: Values;
  readonly grants: Grants;
  readonly place: Place;
  /** The manifest of the template that the role begins with. */
  readonly base: Readonly<Record<string, unknown>>;
}

export const manifestOf = (role: Role, agents: readonly RoleAgent[], { definition, config, grants, place, base }: ManifestParts): Record<string, unknown> => {
  const { hand } = definition;
  const own = agents.find((one) => one.role === role.role);
  const given = merged(base, role.manifest);
  const { tools: roleTools, skills = hand.skills, mcp_servers: servers = hand.mcp_servers, allowed_plugins: plugins = hand.allowed_plugins, ...rest } = given;
  const capabilities = isTable(given.capabilities) ? given.capabilities : {};
  const tools = textsOf(capabilities.tools ?? roleTools ?? hand.tools);
  const team = role.isCoordinator ? agents.filter((one) => one.role !== role.role) : [];
  return {
    ...rest,
    name: own?.agentName ?? role.role,
    version: hand.version,
    description: role.description.slice(0, 4_096),
    is_hand: true,
    tags: [...new Set([...hand.tags, ...textsOf(rest.tags), `hand:${hand.id}`, `hand_instance:${place.instanceId}`, `hand_role:${role.role}`])],
    ...(listed(skills) ? { skills } : {}),
    ...(listed(servers) ? { mcp_servers: servers } : {}),
    ...(listed(plugins) ? { allowed_plugins: plugins } : {}),
    model: { ...(isTable(given.model) ? given.model : {}), system_prompt: promptOf(role, team, definition, config) },
    capabilities: {
      ...(tools.some((tool) => MEMORY_TOOL.test(tool)) ? { memory_read: MEMORY_TARGETS, memory_write: MEMORY_TARGETS } : {}),
      ...capabilities,
      ...(tools.length > 0 ? { tools: team.length > 0 && !tools.includes('*') ? [...new Set([...tools, ASK])] : tools } : {}),
      ...withMore(capabilities, grants),
      ...(team.length > 0 ? { agent_message: [...new Set([...textsOf(capabilities.agent_message), ...team.map(({ agentName }) => agentName)])] } : {}),
    },
  };
};

const listed = (value: unknown): boolean => textsOf(value).length > 0;
export const textsOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []);

const withMore = (capabilities: Readonly<Record<string, unknown>>, grants: Grants): Record<string, string[]> =>
  Object.fromEntries(
    (['network', 'shell', 'mounts'] as const).flatMap((name) => {
      const more = grants[name] ?? [];
      return more.length === 0 ? [] : [[name, [...new Set([...textsOf(capabilities[name]), ...more])]]];
    }),
  );

/** A table is merged key by key; anything else of the second counts. */
const merged = (base: Readonly<Record<string, unknown>>, over: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const all: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = all[key];
    all[key] = isTable(value) && isTable(below) ? { ...below, ...value } : value;
  }
  return all;
};

const promptOf = (role: Role, team: readonly RoleAgent[], { hand, skill, roleSkills }: Definition, config: Values): string => {
  const settings = hand.settings.filter(({ key }) => config[key] !== undefined && config[key] !== '').map(({ key, label }) => `- ${label ?? key}: ${config[key] ?? ''}`);
  const metrics = role.isCoordinator ? hand.metrics.map(({ label, memory_key: key, format }) => `- ${label}: memory key ${key}${format === undefined ? '' : ` (${format})`}`) : [];
  const others = team.map(({ role: name, agentName }) => {
    const hint = hand.roles.find((one) => one.role === name);
    return `- ${agentName}: ${hint?.inviteHint || hint?.description || name}`;
  });
  return [
    promptIn(role.manifest),
    section('Settings that your user chose', settings),
    skill.trim(),
    (roleSkills[role.role] ?? '').trim(),
    section('Figures that you keep up to date with memory_store', metrics),
    section(`Agents that work with you. Ask them with ${ASK}`, others),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
};

const section = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `## ${title}\n${lines.join('\n')}`);

/** What of a hand has no effect here, or not yet: its owner reads it when it is activated. */
export const remarksOf = (hand: Hand, known: { readonly tools: ReadonlySet<string> | undefined; readonly hasSchedules: boolean }): string[] => {
  const tools = [...new Set([...hand.tools, ...hand.roles.flatMap(({ manifest }) => textsOf(manifest.tools))])].filter((tool) => !tool.includes('*'));
  const missing = known.tools === undefined ? [] : tools.filter((tool) => known.tools?.has(tool) === false);
  const loops = hand.roles.filter(({ schedule }) => loopOf(schedule) !== null);
  const waiting = hand.roles.filter(({ schedule }) => isTable(schedule) && schedule.proactive !== undefined);
  return [
    ...(missing.length > 0 ? [`These tools are not there: ${missing.join(', ')}.`] : []),
    ...(hand.skills.length > 0 ? [`It names skills: ${hand.skills.join(', ')}. Those that are not installed are not used.`] : []),
    ...(loops.length > 0 && !known.hasSchedules ? ['It does not work by itself while the extension schedules is off: svc ext enable schedules.'] : []),
    ...waiting.map(({ role }) => `The role ${role} waits for events, and svc has no triggers yet: it only answers.`),
    ...(hand.settings.some(({ env_var: name }) => name !== undefined) ? ['Some of its settings are environment variables: set them where the daemon starts.'] : []),
    ...(hand.metadata?.activation_warning === undefined ? [] : [hand.metadata.activation_warning]),
  ];
};
