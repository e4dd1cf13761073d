/**
 * Connections that others open.
 *
 * A1  Who has not finished the handshake holds one of few places; when they are all taken, the oldest connection of whoever holds most gives way.
 * A2  Each frame of the handshake has ten seconds.
 */
import type { Clock, Logger, TcpConnection } from '@svc/api';
import { createReader, type FrameBudget, type FrameReader, plainFrame, WireFault, writeFrame } from '../wire/frames.js';
import { answerHandshake, type Established, type HandshakeDeps, refusedFrame } from '../wire/handshake.js';
import { readMessage } from '../wire/messages.js';

const MAX_GREETING = 64;
export const HANDSHAKE_MS = 10_000;

export interface AcceptDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  readonly budget: FrameBudget;
  readonly handshake: HandshakeDeps;
  /** Why there is no room for this node. */
  full(nodeId: string): string | undefined;
  serve(connection: TcpConnection, reader: FrameReader, established: Established): Promise<void>;
}

/** Closes the connection when the time is up; gives what ends the wait. */
export const withDeadline = (clock: Pick<Clock, 'sleep'>, connection: Pick<TcpConnection, 'close'>, late: () => void = () => undefined): (() => void) => {
  const over = new AbortController();
  clock.sleep(HANDSHAKE_MS, over.signal).then(
    () => {
      late();
      connection.close();
    },
    () => undefined, // it was in time
  );
  return () => over.abort();
};

export const createAcceptor = (deps: AcceptDeps): ((connection: TcpConnection) => Promise<void>) => {
  /** In the order in which they came. */
  const greeting = new Set<TcpConnection>();
  const makeRoom = (): void => {
    if (greeting.size < MAX_GREETING) return;
    const held = new Map<string, number>();
    for (const { remote } of greeting) held.set(remote.address, (held.get(remote.address) ?? 0) + 1);
    const [most] = [...held].reduce((one, other) => (other[1] > one[1] ? other : one));
    const oldest = [...greeting].find(({ remote }) => remote.address === most);
    if (!oldest) return;
    greeting.delete(oldest);
    oldest.close();
  };
  return async (connection) => {
    makeRoom();
    greeting.add(connection);
    const reader = createReader(connection.readable, deps.budget);
    try {
      const established = await greeted(deps, connection, reader);
      greeting.delete(connection);
      if (established) await deps.serve(connection, reader, established);
    } catch (error) {
      deps.log.info('A connection was not accepted.', { from: connection.remote.address, why: error instanceof Error ? error.message : String(error) });
      connection.close();
    } finally {
      greeting.delete(connection);
    }
  };
};

const greeted = async (deps: AcceptDeps, connection: TcpConnection, reader: FrameReader): Promise<Established | undefined> => {
  const inTime = withDeadline(deps.clock, connection, () => deps.log.info('A connection was closed.', { from: connection.remote.address, why: 'handshake message not received within 10 s' }));
  try {
    const json = await reader.plain();
    if (json === undefined) return undefined;
    const first = readMessage(json);
    if (!first) throw new WireFault('Handshake failed: the first message could not be read');
    const answer = await answerHandshake(deps.handshake, first);
    if ('refused' in answer) {
      deps.log.info('A peer was refused.', { from: connection.remote.address, why: answer.refused.why });
      await writeFrame(connection, plainFrame(answer.reply));
      return undefined;
    }
    const why = first.type === 'request' && first.body.method === 'handshake' ? deps.full(first.body.node_id) : undefined;
    if (why !== undefined) {
      await writeFrame(connection, plainFrame(refusedFrame(first.id, { code: 503, message: why, why })));
      return undefined;
    }
    await writeFrame(connection, plainFrame(answer.reply));
    return answer.finish();
  } finally {
    inTime();
  }
};
