/** One message to an agent and everything that happens until its answer, whatever happens to the connection (@svc/client, S1 to S3). */
import { type DaemonClient, Failure, failureOf } from '@svc/cli/area';
import { ConnectionError, NotSvcError, TimeoutError } from '@svc/client';
import { type MessageEvent, type MessageInput, streamMessage as follow } from '@svc/client/stream';

export type RunEvent = MessageEvent;

/** Ends with exactly one `done` or `error` event, or throws a Failure. */
export async function* streamMessage(daemon: DaemonClient, agentId: string, message: MessageInput, signal: AbortSignal): AsyncGenerator<RunEvent> {
  let hasBegun = false;
  try {
    for await (const event of follow(daemon.client, agentId, message, { signal })) {
      hasBegun = true;
      yield event;
    }
  } catch (error) {
    throw explained(error, daemon.url, hasBegun);
  }
}

const explained = (error: unknown, url: string, hasBegun: boolean): unknown => {
  if (hasBegun && (error instanceof ConnectionError || error instanceof TimeoutError))
    return new Failure('The connection was lost and could not be restored.', { code: 'cli_connection_lost', why: 'the run may continue in the daemon', fix: 'svc status' });
  if (hasBegun && error instanceof NotSvcError) return new Failure('The daemon sent a frame that cannot be read.', { code: 'cli_bad_frame', why: error.why, fix: 'svc doctor' });
  return failureOf(error, url);
};

/** Asks the daemon to end what the agent is doing. */
export const stopRun = async (daemon: DaemonClient, agentId: string): Promise<string> => (await daemon.call('stopAgent', { id: agentId })).message;
