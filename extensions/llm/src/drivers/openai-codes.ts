/**
 * Codes and types of errors in the chat-completions protocol: of OpenAI (https://platform.openai.com/docs/guides/error-codes), Azure, Groq,
 * Mistral, vLLM, llama.cpp and others that speak it. A number (OpenRouter) is the status once more.
 */
import type { Codes } from '../call/classification.js';

export const OPENAI_CODES: Codes = {
  invalid_api_key: 'auth',
  invalid_authentication: 'auth',
  authentication_error: 'auth',
  account_deactivated: 'auth',
  invalid_organization: 'auth',
  unauthorized: 'auth',
  insufficient_quota: 'credit',
  billing_not_active: 'credit',
  billing_hard_limit_reached: 'credit',
  credit_balance_exhausted: 'credit',
  rate_limit_exceeded: 'rate_limit',
  rate_limit_error: 'rate_limit',
  rate_limited: 'rate_limit',
  ratelimitreached: 'rate_limit',
  engine_overloaded: 'overloaded',
  server_is_overloaded: 'overloaded',
  overloaded_error: 'overloaded',
  slow_down: 'overloaded',
  /** llama.cpp while it loads a model. */
  unavailable_error: 'overloaded',
  context_length_exceeded: 'context_too_long',
  string_above_max_length: 'context_too_long',
  exceed_context_size_error: 'context_too_long',
  content_filter: 'content',
  content_policy_violation: 'content',
  responsibleaipolicyviolation: 'content',
  model_not_found: 'model_not_found',
  deploymentnotfound: 'model_not_found',
  model_decommissioned: 'model_not_found',
  timeout: 'timeout',
};

/** The status of an error that comes inside a stream, where it names none. */
export const OPENAI_STATUSES: Readonly<Record<string, number>> = { invalid_request_error: 400 };
