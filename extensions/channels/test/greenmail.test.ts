/** E-mail over a real mail server. */
import { type GreenMail, noGreenMail, startGreenMail } from '@svc/fixtures/channels/greenmail';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { createTransport } from 'nodemailer';
import { createImap } from '../src/adapters/mail/imap.js';
import { createTcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import { systemClock } from '@svc/platform/clock/clock';
import { createLog } from '@svc/platform/log/log';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';

const BOT = 'bot@mail.test';
const ADA = 'ada@mail.test';

describe('channels: e-mail over GreenMail', function () {
  this.timeout(120_000);
  let kit: ChannelKit;
  let server: GreenMail;
  const clock = systemClock();
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  const tcp = createTcpAdapter({ config: { get: () => ({}) }, clock, log: log.logger('tcp') });

  before(async function () {
    const missing = noGreenMail();
    if (missing !== undefined) {
      Object.assign(this.test ?? {}, { skipReason: missing });
      this.skip();
    }
    server = await startGreenMail(['bot:pw@mail.test', 'ada:pw@mail.test'], 41_000 + 2 * (process.pid % 1_000));
    kit = await bootChannels('greenmail-root-key');
  });
  after(async () => {
    await tcp.close();
    await stopModelKernels();
    await server?.close();
  });

  const write = async (text: string, more: object = {}): Promise<string> => {
    const transport = createTransport({ host: '127.0.0.1', port: server.smtpPort, ignoreTLS: true, auth: { user: ADA, pass: 'pw' } });
    const { messageId } = await transport.sendMail({ from: ADA, to: BOT, subject: 'To the bot', text, ...more });
    transport.close();
    return messageId;
  };
  /** What lies in Ada's mailbox. */
  const inbox = async (): Promise<string[]> => {
    const server_ = { host: '127.0.0.1', port: server.imapPort, security: 'none' as const };
    const imap = await createImap(await tcp.dial({ id: 'test', hosts: ['127.0.0.1'] }, { ...server_, purpose: 'a test' }), { server: server_, username: ADA, password: 'pw', clock });
    await imap.open('INBOX');
    const found: string[] = [];
    for (const uid of await imap.uidsFrom(1)) found.push(String(await imap.fetch(uid, 100_000)));
    imap.close();
    return found;
  };

  it('E6 E7 answers a mail in its thread, and what came while it did not listen', async () => {
    await write('before it was set up');
    const fields = { username: BOT, password_env: 'pw', imap_host: '127.0.0.1', imap_port: server.imapPort, smtp_host: '127.0.0.1', smtp_port: server.smtpPort, security: 'none' };
    await kit.configure('email', { ...fields, allowed_users: [ADA] });
    await kit.inState('email', 'connected');
    expect((await kit.owner.expect(200, 'POST', '/api/channels/email/test')).body).to.deep.include({ status: 'ok' });
    const id = await write('is anybody there?');
    const [answer = ''] = await until(async () => ((await inbox()).length > 0 ? inbox() : undefined), 'the answer');
    expect(answer).to.contain(`In-Reply-To: ${id}`).and.contain('Subject: Re: To the bot').and.contain('Auto-Submitted: auto-replied');
    await kit.owner.expect(200, 'POST', '/api/channels/reload');
    await write('a second question');
    await write('out of office', { headers: { 'Auto-Submitted': 'auto-replied' } });
    await kit.incoming('To the bot\n\na second question', 'answered');
    await until(async () => ((await inbox()).length === 2 ? true : undefined), 'the second answer');
    expect([kit.asked('before it was set up'), kit.asked('out of office')]).to.deep.equal([0, 0]);
  });
});
