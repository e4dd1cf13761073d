/** The codes that an error frame of the chat socket has: a short list, so that a program can know all of them. The daemon's own code stands beside it. */

export type SocketErrorCode =
  | 'agent_not_found'
  | 'budget_exceeded'
  | 'context_length_exceeded'
  | 'rate_limited'
  | 'billing_error'
  | 'auth_error'
  | 'model_not_found'
  | 'format_error'
  | 'llm_error'
  | 'upload_access_denied';

const BY_CODE: Readonly<Record<string, SocketErrorCode>> = {
  agent_not_found: 'agent_not_found',
  run_agent_gone: 'agent_not_found',
  budget_exceeded: 'budget_exceeded',
  token_quota_exceeded: 'budget_exceeded',
  llm_context_too_long: 'context_length_exceeded',
  llm_provider_rate_limited: 'rate_limited',
  llm_provider_credit: 'billing_error',
  llm_provider_auth: 'auth_error',
  llm_provider_key_missing: 'auth_error',
  llm_provider_key_unreadable: 'auth_error',
  llm_model_not_found: 'model_not_found',
  llm_provider_model_missing: 'model_not_found',
  llm_provider_not_found: 'model_not_found',
};

/** By the code, else by the status: what is wrong with the message, who may not ask, or what the model did not do. */
export const socketCodeOf = (code: string, status: number): SocketErrorCode => {
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  // Such an upload is somebody else's, or there is none.
  if (code === 'upload_not_found') return 'upload_access_denied';
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return 'auth_error';
  return status >= 400 && status < 500 ? 'format_error' : 'llm_error';
};
