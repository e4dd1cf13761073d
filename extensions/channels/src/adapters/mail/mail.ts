/**
 * E-mail: a mailbox over IMAP, and answers over SMTP.
 *
 * E6  Reading goes on behind the last UID that was stored. Where the mailbox was made anew (UIDVALIDITY), what came in two days is read again, and
 *     known messages stay one message. What was there before the channel was set up is not answered.
 * E7  An answer stands in the thread of the mail (In-Reply-To, References). Each thread is a conversation.
 */
import { textField } from '../../account.js';
import { MAIL } from '../../document/formats.js';
import type { Adapter, Connection } from '../adapter.js';
import { createImap, type Imap, type Mailbox } from './imap.js';
import { isAddress, readMail } from './read.js';
import { dialled, isLoopback, passwordOf, serverOf } from './servers.js';
import { checkSmtp, ownAddress, sendMail } from './smtp.js';

const MAILBOX = 'INBOX';
/** More often than a connection is taken for deaf. */
const WAIT_MS = 25_000;
/** Text comes before what is attached; the rest is not read. */
const MAX_BYTES = 262_144;

const opened = async (connection: Connection): Promise<Imap> => {
  const server = serverOf(connection.account, 'imap');
  const password = await passwordOf(connection);
  const socket = await dialled(connection, server);
  try {
    return await createImap(socket, { server, username: textField(connection.account, 'username'), password, clock: connection.clock });
  } catch (error) {
    socket.close();
    throw error;
  }
};

/** Takes the messages with these UIDs, and answers with the last one. */
const take = async (connection: Connection, imap: Imap, validity: string, uids: readonly number[], from: number): Promise<number> => {
  let last = from;
  for (const uid of uids) {
    const raw = await imap.fetch(uid, MAX_BYTES);
    connection.alive();
    last = Math.max(last, uid);
    const place = `${validity}:${last}`;
    const { message, ignored } = raw ? await readMail(new Uint8Array(raw), ownAddress(connection), `${validity}.${uid}`) : { message: undefined, ignored: 'it is gone' };
    if (message) await connection.receive({ ...message, place });
    else {
      connection.log.info('A mail gets no answer.', { channel: connection.account.name, uid, why: ignored });
      await connection.remember(place);
    }
  }
  return last;
};

const begun = async (connection: Connection, imap: Imap, { validity, next }: Mailbox): Promise<number> => {
  const [known, last] = connection.place?.split(':') ?? [];
  if (known === validity) return Number(last);
  if (known === undefined) {
    await connection.remember(`${validity}:${next - 1}`);
    return next - 1;
  }
  connection.log.warn('The mailbox was made anew; what came in the last two days is read again.', { channel: connection.account.name });
  return take(connection, imap, validity, await imap.recent(connection.clock.now()), 0);
};

export const email: Adapter = {
  id: 'email',
  maxLength: 100_000,
  format: MAIL,
  isKeyed: false,
  namesSenders: false,
  dmPolicy: 'allowed_only',
  description: 'A mailbox: agents answer what people write to it.',
  difficulty: 'Medium',
  setupTime: '~5 min',
  steps: [
    'Use a mailbox of its own: each mail that people write to it is read.',
    'Enter the addresses of its IMAP and SMTP servers.',
    'Enter its user name, and a password; many providers ask for an app password.',
    'Write to it, and allow yourself with the code that it answers.',
  ],
  origins: (account) => (['imap', 'smtp'] as const).map((kind) => `tcp://${serverOf(account, kind).host}:${serverOf(account, kind).port}`),
  fault: (fields) => {
    const account = { fields: fields as never };
    const address = textField(account, 'address') || textField(account, 'username');
    if (!isAddress(address)) return 'username is no mail address; say the address of the mailbox in the field address';
    for (const kind of ['imap', 'smtp'] as const) {
      const { host, port, security } = serverOf(account, kind);
      if (!/^[\w.:[\]-]+$/.test(host)) return `${kind}_host is no name of a server`;
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return `${kind}_port is no port`;
      if (security === 'none' && !isLoopback(host)) return `security is none, and ${host} is another machine: the password would be read by others`;
    }
    return undefined;
  },
  connect: async (connection) => {
    const { signal } = connection;
    const imap = await opened(connection);
    const stop = (): void => imap.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const mailbox = await imap.open(MAILBOX);
      connection.alive();
      let last = await begun(connection, imap, mailbox);
      while (!signal.aborted) {
        last = await take(connection, imap, mailbox.validity, await imap.uidsFrom(last + 1), last);
        connection.alive();
        await imap.wait(WAIT_MS);
        connection.alive();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      imap.close();
    }
  },
  send: sendMail,
  check: async (connection) => {
    const imap = await opened(connection);
    try {
      await imap.open(MAILBOX);
    } finally {
      imap.close();
    }
    await checkSmtp(connection);
    return `The mailbox of ${ownAddress(connection)} can be read, and mail can be sent from it.`;
  },
};
