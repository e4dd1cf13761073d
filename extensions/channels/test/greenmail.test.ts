/** E-mail over a real mail server. */
import { type GreenMail, noGreenMail, startGreenMail } from '@svc/fixtures/channels/greenmail';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { createTransport } from 'nodemailer';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';
import { type Mailbox, mailboxOf } from './mailbox.js';

const BOT = 'bot@mail.test';
const ADA = 'ada@mail.test';

describe('channels: e-mail over GreenMail', function () {
  this.timeout(120_000);
  let kit: ChannelKit;
  let server: GreenMail;
  let mailbox: Mailbox;

  before(async function () {
    const missing = noGreenMail();
    if (missing !== undefined) {
      Object.assign(this.test ?? {}, { skipReason: missing });
      this.skip();
    }
    server = await startGreenMail(['bot:pw@mail.test', 'ada:pw@mail.test'], 41_000 + 2 * (process.pid % 1_000));
    mailbox = mailboxOf(ADA, 'pw', server.imapPort);
    kit = await bootChannels('greenmail-root-key');
  });
  after(async () => {
    await mailbox?.close();
    await stopModelKernels();
    await server?.close();
  });

  const write = async (text: string, more: object = {}): Promise<string> => {
    const transport = createTransport({ host: '127.0.0.1', port: server.smtpPort, ignoreTLS: true, auth: { user: ADA, pass: 'pw' } });
    const { messageId } = await transport.sendMail({ from: ADA, to: BOT, subject: 'To the bot', text, ...more });
    transport.close();
    return messageId;
  };
  it('E6 E7 answers a mail in its thread, and what came while it did not listen', async () => {
    await write('before it was set up');
    const fields = { username: BOT, password_env: 'pw', imap_host: '127.0.0.1', imap_port: server.imapPort, smtp_host: '127.0.0.1', smtp_port: server.smtpPort, security: 'none' };
    await kit.configure('email', { ...fields, allowed_users: [ADA] });
    await kit.inState('email', 'connected');
    expect((await kit.owner.expect(200, 'POST', '/api/channels/email/test')).body).to.deep.include({ status: 'ok' });
    const id = await write('is anybody there?');
    const [answer = ''] = await until(async () => ((await mailbox.letters()).length > 0 ? mailbox.letters() : undefined), 'the answer');
    expect(answer).to.contain(`In-Reply-To: ${id}`).and.contain('Subject: Re: To the bot').and.contain('Auto-Submitted: auto-replied');
    await kit.owner.expect(200, 'POST', '/api/channels/reload');
    await write('a second question');
    await write('out of office', { headers: { 'Auto-Submitted': 'auto-replied' } });
    await kit.incoming('To the bot\n\na second question', 'answered');
    await until(async () => ((await mailbox.letters()).length === 2 ? true : undefined), 'the second answer');
    expect([kit.asked('before it was set up'), kit.asked('out of office')]).to.deep.equal([0, 0]);
  });
});
