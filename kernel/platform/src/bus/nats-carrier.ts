/** Subjects of a NATS server, which other programs may use as well: each packet is sealed with a secret of the database. */
import { type Authenticator, connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator, tokenAuthenticator, usernamePasswordAuthenticator } from '@nats-io/transport-node';
import type { Carrier, CarrierConnection, CarrierEvents } from './carrier.js';
import type { Deployment } from './deployment.js';
import { databaseError, reasonOf } from './nats-errors.js';
import { createPacketSeal, type PacketSeal, SEAL_BYTES } from './packet-seal.js';

export interface NatsOptions {
  /** Of this member of the bus: nobody ever has the same. */
  readonly name: string;
  /** One or more, as `nats://host:4222,tls://host?sslrootcert=/etc/ca.pem`, without a user. */
  readonly urls: string;
  /** `user:password`, a token, the seed of an NKey, or the text of a .creds file. Undefined where the server asks for none. */
  readonly credentials: string | undefined;
  /** Read once, at the first connection. */
  readonly deployment: () => Promise<Deployment>;
}

/** Larger packets would keep small ones waiting; a server may allow less. */
const MAX_BYTES = 262_144;
const ANSWER_MS = 5_000;
const PING_MS = 5_000;
const SEED = /^S[A-Z2-7]{57}$/;

export const natsCarrier = (options: NatsOptions): Carrier => {
  let known: Subject | undefined;
  return {
    kind: 'nats',
    reasonOf,
    deafness: 'messages do not come back; the NATS user has to be allowed to publish and subscribe to svc.>',
    connect: async (events) => {
      known ??= await subjectOf(options);
      const nats = await connect({ ...addressOf(options.urls), ...who(options.credentials), name: 'svc', timeout: ANSWER_MS, pingInterval: PING_MS, maxPingOut: 2, reconnect: false });
      return joined(nats, known, events);
    },
  };
};

interface Subject extends PacketSeal {
  readonly subject: string;
}

const subjectOf = async ({ deployment, name }: NatsOptions): Promise<Subject> => {
  const { id, secret } = await deployment().catch((cause: unknown) => Promise.reject(databaseError(cause)));
  const subject = `svc.bus.${id}`;
  return { subject, ...createPacketSeal(secret, subject, name) };
};

function joined(nats: NatsConnection, { open, seal, subject }: Subject, { lost, received }: CarrierEvents): CarrierConnection {
  let isOver = false;
  const end = (cause: unknown): void => {
    if (isOver) return;
    isOver = true;
    lost(cause);
  };
  const over = nats.closed().then((cause) => end(cause ?? undefined));
  nats.subscribe(subject, {
    callback: (error, { data }) => {
      if (error) return end(error);
      const packet = open(data);
      if (packet !== undefined) received(packet);
    },
  });
  return {
    maxBytes: Math.min(MAX_BYTES, nats.info?.max_payload ?? MAX_BYTES) - SEAL_BYTES,
    send: async (packets) => {
      for (const packet of packets) nats.publish(subject, seal(packet));
      await inTime(Promise.race([nats.flush(), over]));
    },
    close: async () => {
      isOver = true;
      await inTime(nats.close()).catch(() => undefined); // it is gone already
    },
  };
}

const inTime = async (work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), ANSWER_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

interface Address {
  readonly servers: string[];
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string; readonly host?: string };
}

/** `tls://` in one of them holds for all: nothing is sent in the clear. Throws where one is no address. */
const addressOf = (urls: string): Address => {
  const all = urls.split(',').map((url) => new URL(url.trim()));
  const servers = all.map(({ hostname, port }) => `${hostname}:${port || '4222'}`);
  if (!all.some(({ protocol }) => protocol === 'tls:')) return { servers };
  const file = (name: string): string | undefined => all.map(({ searchParams }) => searchParams.get(name) ?? undefined).find((value) => value !== undefined);
  const [caFile, certFile, keyFile] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => file(name));
  const files = { ...(caFile === undefined ? {} : { caFile }), ...(certFile === undefined ? {} : { certFile }), ...(keyFile === undefined ? {} : { keyFile }) };
  // The client hands all of it to Node, which compares the certificate with the name of the server, and with this where the server is an address.
  const [only] = all.length === 1 ? all : [];
  return { servers, tls: { ...files, ...(only === undefined ? {} : { host: only.hostname }) } };
};

/** What kind of credentials it is shows in its form. */
const who = (credentials: string | undefined): { authenticator?: Authenticator } => {
  const text = credentials?.trim() ?? '';
  if (text === '') return {};
  if (text.includes('BEGIN NATS USER JWT')) return { authenticator: credsAuthenticator(Buffer.from(text)) };
  if (SEED.test(text)) return { authenticator: nkeyAuthenticator(Buffer.from(text)) };
  const colon = text.indexOf(':');
  if (colon > 0) return { authenticator: usernamePasswordAuthenticator(text.slice(0, colon), text.slice(colon + 1)) };
  return { authenticator: tokenAuthenticator(text) };
};
