/** Where the mail servers of a channel are, and how the connection to each is protected. */
import type { TcpConnection } from '@svc/api';
import { type Account, numberField, textField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';

export type Security = 'tls' | 'starttls' | 'none';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: Security;
}

type Named = Pick<Account, 'fields'>;
type Kind = 'imap' | 'smtp';

const USUAL: Readonly<Record<Kind, Readonly<Record<Security | 'unsaid', number>>>> = {
  imap: { tls: 993, starttls: 143, none: 143, unsaid: 993 },
  smtp: { tls: 465, starttls: 587, none: 25, unsaid: 587 },
};
/** What a port is for, where nothing else is said; any other is taken for TLS. */
const OF_PORT: Readonly<Record<number, Security>> = { 993: 'tls', 465: 'tls', 143: 'starttls', 587: 'starttls', 25: 'starttls' };
/** Silence that ends a connection; a server is asked more often than that. */
const IDLE_MS = 120_000;

const isSecurity = (text: string): text is Security => text === 'tls' || text === 'starttls' || text === 'none';

export const serverOf = (account: Named, kind: Kind): MailServer => {
  const said = textField(account, 'security');
  const wanted = isSecurity(said) ? said : undefined;
  const port = numberField(account, `${kind}_port`, USUAL[kind][wanted ?? 'unsaid']);
  return { host: textField(account, `${kind}_host`), port, security: wanted ?? OF_PORT[port] ?? 'tls' };
};

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Encrypted from the first byte where the server is reached so. */
export const dialled = ({ tcp, signal }: Pick<Connection, 'tcp' | 'signal'>, { host, port, security }: MailServer): Promise<TcpConnection> =>
  tcp.dial({ host, port, purpose: 'a mail server', tls: security === 'tls', idleTimeoutMs: IDLE_MS, signal });

/** Throws a ChannelFault where there is no password. */
export const passwordOf = async ({ secrets, secret }: Pick<Connection, 'secrets' | 'secret'>): Promise<string> => {
  const password = await secrets.login(secret('password_env'));
  if (password === undefined) throw new ChannelFault('the password is missing', 'Configure the channel with the password of the mailbox.', 'never');
  return password;
};
