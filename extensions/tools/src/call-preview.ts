/** The preview of a call, by its tool; its arguments where the tool has none to give. */
import { isSvcError, type ToolPreview, UNSEEN } from '@svc/api';
import { type CallPolicyDeps, checkedArguments, textOf } from './call-policy.js';
import type { CallRequest } from './contract.js';
import { toolErrors } from './errors.js';

const MAX_TEXT_CHARS = 16_000;

/** No character is left that shows nothing, or makes a text read as another one: each stands as its number. */
export const previewCall = async (deps: Pick<CallPolicyDeps, 'registry' | 'schemas' | 'log'>, request: CallRequest): Promise<ToolPreview> => inSight(await madeBy(deps, request));

const HIDDEN = new RegExp(UNSEEN.source, 'g');

const inSight = <T>(value: T): T => {
  // Texts stay texts, lists lists and objects objects: the shape of T.
  if (typeof value === 'string') return value.replace(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`)) as T;
  if (Array.isArray(value)) return value.map(inSight) as T;
  return typeof value === 'object' && value !== null ? (Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inSight(part)])) as T) : value;
};

const madeBy = async (deps: Pick<CallPolicyDeps, 'registry' | 'schemas' | 'log'>, request: CallRequest): Promise<ToolPreview> => {
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
