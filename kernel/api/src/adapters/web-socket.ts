/** Outgoing WebSockets, for servers that push: the gateway of a chat platform. */

export interface WebSocketOptions {
  /** What it is for, in a few words: for the log and for messages. */
  readonly purpose?: string;
  /** Default 15 s, to the end of the handshake. */
  readonly connectTimeoutMs?: number;
  /** No frame of the other side for this long closes it; default 5 minutes. */
  readonly idleTimeoutMs?: number;
  /** A longer message closes the connection with 1009; default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Gives up the attempt, or ends the connection with `closeCode`. */
  readonly signal?: AbortSignal;
  /** The code of the goodbye when the signal or the end of the generation closes it; default 1001. */
  readonly closeCode?: number;
}

/** How it ended: the code and the reason of the other side; 1006 where it said none. */
export interface WebSocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** Closed at the latest when the generation that opened it stops. */
export interface WebSocketConnection {
  /** Can be read once; what is not read blocks the other side. Ends when the connection does: then `closed` says how. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** Resolves when it is handed to the network. Rejects with `websocket_closed`, or `websocket_send_full` where 1 MiB waits already. */
  send(data: string | Uint8Array): Promise<void>;
  /** Resolves when the other side has answered. Rejects with `websocket_closed`. */
  ping(): Promise<void>;
  /** Says goodbye with this code; default 1000. A side that does not answer is cut off. */
  close(code?: number, reason?: string): void;
  /** When it is gone, however. Never rejects. */
  readonly closed: Promise<WebSocketEnd>;
}
