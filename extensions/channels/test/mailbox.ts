/** What lies in a mailbox of a mail server of the tests, read by the client of this extension. */
import { systemClock } from '@svc/platform/clock/clock';
import { createLog } from '@svc/platform/log/log';
import { createTcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import { createImap } from '../src/adapters/mail/imap.js';

export interface Mailbox {
  letters(): Promise<string[]>;
  close(): Promise<unknown>;
}

export const mailboxOf = (username: string, password: string, port: number): Mailbox => {
  const clock = systemClock();
  const tcp = createTcpAdapter({ config: { get: () => ({}) }, clock, log: createLog({ dir: null, level: 'info', clock, terminal: false }).logger('tcp') });
  const server = { host: '127.0.0.1', port, security: 'none' as const };
  return {
    letters: async () => {
      const imap = await createImap(await tcp.dial({ id: 'test', hosts: ['127.0.0.1'] }, { ...server, purpose: 'a test' }), { server, username, password, clock });
      await imap.open('INBOX');
      const found: string[] = [];
      for (const uid of await imap.uidsFrom(1)) found.push(String(await imap.fetch(uid, 100_000)));
      imap.close();
      return found;
    },
    close: () => tcp.close(),
  };
};
