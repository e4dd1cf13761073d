/** Why a trigger did or did not fire, in a sentence or two, from its row and its newest history. */
import type { FireRow, Trigger } from './contract.js';

/** `rows`: newest first. */
export const whyOf = (trigger: Trigger, fires: number, rows: readonly FireRow[]): string => [standing(trigger, fires), last(rows)].filter((text) => text !== '').join(' ');

const standing = ({ enabled, max_fires: most }: Trigger, fires: number): string => {
  if (enabled) return '';
  return most > 0 && fires >= most ? `It is disabled, because it fired ${fires} times and may fire ${most} times (max_fires).` : 'It is disabled.';
};

const last = ([newest, ...older]: readonly FireRow[]): string => {
  if (!newest) return 'It has not fired: nothing that it waits for has happened since it was made, as far as its history reaches.';
  if (newest.status !== 'skipped') return sentence(newest);
  const before = older.find(({ status }) => status !== 'skipped');
  return `It did not fire for ${newest.event} at ${newest.fired_at}: ${newest.reason ?? 'no reason is stored'}.${before ? ` ${sentence(before)}` : ''}`;
};

const sentence = ({ event, fired_at: at, status, reason, run_id: run }: FireRow): string => {
  const where = run === null ? '' : ` (run ${run})`;
  if (status === 'running') return `It fired for ${event} at ${at} and goes on${where}.`;
  if (status === 'error') return `It fired last for ${event} at ${at} and failed${where}: ${reason ?? 'no reason is stored'}.`;
  return `It fired last for ${event} at ${at} and ended well${where}.`;
};
