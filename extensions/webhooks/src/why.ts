/** Why a webhook did or did not send, in a sentence or two, from its newest deliveries. */
import type { DeliveryRow } from './contract.js';

/** `rows`: newest first. */
export const whyOf = ({ enabled }: { readonly enabled: boolean }, rows: readonly DeliveryRow[]): string => {
  const waiting = rows.filter(({ status }) => status === 'pending').length;
  return [
    enabled ? '' : 'It is disabled, so that nothing is sent.',
    rows[0] ? sentence(rows[0]) : 'Nothing was sent: none of its events has happened since it was made, as far as its deliveries are stored.',
    waiting > 1 ? `${waiting} deliveries wait.` : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
};

const sentence = ({ event, created_at: at, status, attempts, response_status: answered, reason, ended_at: ended, next_attempt_at: next }: DeliveryRow): string => {
  const tries = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  if (status === 'sent') return `The event ${event} of ${at} was taken at ${ended ?? at} (${answered ?? 'no status'}, ${tries}).`;
  if (status === 'dead') return `The event ${event} of ${at} was given up after ${tries}: ${reason ?? 'no reason is stored'}.`;
  if (attempts === 0) return `The event ${event} of ${at} is about to be sent.`;
  return `The event ${event} of ${at} was not taken (${tries}: ${reason ?? 'no reason is stored'}); the next attempt is at ${next ?? 'no time'}.`;
};
