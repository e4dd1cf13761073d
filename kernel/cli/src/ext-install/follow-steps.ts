/** A call that answers with its steps: shown as they come, and the last of them is the answer or the refusal. Sent once. */
import type { EventOf, InputOf, OutputOf } from '@svc/client';
import { eventsOfCall } from '@svc/client/stream';
import { type DaemonClient, failureOf } from '../daemon/daemon-client.js';
import { Failure } from '../failure.js';

type Stepped = 'installExtension' | 'upgradeExtension';
type Event = EventOf<'installExtension'>;
export type Step = Extract<Event, { readonly type: 'progress' }>['data'];
type Refusal = Extract<Event, { readonly type: 'error' }>['data'];

/** The daemon says something at each step; nothing at all for so long means that it is gone. */
const SILENCE_MS = 10 * 60_000;

export const followSteps = async <Id extends Stepped>({ client, url }: DaemonClient, id: Id, input: InputOf<Id>, onStep: (step: Step) => void): Promise<OutputOf<Id>> => {
  try {
    for await (const { data, type } of eventsOfCall(client, id, input, { idleMs: SILENCE_MS })) {
      // The document gives each of these events its shape.
      if (type === 'progress') onStep(data as Step);
      if (type === 'done') return data as OutputOf<Id>;
      if (type === 'error') throw refused(data as Refusal);
    }
  } catch (error) {
    throw error instanceof Failure ? error : failureOf(error, url);
  }
  throw new Failure('The daemon closed the connection before it was done.', { code: 'cli_connection_lost', fix: 'svc ext list   shows the current state' });
};

const refused = ({ code, details, error, hint, request_id, status }: Refusal): Failure => new Failure(error, { code, status, fix: hint, requestId: request_id, details });
