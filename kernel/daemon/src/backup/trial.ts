/** A start that only shows whether the data of a home starts: no work is taken up, and nothing leaves the process. */
import { defineErrors } from '@svc/api';
import { type PartFactories, standardFactories } from '../boot/part-factories.js';

/** What `--trial` prints. */
export interface TrialReport {
  readonly extensions: ReadonlyArray<{ readonly id: string; readonly state: string; readonly reason: string | null }>;
}

const trialErrors = defineErrors('trial', {
  no_effect: { status: 503, retry: false, message: () => 'This daemon only verifies a backup.', hint: 'Nothing is sent or started while a backup is verified.' },
});

const refuse = async (): Promise<never> => {
  throw trialErrors.no_effect();
};

/** Requests, connections and programs are refused. */
export const trialFactories: Partial<PartFactories> = {
  createFetchAdapter: (deps) => ({ ...standardFactories.createFetchAdapter(deps), fetch: refuse }),
  createExecAdapter: (deps) => ({ ...standardFactories.createExecAdapter(deps), exec: refuse, spawn: refuse }),
  createTcpAdapter: (deps) => ({ ...standardFactories.createTcpAdapter(deps), dial: refuse, listen: refuse }),
};
