/** TCP for protocols of their own: a mail server, a peer, a database of somebody else. */

export interface DialOptions {
  host: string;
  port: number;
  /** What it is for, in a few words: for the log and for messages. */
  purpose: string;
  /** The certificate is always validated, for `host`; `ca` is a PEM to trust instead of the system's. Default: plain. */
  tls?: boolean | { readonly ca: string };
  /** Default 10 s, to the end of the TLS handshake. */
  connectTimeoutMs?: number;
  /** No byte in either direction for this long closes it; default 5 minutes. */
  idleTimeoutMs?: number;
  /** Closes the connection, or gives up the attempt. */
  signal?: AbortSignal;
}

export interface ListenOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** 0 for any that is free. */
  port: number;
  /** At most, and by default, 256; further connections are closed immediately. */
  maxConnections?: number;
  /** Default 5 minutes. */
  idleTimeoutMs?: number;
}

/** Closed at the latest when the generation that opened it stops. */
export interface TcpConnection {
  readonly remote: { readonly address: string; readonly port: number };
  /** Can be read once; unread data blocks the other side. Ends when the other side ends; throws `tcp_lost` or `tcp_idle` if the connection breaks. */
  readonly readable: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written. Rejects with `tcp_closed`, or `tcp_send_full` where 1 MiB waits already. */
  write(data: string | Uint8Array): Promise<void>;
  /** Nothing more will be written; the other side may still send. */
  end(): void;
  /**
   * TLS from here on, as STARTTLS begins it, for the host that was dialled; `ca` is a PEM to trust instead of the system's. Call it when the other
   * side agreed and nothing else was sent. This connection is spent, and the answer takes its place. Throws `tcp_not_securable`, also where bytes
   * came that nobody asked for: they are not protected.
   */
  startTls(options?: { readonly ca?: string }): Promise<TcpConnection>;
  /** At once. */
  close(): void;
  /** When it is gone, however. Never rejects. */
  readonly closed: Promise<void>;
}

export interface TcpListener {
  readonly address: string;
  readonly port: number;
  /** Gives the port back and closes its connections. */
  close(): Promise<void>;
}

export interface Tcp {
  /** Needs the grant `net:dial:<host>[:port]`, or what `egress.allow` was given as `tcp://host:port`. Private addresses only where one of these names them, or [web.fetch] ssrf_allowed_hosts. */
  dial(options: DialOptions): Promise<TcpConnection>;
  /** Needs the grant `net:listen[:port]`. When `serve` is done, or throws, its connection is closed. */
  listen(options: ListenOptions, serve: (connection: TcpConnection) => Promise<void>): Promise<TcpListener>;
}
