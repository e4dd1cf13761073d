/** The preview of a call, by its tool; its arguments where the tool has none to give. */
import { isSvcError, type ToolPreview } from '@svc/api';
import { type CallPolicyDeps, checkedArguments, textOf } from './call-policy.js';
import type { CallRequest } from './contract.js';
import { toolErrors } from './errors.js';

const MAX_TEXT_CHARS = 16_000;

export const previewCall = async (deps: Pick<CallPolicyDeps, 'registry' | 'schemas' | 'log'>, request: CallRequest): Promise<ToolPreview> => {
  const tool = deps.registry.find(request.name);
  if (!tool) return argumentsPreview(request.args, toolErrors.unknown(request.name, []).message);
  const checked = await checkedArguments(deps, tool, request);
  if ('problem' in checked) return argumentsPreview(request.args, textOf(checked.problem));
  if (!tool.preview) return argumentsPreview(checked.args);
  try {
    // Checked against the tool's schema, an object.
    return await tool.preview(checked.args as Record<string, unknown>, request.call);
  } catch (error) {
    if (isSvcError(error)) return argumentsPreview(checked.args, textOf(error));
    deps.log.error('a tool could not say what a call of it would do', { tool: tool.name, cause: error });
    return argumentsPreview(checked.args, toolErrors.failed(tool.name).message);
  }
};

export const argumentsPreview = (args: unknown, problem?: string): ToolPreview => {
  const text = JSON.stringify(args, null, 2) ?? '';
  return { kind: 'arguments', text: text.slice(0, MAX_TEXT_CHARS), truncated: text.length > MAX_TEXT_CHARS, ...(problem === undefined ? {} : { problem }) };
};
