/** Types of errors in the messages protocol (https://docs.anthropic.com/en/api/errors). `invalid_request_error` says less than its text. */
import type { Codes } from '../call/classification.js';

export const ANTHROPIC_CODES: Codes = {
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'credit',
  enforced_spend_limit_reached: 'credit',
  rate_limit_error: 'rate_limit',
  overloaded_error: 'overloaded',
  request_too_large: 'context_too_long',
  not_found_error: 'model_not_found',
  timeout_error: 'timeout',
};

/** The status of an error that comes inside a stream, which began with 200. */
export const ANTHROPIC_STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
