/**
 * May this agent make this call? Answers with the reason when not, for the
 * model to read: what is missing, and where a person could grant it.
 *
 * C1  A call whose tool the manifest does not list is refused.
 * C2  What a call needs must be granted beside the tool's name: shell, network, agent_spawn, agent_message, file_system…, and what areas declare
 * C3  An empty list of tools means every tool that needs no grant; an empty list of anything else means none.
 * C4  What is listed to a model is never more than what would be allowed.
 * C6  Tools of a source that the manifest names are the agent's, whatever its list of tools says, and no others of that kind.
 * C5  A need without a target is one of everything: only a grant of everything covers it. One that nobody knows is refused.
 */
import { type Capabilities, type CapabilityDecl, isHostGranted, matchesAny, mayUseShell, type Need, targetOf, type ToolFacts, parsedUrl } from '@svc/api';
import { TOOLS_OF_OTHERS } from '@svc/ext-tools/contract';
import { capabilityNamed, isGrantedAtAll, missingGrant, uncoveredTarget } from './declared.js';
import { commandRefusal, listed } from './shell-command.js';

/** A need with every name of what it means: an agent has its id and its name. */
export type NamedNeed = Need & { readonly names?: readonly string[] };

type ValidatedTool = Pick<ToolFacts, 'name' | 'risk' | 'capabilities' | 'source'>;

export interface CallToCheck {
  readonly tool: ValidatedTool;
  readonly needs: readonly NamedNeed[];
  readonly capabilities: Capabilities;
  /** Capabilities of installed areas. Left out: there are none. */
  readonly declared?: readonly CapabilityDecl[];
}

/** Why the call is refused, or undefined. */
export const refusalOf = ({ tool, needs, capabilities, declared = [] }: CallToCheck): string | undefined => {
  const never = neverReason(tool, capabilities, declared);
  if (never !== undefined) return never;
  for (const need of needs) {
    // One that not every call has is not in the tool's own list.
    const refusal = lacking(tool, need.capability, capabilities, declared) ?? ruleOf(need.capability, declared)?.refusal?.(need, capabilities);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
};

/** Why the manifest's lists keep it from the agent; undefined when they do not (C1, C3, C6). */
export const unlisted = ({ name, source }: Pick<ToolFacts, 'name' | 'source'>, { tools, sources }: Pick<Capabilities, 'tools' | 'sources'>): string | undefined => {
  const given = source && sources?.[source.kind];
  if (given)
    return given.includes('*') || given.includes(source.name)
      ? undefined
      : `This agent may not use ${name}: its manifest gives it ${given.length === 0 ? `no tools of ${source.kind}` : `those of ${source.kind} ${listed(given)}`}.`;
  return tools.length === 0 || matchesAny(tools, name) || TOOLS_OF_OTHERS.has(name) ? undefined : `This agent may not use ${name}: [capabilities] tools allows ${listed(tools)}.`;
};

/** Why this agent can never run the tool, whatever the arguments; undefined when it may depend on them. */
export const neverReason = (tool: ValidatedTool, capabilities: Capabilities, declared: readonly CapabilityDecl[] = []): string | undefined => {
  const unnamed = unlisted(tool, capabilities);
  if (unnamed !== undefined) return unnamed;
  if (tool.risk === 'exec' && capabilities.exec?.mode === 'deny') return `This agent may not use ${tool.name}: exec_policy of its manifest is "deny".`;
  for (const capability of tool.capabilities) {
    const why = lacking(tool, capability, capabilities, declared);
    if (why !== undefined) return why;
  }
  return undefined;
};

const lacking = (tool: ValidatedTool, capability: string, capabilities: Capabilities, declared: readonly CapabilityDecl[]): string | undefined => {
  const rule = ruleOf(capability, declared);
  if (!rule) return `This agent may not use ${tool.name}: it needs "${capability.slice(0, 100)}", which is not a capability of this daemon: no installed extension declares it.`;
  return rule.isGranted(capabilities) ? undefined : (rule.missing?.(tool.name) ?? missing(tool.name, capability));
};

interface Rule {
  /** Whether the manifest grants anything of it. */
  isGranted(capabilities: Capabilities): boolean;
  missing?(tool: string): string;
  /** Why this need is not covered by what is granted. A capability that is there or not has none. */
  refusal?(need: NamedNeed, capabilities: Capabilities): string | undefined;
}

type ListKey = 'agent_message' | 'memory_read' | 'memory_write';

const byPattern = (key: ListKey, verb: string, what: string): Rule => ({
  isGranted: (capabilities) => capabilities[key].length > 0,
  refusal: ({ target, names = target === undefined ? [] : [target] }, capabilities) => {
    const granted = capabilities[key];
    if (names.length === 0 ? granted.includes('*') : names.some((name) => matchesAny(granted, name))) return undefined;
    return `This agent may not ${verb} ${names[0] ?? what}: [capabilities] ${key} allows ${listed(granted)}.`;
  },
});

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['file_system', { isGranted: ({ file_system }) => file_system, missing: (tool) => `This agent may not use ${tool}: [capabilities] file_system is false.` }],
  ['agent_spawn', { isGranted: ({ agent_spawn }) => agent_spawn }],
  ['shell', { isGranted: ({ shell }) => shell.length > 0, refusal: ({ target }, capabilities) => (target === undefined ? anyCommandRefusal(capabilities) : commandRefusal(target, capabilities)) }],
  ['network', { isGranted: ({ network }) => network.length > 0, refusal: ({ target }, { network }) => (target === undefined ? anyHostRefusal(network) : hostRefusal(target, network)) }],
  ['agent_message', byPattern('agent_message', 'write to', 'that agent')],
  ['memory_read', byPattern('memory_read', 'read', 'all memory')],
  ['memory_write', byPattern('memory_write', 'write', 'all memory')],
]);

/** The interface's own names are never an area's. */
const ruleOf = (name: string, declared: readonly CapabilityDecl[]): Rule | undefined => {
  const own = RULES.get(name);
  const capability = own ? undefined : capabilityNamed(name, declared);
  if (!capability) return own;
  return {
    isGranted: (capabilities) => isGrantedAtAll(capability, capabilities),
    missing: (tool) => missingGrant(tool, capability),
    refusal: ({ target }, capabilities) => uncoveredTarget(capability, target, capabilities),
  };
};

const missing = (tool: string, grant: string): string => `This agent may not use ${tool}: its manifest grants nothing under [capabilities] ${grant}. Do without it, or ask a person to grant it.`;

const anyCommandRefusal = (capabilities: Capabilities): string | undefined =>
  mayUseShell(capabilities) ? undefined : `This call does not say which command it runs, and this agent may not run any: [capabilities] shell allows ${listed(capabilities.shell)}.`;

const anyHostRefusal = (hosts: readonly string[]): string | undefined =>
  hosts.includes('*') ? undefined : `This call does not say which host it reaches, and this agent may not reach any: [capabilities] network allows ${listed(hosts)}.`;

const hostRefusal = (address: string, hosts: readonly string[]): string | undefined => {
  const url = parsedUrl(address);
  if (!url) return `"${address.slice(0, 200)}" is not an address: https://host/path was expected.`;
  const { host, port } = targetOf(url);
  return isHostGranted(hosts, host, port) ? undefined : `This agent may not reach ${url.host}: [capabilities] network allows ${listed(hosts)}.`;
};
