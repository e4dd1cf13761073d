/** What `svc doctor` says of the connection between replicas. */
import type { DoctorFinding, ReplicasView } from '@svc/api';
import { connectionOf, lostOf } from './overview.js';

const check = 'ReplicasCheck';

export const findingOf = (view: ReplicasView): DoctorFinding => {
  const { bus, daemons, isShared, listeners, waiting } = view;
  if (!isShared || bus.isConnected) {
    const unheard = daemons.filter(({ isReached }) => !isReached).map(({ name }) => name);
    if (unheard.length === 0) return { check, result: 'pass', message: isShared ? `The daemons hear each other: ${connectionOf(view)}.` : 'This daemon has its database to itself.' };
    return {
      check,
      result: 'warn',
      message: `This daemon does not hear ${unheard.join(', ')}; it reads their changes from the database within seconds.`,
      fix: 'Give all daemons the same [cluster] bus, or none.',
    };
  }
  const behind = Math.max(0, ...listeners.map((one) => one.behind));
  return {
    check,
    result: 'warn',
    message: `${lostOf(bus)} Changes of other daemons are read from the database within seconds. Waiting runs: ${waiting.runs}; undelivered events: ${behind}.`,
    fix: bus.carrier === 'nats' ? 'Start the NATS server, or correct [cluster] bus and its credentials.' : 'Check the connection to PostgreSQL: LISTEN needs one that no pooler shares.',
  };
};
