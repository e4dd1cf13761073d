/** What the operator says of child processes: [exec_policy], for both adapters that start them. */
import type { Config } from './child-host.js';
import { execErrors } from '../errors.js';

export interface ChildPolicy {
  readonly mode?: string;
  readonly allowed_env_vars?: readonly string[];
  readonly timeout_secs?: number;
  readonly max_output_bytes?: number;
}

/** Throws `exec_denied` where nobody may start anything. */
export const policyOf = (config: Config, isClosed: boolean): ChildPolicy => {
  // The section was validated at load; a closed one holds no policy that anybody chose.
  const policy = (config.get('exec_policy') ?? {}) as ChildPolicy;
  if (policy.mode === 'deny' || isClosed || config.isClosed?.('exec_policy')) throw execErrors.denied();
  return policy;
};
