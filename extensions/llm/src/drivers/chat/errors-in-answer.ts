/** An error that stands where an answer was expected, in the forms that servers of the chat-completions protocol have for it. */
import { isTable } from '@svc/api';
import type { Table } from './parts.js';

const TEXTS = ['message', 'msg', 'detail', 'details', 'error_msg', 'error_message', 'errors', 'errorMessage'] as const;

/** The error, or undefined where an object is none. */
export const errorIn = (chunk: Table): unknown => {
  const { error, choices, object, type, base_resp } = chunk;
  if (isSet(error)) return error;
  if (object === 'error' || type === 'error') return chunk;
  if (isTable(base_resp) && typeof base_resp.status_code === 'number' && base_resp.status_code !== 0) return base_resp;
  const [choice] = Array.isArray(choices) ? choices : [];
  if (isTable(choice) && isSet(choice.error)) return choice.error;
  const isChunk = Array.isArray(choices) || isTable(chunk.usage) || isTable(chunk.timings);
  return !isChunk && TEXTS.some((name) => isText(chunk[name])) ? chunk : undefined;
};

const isSet = (error: unknown): boolean => error !== undefined && error !== null && error !== '' && error !== false && !(isTable(error) && Object.keys(error).length === 0);

const isText = (value: unknown): boolean => (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0);
