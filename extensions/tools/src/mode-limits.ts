/** Why a tool is not offered to an agent: by the lists of its manifest, or by its mode. */
import type { ToolFacts } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { exclusionOf } from './tool-registry.js';

/** Beside the tools that say they only read: they fetch with GET, or look things up. */
const READS = new Set(['web_fetch', 'web_search']);

type Tool = Pick<ToolFacts, 'name' | 'risk'>;

/** Undefined where it is offered. */
export const whyNotOffered = (tool: Tool, manifest: AgentManifest): string | undefined => exclusionOf(tool.name, manifest) ?? modeLimit(tool, manifest);

const modeLimit = ({ name, risk }: Tool, { mode_tools: limit }: Pick<AgentManifest, 'mode_tools'>): string | undefined => {
  if (limit === 'none') return 'its mode is observe, in which it uses no tools';
  if (limit !== 'reads' || risk === 'read' || READS.has(name)) return undefined;
  return 'its mode is assist, in which it uses tools that only read';
};
