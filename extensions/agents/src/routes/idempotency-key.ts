import { REQUEST_KEY } from '@svc/api';
import { agentErrors } from '../errors.js';

/** The caller's key, under which the same request makes the same agent. Throws `agents_invalid_key`. */
export const keyOf = (headers: Readonly<Record<string, string | undefined>>): { key?: string } => {
  const key = headers['idempotency-key'];
  if (key !== undefined && !REQUEST_KEY.fits(key)) throw agentErrors.agents_invalid_key();
  return key === undefined ? {} : { key };
};
