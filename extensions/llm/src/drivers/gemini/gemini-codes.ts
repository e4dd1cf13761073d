/**
 * Statuses and reasons of Google's errors (https://ai.google.dev/gemini-api/docs/troubleshooting). `INVALID_ARGUMENT` and
 * `RESOURCE_EXHAUSTED` say less than their text: a wrong key has the first, a quota and a bill that is not paid have the second.
 */
import type { Codes } from '../../call/classification.js';

export const GEMINI_CODES: Codes = {
  api_key_invalid: 'auth',
  api_key_expired: 'auth',
  api_key_service_blocked: 'auth',
  unauthenticated: 'auth',
  permission_denied: 'auth',
  billing_disabled: 'credit',
  not_found: 'model_not_found',
  unavailable: 'overloaded',
  deadline_exceeded: 'timeout',
};
