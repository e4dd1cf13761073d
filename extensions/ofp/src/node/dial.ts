/** Connections that this node opens: to daemons that the operator named, again and again with growing pauses. */
import type { Clock, Ids, Logger, Tcp, TcpConnection } from '@svc/api';
import { type Address, showAddress } from '../addresses.js';
import { createReader, type FrameBudget, type FrameReader, plainFrame, WireFault, writeFrame } from '../wire/frames.js';
import { beginHandshake, type Established, type HandshakeDeps } from '../wire/handshake.js';
import { readMessage } from '../wire/messages.js';
import { withDeadline } from './accept.js';

/** Peers say nothing until they have something to say. */
export const LINK_IDLE_MS = 86_400_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A link that stood this long was a good one: the next pause is the first one again. */
const STEADY_MS = 30_000;

export interface DialDeps {
  readonly clock: Pick<Clock, 'sleep' | 'mono'>;
  readonly log: Logger;
  readonly ids: Pick<Ids, 'random'>;
  readonly tcp: Pick<Tcp, 'dial'>;
  readonly budget: FrameBudget;
  readonly handshake: HandshakeDeps;
}

export interface Dialed {
  readonly connection: TcpConnection;
  readonly reader: FrameReader;
  readonly established: Established;
}

/** `expected` is empty where it is not known who is there. Rejects with why there is no connection. */
export const dialPeer = async (deps: DialDeps, address: Address, expected: string, signal: AbortSignal): Promise<Dialed> => {
  const connection = await deps.tcp.dial({ ...address, purpose: 'another daemon', idleTimeoutMs: LINK_IDLE_MS, signal });
  const inTime = withDeadline(deps.clock, connection);
  try {
    const reader = createReader(connection.readable, deps.budget);
    const { request, finish } = await beginHandshake(deps.handshake, expected);
    await writeFrame(connection, plainFrame(request));
    const json = await reader.plain();
    if (json === undefined) throw new WireFault('Handshake failed: the connection was closed before an answer came');
    const answer = readMessage(json);
    if (!answer) throw new WireFault('Handshake failed: the answer could not be read');
    return { connection, reader, established: await finish(answer) };
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    inTime();
  }
};

export interface Keeping {
  readonly address: Address;
  readonly signal: AbortSignal;
  /** Until the link ends. True where this address is of no use: it is this node. */
  serve(dialed: Dialed): Promise<boolean>;
  /** Undefined once it is connected. */
  trouble(why: string | undefined): void;
}

/** Keeps one link, until the signal. Never rejects. */
export const keepDialing = async (deps: DialDeps, { address, signal, serve, trouble }: Keeping): Promise<void> => {
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const since = deps.clock.mono();
    try {
      const dialed = await dialPeer(deps, address, '', signal);
      trouble(undefined);
      if (await serve(dialed)) return trouble(`${showAddress(address)} is this daemon itself`);
      trouble(`the connection to ${showAddress(address)} was lost`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      trouble(`${showAddress(address)}: ${why}`);
      deps.log.info('A peer was not reached.', { address: showAddress(address), why });
    }
    if (deps.clock.mono() - since > STEADY_MS) pause = FIRST_PAUSE_MS;
    // Half of it by chance: daemons that lost the same peer do not all come back at once.
    await deps.clock.sleep(pause * (0.5 + deps.ids.random() / 2), signal).catch(() => undefined);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
};
