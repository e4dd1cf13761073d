/** Which tools of its sender a run tells the model of, and what becomes of a call of one. */
import type { Parameters, ToolSchema } from '@svc/ext-llm/contract';
import type { CallDecision } from '@svc/ext-tools/contract';
import type { RunInput } from '../run-input.js';
import { CLIENT_REASON } from './client-wait.js';

type Sender = Pick<RunInput, 'clientTools' | 'beside'>;

export const isClientTool = ({ clientTools }: Sender, name: string): boolean => clientTools?.tools.some((tool) => tool.name === name) ?? false;

/** A stateless request that brings tools is about these alone. */
export const isAlone = ({ clientTools, beside }: Sender): boolean => beside?.kind === 'stateless' && (clientTools?.tools.length ?? 0) > 0;

/**
 * The agent's own tools with those of the sender. `isFirst`: the first model call since the sender wrote. A demand for a call holds
 * for that one, and for the sender's tools: with it in every call, no run would end.
 */
export function offered(sender: Sender, own: readonly ToolSchema[], isFirst: boolean): { tools: readonly ToolSchema[]; parameters: Parameters } {
  const { clientTools } = sender;
  if (!clientTools || clientTools.tools.length === 0) return { tools: own, parameters: {} };
  const { tools, choice, parallel } = clientTools;
  const others = isAlone(sender) ? [] : own;
  const parameters = parallel === undefined ? {} : { parallelToolCalls: parallel };
  // Own tools go on; some providers refuse a conversation with calls where no tool is named.
  if (choice === 'none') return others.length > 0 ? { tools: others, parameters } : { tools, parameters: { toolChoice: 'none' } };
  if (choice === undefined || !isFirst) return { tools: [...others, ...tools], parameters };
  return { tools, parameters: { ...parameters, toolChoice: choice } };
}

interface Called {
  readonly id: string;
  readonly argsError?: string;
}

/** `others`: calls of the sender's tools that stand before it in the same answer. */
export function decideClientCall({ clientTools }: Sender, call: Called, others: number): CallDecision {
  const facts = { digest: call.id, replay: 'never', parallel: true } as const;
  if (call.argsError !== undefined) return { ...facts, verdict: 'deny', code: 'invalid_arguments', reason: `The arguments are no JSON object: ${call.argsError}. Call the tool again.` };
  if (clientTools?.choice === 'none') return { ...facts, verdict: 'deny', code: 'tool_choice', reason: 'This tool cannot be called now. Answer without it.' };
  if (clientTools?.parallel === false && others > 0)
    return { ...facts, verdict: 'deny', code: 'one_at_a_time', reason: 'Only one of these tools can be called at a time. Call it again after the other one.' };
  return { ...facts, verdict: 'suspend', suspend: { reason: CLIENT_REASON, wakeKey: '' } };
}
