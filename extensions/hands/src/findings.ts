/** What `svc doctor` says of the hands that are installed. */
import type { DoctorFinding } from '@svc/api';
import type { Fault } from './definitions.js';

const CHECK = 'hands.files';

export const findingsOf = (faults: readonly Fault[]): DoctorFinding[] =>
  faults.length === 0
    ? [{ check: CHECK, result: 'pass', message: 'Every hand can be read.' }]
    : faults.map(({ file, error }): DoctorFinding => ({ check: CHECK, result: 'fail', message: `${file}: ${error}`, fix: 'Correct the file, and run svc hands reload' }));
