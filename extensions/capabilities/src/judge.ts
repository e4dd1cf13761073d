/**
 * May this agent make this call? Answers with the reason when not, for the
 * model to read: what is missing, and where a person could grant it.
 *
 * C1  A call whose tool the manifest does not list is refused.
 * C2  A tool that can do harm needs its grant beside its name: shell, network, agent_spawn, agent_message, file_system.
 * C3  An empty list of tools means every tool that needs no grant; an empty list of anything else means none.
 * C4  What is listed to a model is never more than what would be allowed.
 */
import { type AnyTool, type Capabilities, isHostGranted, matchesAny, targetOf } from '@svc/api';
import { commandRefusal, listed } from './shell-command.js';

export interface CallToJudge {
  readonly tool: Pick<AnyTool, 'name' | 'risk' | 'workspace'>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: Capabilities;
  /** Every name of the agent that `agent_send` writes to: its id and its name. */
  readonly receivers: readonly string[];
}

/** Why the call is refused, or undefined. */
export const refusalOf = ({ tool, args, capabilities, receivers }: CallToJudge): string | undefined => {
  const never = neverReason(tool, capabilities);
  if (never !== undefined) return never;
  if (tool.risk === 'exec' && typeof args.command === 'string') return commandRefusal(args.command, capabilities);
  if (tool.risk === 'network' && typeof args.url === 'string') return hostRefusal(args.url, capabilities.network);
  if (tool.name === 'agent_send' && !receivers.some((name) => matchesAny(capabilities.agent_message, name))) {
    return `This agent may not write to ${receivers[0] ?? 'that agent'}: [capabilities] agent_message allows ${listed(capabilities.agent_message)}.`;
  }
  return undefined;
};

/** Why this agent can never run the tool, whatever the arguments; undefined when it may depend on them. */
export const neverReason = (tool: Pick<AnyTool, 'name' | 'risk' | 'workspace'>, capabilities: Capabilities): string | undefined => {
  const { tools } = capabilities;
  if (tools.length > 0 && !matchesAny(tools, tool.name)) return `This agent may not use ${tool.name}: [capabilities] tools allows ${listed(tools)}.`;
  if (tool.workspace === true && !capabilities.file_system) return `This agent may not use ${tool.name}: [capabilities] file_system is false.`;
  if (tool.risk === 'exec' && capabilities.exec?.mode === 'deny') return `This agent may not use ${tool.name}: exec_policy of its manifest is "deny".`;
  if (tool.risk === 'exec' && capabilities.shell.length === 0) return missing(tool.name, 'shell');
  if (tool.risk === 'network' && capabilities.network.length === 0) return missing(tool.name, 'network');
  if (tool.name === 'agent_spawn' && !capabilities.agent_spawn) return missing(tool.name, 'agent_spawn');
  if (tool.name === 'agent_send' && capabilities.agent_message.length === 0) return missing(tool.name, 'agent_message');
  return undefined;
};

const missing = (tool: string, grant: string): string => `This agent may not use ${tool}: its manifest grants nothing under [capabilities] ${grant}. Do without it, or ask a person to grant it.`;

const hostRefusal = (address: string, hosts: readonly string[]): string | undefined => {
  if (!URL.canParse(address)) return `"${address.slice(0, 200)}" is not an address: https://host/path was expected.`;
  const url = new URL(address);
  const { host, port } = targetOf(url);
  return isHostGranted(hosts, host, port) ? undefined : `This agent may not reach ${url.host}: [capabilities] network allows ${listed(hosts)}.`;
};
