/**
 * One message to an agent and everything that happens until its answer.
 *
 * R1  A dropped connection is taken up where it was: same idempotency key, `Last-Event-ID` of the last frame seen.
 *     No frame is shown twice and no second run begins.
 * R2  The stream ends with exactly one `done` or `error` event, or a Failure is thrown.
 */
import { errnoOf } from '@svc/platform/config/errno';
import { randomUUID } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { DaemonClient } from './daemon-client.js';
import { Failure } from '../failure.js';

const RECONNECTS = 8;
const FIRST_WAIT_MS = 250;

/** As the interface takes it. */
export interface MessageBody {
  readonly message: string;
  readonly attachments?: ReadonlyArray<{ readonly file_id: string; readonly filename: string }>;
}

export type RunEvent =
  | { readonly type: 'chunk'; readonly data: { readonly content: string } }
  | { readonly type: 'tool_use'; readonly data: { readonly tool: string; readonly id?: string } }
  | {
      readonly type: 'tool_result';
      readonly data: {
        readonly tool: string;
        readonly id?: string;
        readonly input?: unknown;
        readonly is_error?: boolean;
        readonly result?: string;
        readonly missing?: ReadonlyArray<{ readonly capability: string; readonly target?: string }>;
      };
    }
  | { readonly type: 'phase'; readonly data: { readonly phase: string; readonly detail?: string } }
  | { readonly type: 'done'; readonly data: { readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }; readonly result?: Record<string, unknown> } }
  | { readonly type: 'error'; readonly data: { readonly error: string; readonly code?: string; readonly hint?: string } };

const KNOWN = new Set(['chunk', 'tool_use', 'tool_result', 'phase', 'done', 'error']);

export async function* streamMessage(daemon: DaemonClient, agentId: string, body: MessageBody, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const key = randomUUID();
  let lastId: string | undefined;
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const event of readOnce(daemon, agentId, body, key, lastId, signal)) {
        attempt = 0;
        if (event.id !== undefined) lastId = event.id;
        if (!KNOWN.has(event.type)) continue;
        // The daemon's contract gives each of these names its shape.
        const known = { type: event.type, data: event.data } as RunEvent;
        yield known;
        if (known.type === 'done' || known.type === 'error') return;
      }
    } catch (error) {
      if (signal.aborted || !isDrop(error, lastId !== undefined)) throw error;
    }
    if (signal.aborted) return;
    if (attempt >= RECONNECTS)
      throw new Failure('The connection was lost and could not be taken up again.', { code: 'cli_connection_lost', why: 'the run itself may go on in the daemon', mend: 'svc status' });
    await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** Math.min(attempt, 4)));
  }
}

/** The daemon refusing is final. A connection that broke is not; nor, once the run has begun, a daemon that is just being restarted. */
const isDrop = (error: unknown, hasBegun: boolean): boolean => {
  const code = error instanceof Failure ? error.code : (errnoOf(error) ?? '');
  if (hasBegun && (code === 'cli_daemon_not_running' || (error instanceof Failure && error.status === 503))) return true;
  return ['cli_connection_lost', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code);
};

interface Parsed {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: unknown;
}

async function* readOnce(daemon: DaemonClient, agentId: string, body: MessageBody, key: string, lastId: string | undefined, signal: AbortSignal): AsyncGenerator<Parsed> {
  const headers = { accept: 'text/event-stream', 'idempotency-key': key, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
  const response = await daemon.open('POST', `/api/agents/${agentId}/message/stream`, { body, headers }, signal);
  const queue: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void queue.push(event) });
  response.setEncoding('utf8');
  for await (const text of response as AsyncIterable<string>) {
    parser.feed(text);
    for (const event of queue.splice(0)) yield { id: event.id, type: event.event ?? 'message', data: dataOf(event) };
  }
}

const dataOf = (event: EventSourceMessage): unknown => {
  try {
    return JSON.parse(event.data);
  } catch (error) {
    throw new Failure('The daemon sent a frame that cannot be read.', {
      code: 'cli_bad_frame',
      why: `event ${event.event ?? 'message'}: ${error instanceof Error ? error.message : String(error)}`,
      mend: 'svc doctor',
    });
  }
};

/** Asks the daemon to end what the agent is doing. */
export const stopRun = async (daemon: DaemonClient, agentId: string): Promise<string> => {
  const answer = await daemon.call<{ message?: string }>('POST', `/api/agents/${agentId}/stop`);
  return answer.message ?? 'Stopped';
};
