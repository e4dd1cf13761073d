/**
 * Errors as OpenAI's clients read them: `{error: {message, type, code, param}}`.
 * Whoever does not name itself as one of them gets the string of the interface.
 */
import type { ErrorBody, ErrorShape } from '@svc/api';

type Headers = Readonly<Record<string, string | undefined>>;

/** OpenAI's SDKs and what is built on them (x-stainless-*), and clients of their own that read the same. */
const CLIENT_NAMES = /openai|ai-sdk|langchain|llama-?index|litellm/i;

const readsObjects = (headers: Headers): boolean => CLIENT_NAMES.test(headers['user-agent'] ?? '') || Object.keys(headers).some((name) => name.startsWith('x-stainless-'));

/** What programs look for by OpenAI's own name. */
const codeOf = (status: number, code: string): string => {
  if (status === 401) return 'invalid_api_key';
  return code === 'llm_context_too_long' ? 'context_length_exceeded' : code;
};

const TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error', 503: 'service_unavailable' };

const typeOf = (status: number): string => TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');

/** `hint` stands in the message: these clients show nothing else. */
export const errorObject = (status: number, { error, code, hint }: Pick<ErrorBody, 'error' | 'code' | 'hint'>) => ({
  message: hint === undefined ? error : `${error} ${hint}`,
  type: typeOf(status),
  code: codeOf(status, code),
  param: null,
});

export const openAiErrors: ErrorShape = {
  under: '/v1/',
  body: (status, error, headers) => (readsObjects(headers) ? { error: errorObject(status, error), request_id: error.request_id } : undefined),
};
