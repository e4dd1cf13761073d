/**
 * IMAP4rev1 (RFC 3501) with IDLE (RFC 2177), as far as a mailbox is followed. It reads when it is asked, and nothing before TLS that was not asked for.
 *
 * E5  The password goes out over TLS alone, or to this machine; a server that offers no STARTTLS where it must is a fault.
 */
import type { Clock, TcpConnection } from '@svc/api';
import { ChannelFault } from '../adapter.js';
import type { MailServer } from './servers.js';

const MAX_LINE = 65_536;
const MAX_LITERAL = 1_048_576;
const MAX_UNTAGGED = 10_000;
const DAY_MS = 86_400_000;
const CRLF = '\r\n';
const GROWN = /^\* \d+ (?:EXISTS|RECENT)\b/i;

interface Response {
  /** With `\0` where a literal stands. */
  readonly text: string;
  readonly literals: readonly Buffer[];
}

export interface Mailbox {
  readonly validity: string;
  /** The UID that the next message will have. */
  readonly next: number;
}

export interface Imap {
  open(mailbox: string): Promise<Mailbox>;
  /** UIDs from `first` on, in order. */
  uidsFrom(first: number): Promise<number[]>;
  /** UIDs of the last two days, in order. */
  recent(now: number): Promise<number[]>;
  /** The first `maxBytes` of a message, without marking it as read; undefined where it is gone. */
  fetch(uid: number, maxBytes: number): Promise<Buffer | undefined>;
  /** Until the mailbox changes or the time is over. */
  wait(ms: number): Promise<void>;
  close(): void;
}

export interface ImapOptions {
  readonly server: MailServer;
  readonly username: string;
  readonly password: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** A PEM to trust instead of the system's. */
  readonly ca?: string;
}

const refusedFault = (what: string, text: string): ChannelFault =>
  new ChannelFault(`the mail server refused ${what}: ${text.slice(0, 200)}`, 'Check user name, password and what the mailbox may do, then configure the channel again.');
const strangeFault = (why: string): ChannelFault => new ChannelFault(`the mail server answers something that is not IMAP: ${why}`, 'Check imap_host, imap_port and security.');

/** One response after the other, literals read with their line. */
const createReader = (connection: TcpConnection) => {
  const pieces = connection.readable[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);
  let filling: Promise<void> | undefined;
  /** Waits for more bytes. A wait that somebody gave up goes on, and the next one takes it over. */
  const fill = (): Promise<void> => {
    filling ??= pieces
      .next()
      .then(({ value, done }) => {
        if (done) throw new ChannelFault('the mail server closed the connection', 'svc connects again.');
        buffer = Buffer.concat([buffer, value]);
      })
      .finally(() => {
        filling = undefined;
      });
    return filling;
  };
  const parsed = (): Response | undefined => {
    const literals: Buffer[] = [];
    let text = '';
    let at = 0;
    for (;;) {
      const end = buffer.indexOf(CRLF, at);
      if (end < 0) {
        if (buffer.length - at > MAX_LINE) throw strangeFault('a line without end');
        return undefined;
      }
      const line = buffer.toString('latin1', at, end);
      const [literal, size] = /\{(\d+)\}$/.exec(line) ?? [];
      at = end + CRLF.length;
      if (literal === undefined) {
        buffer = buffer.subarray(at);
        return { text: text + line, literals };
      }
      const length = Number(size);
      if (length > MAX_LITERAL) throw strangeFault(`a literal of ${length} bytes`);
      if (buffer.length < at + length) return undefined;
      literals.push(Buffer.from(buffer.subarray(at, at + length)));
      text += `${line.slice(0, -literal.length)}\0`;
      at += length;
    }
  };
  return {
    fill,
    buffered: () => buffer.length,
    parsed,
    next: async (): Promise<Response> => {
      for (;;) {
        const found = parsed();
        if (found) return found;
        await fill();
      }
    },
  };
};

const quoted = (text: string): string => {
  if (/[^ -~]/.test(text))
    throw new ChannelFault('user name or password have characters that this mail server does not take', 'Use a password of ASCII characters, or a server with AUTH=PLAIN.', 'never');
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
};

