/** What brings the packets of a bus from process to process. */
export interface CarrierEvents {
  /** Each packet that anybody sent, this process included. */
  received(packet: string): void;
  /** The connection ended by itself. Called once at most. */
  lost(cause: unknown): void;
}

export interface CarrierConnection {
  /** Of one packet. */
  readonly maxBytes: number;
  /** In order. Rejects when it is not known whether they went out. */
  send(packets: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface Carrier {
  readonly kind: 'postgres' | 'nats';
  /** What it means when a member does not hear itself, for people. */
  readonly deafness: string;
  /** Rejects with the driver's error. */
  connect(events: CarrierEvents): Promise<CarrierConnection>;
  /** Why there is no connection, in words that name no user and no password. */
  reasonOf(cause: unknown): string;
}
