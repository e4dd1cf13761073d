/** What `svc doctor` says of each channel. */
import type { DoctorFinding } from '@svc/api';
import type { Accounts } from './accounts.js';
import type { Supervisor } from './supervisor.js';

export const findingsOf = async (accounts: Accounts, supervisor: Supervisor): Promise<DoctorFinding[]> =>
  Promise.all(
    (await accounts.all()).map(async (account): Promise<DoctorFinding> => {
      const { state, problem, fix } = await supervisor.standing(account, accounts.adapterOf(account.name));
      if (state === 'connected' || state === 'listening') return { check: 'channels', result: 'pass', message: `${account.name} is ${state}.` };
      return {
        check: 'channels',
        result: state === 'connecting' ? 'warn' : 'fail',
        message: `${account.name} is ${state}${problem === null ? '' : `: ${problem}`}.`,
        fix: fix ?? `svc channels test ${account.name}`,
      };
    }),
  );
