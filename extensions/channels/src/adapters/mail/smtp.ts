/**
 * Mail on its way out. nodemailer writes the message and speaks SMTP, over a connection of ours alone.
 *
 * E3  A recipient is one address, a subject one line: what would begin a header is refused or taken out.
 * E4  A mail whose fate is not known is not sent again by itself; each attempt has the same Message-ID.
 */
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { isSvcError } from '@svc/api';
import { textField } from '../../account.js';
import { ChannelFault, type Connection, type Outgoing } from '../adapter.js';
import { duplexOf } from '../duplex.js';
import { idsIn, isAddress, lineOf } from './read.js';
import { dialled, passwordOf, serverOf } from './servers.js';

const ANSWER_MS = 30_000;
const SUBJECT = 'A message from your agent';

interface SmtpError {
  readonly message?: string;
  readonly code?: string;
  readonly responseCode?: number;
}

/** The address of the mailbox. */
export const ownAddress = ({ account }: Pick<Connection, 'account'>): string => (textField(account, 'address') || textField(account, 'username')).toLowerCase();

export const messageIdOf = (key: string, own: string): string => `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}.svc@${own.slice(own.indexOf('@') + 1)}>`;

/** `isBegun`: its text may have left. */
const faultOf = (error: SmtpError, isBegun: boolean): ChannelFault => {
  const { code = '', responseCode: status, message = '' } = error;
  const why = `the mail server said: ${message.slice(0, 200)}`;
  if (code === 'EAUTH') return new ChannelFault(why, 'Check user name and password, then configure the channel again.');
  if (code === 'ETLS') return new ChannelFault(why, 'Check smtp_port and security; the server offers no encryption there.');
  if (status !== undefined && status >= 500) return new ChannelFault(why, 'Check the address of the recipient, and whether the mailbox may send to it.', 'never');
  if (status !== undefined && status >= 400) return new ChannelFault(why, 'svc tries again.');
  if (!isBegun) return new ChannelFault(why, 'Check smtp_host, smtp_port and security.');
  return new ChannelFault(why, 'Look into the mailbox of the recipient before you send it again.', 'unknown');
};

const transportOf = async (connection: Connection) => {
  const server = serverOf(connection.account, 'smtp');
  const password = await passwordOf(connection);
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...{ host: server.host, port: server.port, secure: server.security === 'tls', requireTLS: server.security === 'starttls', ignoreTLS: server.security === 'none' },
    ...{ greetingTimeout: ANSWER_MS, socketTimeout: ANSWER_MS, connectionTimeout: ANSWER_MS, logger: false },
    // Nothing but the text that it is given goes into a mail.
    ...{ disableFileAccess: true, disableUrlAccess: true },
    auth: { user: textField(connection.account, 'username'), pass: password },
    getSocket: (_options, callback) => {
      dialled(connection, server).then(
        (socket) => callback(null, { connection: duplexOf(socket) as never, secured: server.security === 'tls' }),
        (error: Error) => callback(error),
      );
    },
  });
};

const wrapped = (html: string): string => `<!doctype html><html><body>${html}</body></html>`;

/** Answers with the Message-ID. Throws a ChannelFault. */
export const sendMail = async (connection: Connection, { key, chat, text, formatted, facts }: Outgoing): Promise<string> => {
  if (!isAddress(chat)) throw new ChannelFault('the recipient is not one mail address', 'Name one address, such as ada@example.org.', 'never');
  const own = ownAddress(connection);
  const messageId = messageIdOf(key, own);
  const subject = lineOf(facts.subject ?? '');
  const isAnswer = facts.reply !== undefined;
  const transport = await transportOf(connection);
  let isBegun = false;
  transport.use('stream', (mail, done) => {
    // Its text is read when the server has let us in.
    mail.message.transform(
      () =>
        new Transform({
          transform: (piece, _encoding, next) => {
            isBegun = true;
            next(null, piece);
          },
        }),
    );
    done();
  });
  try {
    await transport.sendMail({
      from: { name: 'svc', address: own },
      to: { name: '', address: chat },
      subject: subject === '' ? SUBJECT : /^re:/i.test(subject) || !isAnswer ? subject : `Re: ${subject}`,
      text,
      ...(formatted === undefined ? {} : { html: wrapped(formatted) }),
      messageId,
      ...(isAnswer ? { inReplyTo: idsIn(facts.reply).join(''), references: idsIn(facts.references) } : {}),
      // So that no program answers it in turn (RFC 3834).
      headers: { 'Auto-Submitted': isAnswer ? 'auto-replied' : 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    });
    return messageId;
  } catch (error) {
    if (isSvcError(error) || error instanceof ChannelFault) throw error;
    throw faultOf(error as SmtpError, isBegun); // as nodemailer says it
  } finally {
    transport.close();
  }
};

export const checkSmtp = async (connection: Connection): Promise<void> => {
  const transport = await transportOf(connection);
  try {
    await transport.verify();
  } catch (error) {
    if (isSvcError(error) || error instanceof ChannelFault) throw error;
    throw faultOf(error as SmtpError, false); // as nodemailer says it
  } finally {
    transport.close();
  }
};
