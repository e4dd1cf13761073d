/**
 * Which of an agent's tools a model call names, where the agent has so many that the model loads them.
 *
 * The conversation says which were loaded: it is stored, so a run that goes on elsewhere names the same. What a run has loaded
 * stays loaded until it ends, however much of the conversation is still sent; its steps say that.
 */
import type { ModelRequest } from '@svc/ext-llm/contract';
import { TOOL_LOAD, type ToolInfo } from '@svc/ext-tools/contract';

/** Adds to `loaded` what the messages say. */
export const sentTools = (tools: readonly ToolInfo[], messages: ModelRequest['messages'], loaded: Set<string>): readonly ToolInfo[] => {
  const deferred = new Set(tools.flatMap(({ name, deferred: isDeferred }) => (isDeferred ? [name] : [])));
  if (deferred.size === 0) return tools;
  for (const { parts } of messages)
    for (const part of parts) {
      const name = part.type === 'tool_call' ? namedBy(part.name, part.args) : undefined;
      if (name !== undefined && deferred.has(name)) loaded.add(name);
    }
  return tools.filter(({ name }) => !deferred.has(name) || loaded.has(name));
};

/** A tool that was called without being loaded is known to the model, too. */
const namedBy = (tool: string, args: unknown): string | undefined => {
  if (tool !== TOOL_LOAD) return tool;
  const name = typeof args === 'object' && args !== null ? (args as { readonly name?: unknown }).name : undefined;
  return typeof name === 'string' ? name : undefined;
};