/** Throws a ChannelFault. */
export const createImap = async (first: TcpConnection, { server, username, password, clock, ca }: ImapOptions): Promise<Imap> => {
  let connection = first;
  let reader = createReader(connection);
  let count = 0;
  /** The mailbox grew since it was last searched. */
  let hasGrown = false;
  const command = async (text: string, what: string): Promise<Response[]> => {
    count += 1;
    const tag = `s${count}`;
    await connection.write(`${tag} ${text}${CRLF}`);
    const found: Response[] = [];
    for (;;) {
      const response = await reader.next();
      if (response.text.startsWith(`${tag} `)) {
        if (/^\S+ OK\b/i.test(response.text)) return found;
        throw refusedFault(what, response.text.slice(tag.length + 1));
      }
      if (response.text.startsWith('* BYE')) throw new ChannelFault(`the mail server ended the connection: ${response.text.slice(6, 200)}`, 'svc connects again.');
      hasGrown ||= GROWN.test(response.text);
      if (found.length >= MAX_UNTAGGED) throw strangeFault('more lines than anybody asked for');
      found.push(response);
    }
  };
  const capabilities = async (): Promise<ReadonlySet<string>> => {
    const lines = await command('CAPABILITY', 'to say what it can do');
    return new Set(lines.flatMap(({ text }) => (/^\* CAPABILITY /i.test(text) ? text.slice(13).toUpperCase().split(' ') : [])));
  };
  const searched = async (what: string): Promise<number[]> => {
    const lines = await command(`UID SEARCH ${what}`, 'to search');
    const uids = lines.flatMap(({ text }) => (/^\* SEARCH/i.test(text) ? text.slice(8).trim().split(/\s+/).filter(Boolean).map(Number) : []));
    return uids.filter((uid) => Number.isSafeInteger(uid) && uid > 0).sort((a, b) => a - b);
  };
  const greeting = await reader.next();
  if (!/^\* (?:OK|PREAUTH)\b/i.test(greeting.text)) throw /^\* BYE/i.test(greeting.text) ? refusedFault('the connection', greeting.text) : strangeFault(greeting.text.slice(0, 80));
  let known = await capabilities();
  if (server.security === 'starttls') {
    if (!known.has('STARTTLS')) throw new ChannelFault('the mail server offers no STARTTLS', 'Use security tls with its port, such as 993.');
    await command('STARTTLS', 'to encrypt the connection');
    // Bytes behind the answer were put there by somebody else.
    if (reader.buffered() > 0) throw strangeFault('bytes that came before TLS');
    connection = await connection.startTls(ca === undefined ? {} : { ca });
    reader = createReader(connection);
    known = await capabilities();
  }
  if (known.has('AUTH=PLAIN') && known.has('SASL-IR')) await command(`AUTHENTICATE PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`, 'the login');
  else await command(`LOGIN ${quoted(username)} ${quoted(password)}`, 'the login');
  known = await capabilities();
  return {
    open: async (mailbox) => {
      const lines = await command(`SELECT ${quoted(mailbox)}`, `to open ${mailbox}`);
      const codeOf = (name: string): string | undefined => lines.map(({ text }) => new RegExp(`\\[${name} (\\d+)\\]`, 'i').exec(text)?.[1]).find((one) => one !== undefined);
      const validity = codeOf('UIDVALIDITY');
      if (validity === undefined) throw strangeFault('a mailbox without UIDVALIDITY');
      const next = codeOf('UIDNEXT');
      return { validity, next: next === undefined ? ((await searched('ALL')).at(-1) ?? 0) + 1 : Number(next) };
    },
    // A range with `*` always has the last message, so what is older is left out.
    uidsFrom: async (from) => {
      hasGrown = false;
      return (await searched(`UID ${from}:*`)).filter((uid) => uid >= from);
    },
    recent: (now) => {
      const [, day, month, year] = new Date(now - 2 * DAY_MS).toUTCString().split(/,? /);
      return searched(`SINCE ${day}-${month}-${year}`);
    },
    fetch: async (uid, maxBytes) => {
      const lines = await command(`UID FETCH ${uid} (UID BODY.PEEK[]<0.${maxBytes}>)`, 'to read a message');
      for (const { text, literals } of lines) if (/^\* \d+ FETCH /i.test(text) && new RegExp(`UID ${uid}\\b`, 'i').test(text) && literals[0]) return literals[0];
      return undefined;
    },
    wait: async (ms) => {
      if (hasGrown) return;
      if (!known.has('IDLE')) {
        await clock.sleep(ms);
        await command('NOOP', 'to stay connected');
        return;
      }
      count += 1;
      await idle({ connection, reader, clock, tag: `s${count}` }, ms);
    },
    close: () => {
      void connection.write(`s0 LOGOUT${CRLF}`).catch(() => undefined); // it is closed in any case
      connection.end();
      connection.close();
    },
  };
};

interface Idling {
  readonly connection: TcpConnection;
  readonly reader: ReturnType<typeof createReader>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly tag: string;
}

const idle = async ({ connection, reader, clock, tag }: Idling, ms: number): Promise<void> => {
  await connection.write(`${tag} IDLE${CRLF}`);
  const over = new AbortController();
  let isOver = false;
  const late = clock
    .sleep(ms, over.signal)
    .catch(() => undefined)
    .then(() => {
      isOver = true;
    });
  let isBegun = false;
  let isDone = false;
  try {
    for (;;) {
      const response = reader.parsed();
      if (response?.text.startsWith(`${tag} `)) {
        if (!/^\S+ OK\b/i.test(response.text)) throw refusedFault('to wait', response.text);
        return;
      }
      if (response?.text.startsWith('* BYE')) throw new ChannelFault('the mail server ended the connection', 'svc connects again.');
      if (response?.text.startsWith('+')) isBegun = true;
      const hasChanged = response !== undefined && GROWN.test(response.text);
      if (isBegun && !isDone && (hasChanged || isOver)) {
        isDone = true;
        await connection.write(`DONE${CRLF}`);
      }
      if (response === undefined) await (isDone || isOver ? reader.fill() : Promise.race([reader.fill(), late]));
    }
  } finally {
    over.abort();
  }
};
