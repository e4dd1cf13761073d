/** E-mail over servers that play IMAP and SMTP. */
import { CERT, KEY } from '@svc/fixtures/channels/certificate';
import { startMailServer, type TestMailServer } from '@svc/fixtures/channels/mail-server';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { createTcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import { systemClock } from '@svc/platform/clock/clock';
import { createLog } from '@svc/platform/log/log';
import { expect } from 'chai';
import { Socket } from 'node:net';
import type { Connection } from '../src/adapters/adapter.js';
import { createImap } from '../src/adapters/mail/imap.js';
import { email } from '../src/adapters/mail/mail.js';
import { readMail, textOfHtml } from '../src/adapters/mail/read.js';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';

const OWN = 'bot@mail.test';
const PASSWORD = 'four secret words 77';
const FIELDS = { username: OWN, password_env: PASSWORD, imap_host: '127.0.0.1', smtp_host: '127.0.0.1', security: 'none' };

const mailOf = (body: string, headers: Record<string, string> = {}): string => {
  const all = { From: 'Ada <ada@home.test>', To: OWN, Subject: 'A question', 'Message-ID': `<${Math.random().toString(36).slice(2)}@home.test>`, ...headers };
  return `${Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n\n${body}\n`;
};
const read = (raw: string) => readMail(raw, OWN, '1.1');

describe('channels: what a mail says', () => {
  it('E1 automatic, own and list mail, bounces and forged mail get no answer', async () => {
    const ignored: ReadonlyArray<Record<string, string>> = [
      { From: OWN },
      { From: `Bot <${OWN.toUpperCase()}>` },
      { 'Auto-Submitted': 'auto-replied' },
      { 'Auto-Submitted': 'auto-generated; x=y' },
      { Precedence: 'bulk' },
      { Precedence: 'list' },
      { 'List-Id': 'A list <list.home.test>' },
      { 'List-Unsubscribe': '<mailto:off@home.test>' },
      { 'X-Auto-Response-Suppress': 'All' },
      { From: 'MAILER-DAEMON@home.test' },
      { From: 'no-reply@shop.test' },
      { 'Return-Path': '<>' },
      { 'Content-Type': 'multipart/report; boundary=x' },
      { 'X-Spam-Flag': 'YES' },
      { 'Authentication-Results': 'mx.mail.test; dkim=none; dmarc=fail (p=NONE) header.from=home.test' },
      { From: '' },
    ];
    for (const headers of ignored) expect((await read(mailOf('hello', headers))).message, JSON.stringify(headers)).to.equal(undefined);
    for (const headers of [{}, { 'Auto-Submitted': 'no' }, { 'Authentication-Results': 'mx.mail.test; dmarc=pass' }, { From: 'noreplyto@home.test' }])
      expect((await read(mailOf('hello', headers))).message?.text, JSON.stringify(headers)).to.equal('A question\n\nhello');
  });

  it('E2 E7 quotes and signatures are left out, and a thread is known by its first mail', async () => {
    const reply = await read(
      mailOf('Yes, do.\n\nOn Mon, 1 Jan 2026 at 10:00, svc <bot@mail.test> wrote:\n> shall I?\n> please say\n', {
        Subject: 'Re: A question',
        'In-Reply-To': '<b@mail.test>',
        References: '<a@home.test>\n <b@mail.test>',
      }),
    );
    expect(reply.message).to.deep.include({ text: 'Yes, do.', thread: '<a@home.test>', chat: 'ada@home.test', isGroup: false, isMentioned: true });
    expect(reply.message?.facts?.references).to.match(/^<a@home.test> <b@mail.test> <\w+@home.test>$/);
    expect((await read(mailOf('Hello\n-- \nAda\nDirector'))).message?.text).to.equal('A question\n\nHello');
    expect((await read(mailOf('hi', { Cc: 'bob@home.test' }))).message).to.deep.include({ isGroup: true, isMentioned: true });
    expect((await read(mailOf('hi', { To: 'bob@home.test', Cc: OWN }))).message).to.deep.include({ isGroup: true, isMentioned: false });
  });

  it('reads HTML, broken charsets, a thousand parts and what is cut in the middle', async () => {
    const typed = (type: string, body: string) => read(mailOf(body, { 'Content-Type': type, Subject: '' }));
    expect((await typed('text/html', '<style>x{}</style><p>One &amp; <b>two</b></p><div>three<br>four</div><script>bad()</script><blockquote>old</blockquote>')).message?.text).to.equal(
      'One & two\nthree\nfour',
    );
    expect((await typed('text/plain; charset=no-such-set', 'caf\u00e9 is open')).message?.text).to.contain('is open');
    const parts = Array.from({ length: 1_000 }, (_one, index) => `--x\nContent-Type: application/pdf; name="f${index}.pdf"\nContent-Disposition: attachment; filename="f${index}.pdf"\n\nx\n`).join('');
    const { message } = await typed('multipart/mixed; boundary=x', `--x\nContent-Type: text/plain\n\nsee these\n${parts}--x--`);
    expect(message?.text).to.match(/^see these\n\n\[Attached, not read: f0.pdf, .* and 980 more\]$/);
    const nested = Array.from({ length: 200 }, (_one, index) => `Content-Type: multipart/mixed; boundary=b${index}\n\n--b${index}\n`).join('');
    expect((await typed('multipart/mixed; boundary=z', `--z\n${nested}`)).message?.text ?? '').to.equal('');
    expect((await typed('multipart/mixed; boundary=x', '--x\nContent-Type: text/plain\n\ncut in the mid')).message?.text).to.equal('cut in the mid');
    expect((await read(mailOf('hi', { Subject: '=?utf-8?B?QQ0KQmNjOiBldmlsQHgudGVzdA==?=' }))).message?.facts?.subject).to.equal('A Bcc: evil@x.test');
    expect(textOfHtml('&#9999999;&#x41;&bogus;&constructor;')).to.equal('A&bogus;&constructor;');
    expect(textOfHtml('a < b<STYLE a="1">x</style>c <script>never ends <blockquote>old')).to.equal('a never ends');
  });

  it('reads a mail of tags that never end in a moment', () => {
    const begun = Date.now();
    for (const hostile of ['<', '<style>', '<style ', '<br', '<blockquote ', '<b> ', '<script></style>', '<</p>', '< <br>']) textOfHtml(hostile.repeat(Math.floor(200_000 / hostile.length)));
    textOfHtml(`${'<'.repeat(200_000)}<br>`);
    expect(Date.now() - begun).to.be.lessThan(1_500);
  });
});

describe('channels: the connection to a mailbox', () => {
  const clock = systemClock();
  const tcp = createTcpAdapter({ config: { get: () => ({}) }, clock, log: createLog({ dir: null, level: 'info', clock, terminal: false }).logger('tcp') });
  const servers: TestMailServer[] = [];
  after(async () => {
    await tcp.close();
    await Promise.all(servers.map((one) => one.close()));
  });
  const served = async (options: object): Promise<TestMailServer> => {
    const server = await startMailServer({ username: OWN, password: PASSWORD, ...options });
    servers.push(server);
    return server;
  };
  const opened = async ({ imapPort }: TestMailServer, security: 'starttls' | 'none') => {
    const server = { host: '127.0.0.1', port: imapPort, security };
    return createImap(await tcp.dial({ id: 'test', hosts: ['127.0.0.1'] }, { ...server, purpose: 'a test' }), { server, username: OWN, password: PASSWORD, clock, ca: CERT });
  };
  const problem = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('E5 logs in over TLS, and not where the server offers none or somebody writes into the beginning', async () => {
    const server = await served({ tls: { cert: CERT, key: KEY } });
    server.deliver(mailOf('over TLS'));
    const imap = await opened(server, 'starttls');
    expect((await imap.open('INBOX')).next).to.equal(2);
    expect(String(await imap.fetch(1, 10_000))).to.contain('over TLS');
    expect(await imap.fetch(7, 10_000)).to.equal(undefined);
    imap.close();
    expect(await problem(opened(server, 'none')), 'this server wants TLS').to.contain('refused');
    expect(await problem(opened(await served({}), 'starttls'))).to.contain('no STARTTLS');
    const between = await served({ tls: { cert: CERT, key: KEY }, injected: '* PREAUTH welcome\r\n' });
    expect(await problem(opened(between, 'starttls'))).to.match(/before TLS|cannot be (?:secured|reached)/);
  });

  it('sees new mail without IDLE too', async () => {
    const server = await served({ hasIdle: false });
    const imap = await opened(server, 'none');
    await imap.open('INBOX');
    expect(await imap.uidsFrom(1)).to.deep.equal([]);
    server.deliver(mailOf('one'));
    await imap.wait(20);
    expect(await imap.uidsFrom(1)).to.deep.equal([1]);
    imap.close();
  });
});

describe('channels: e-mail', function () {
  this.timeout(60_000);
  let kit: ChannelKit;
  let server: TestMailServer;

  before(async () => {
    server = await startMailServer({ username: OWN, password: PASSWORD });
    kit = await bootChannels('mail-root-key');
  });
  after(async () => {
    await stopModelKernels();
    await server.close();
  });
  const setUp = (more: object = {}) => kit.configure('email', { ...FIELDS, imap_port: server.imapPort, smtp_port: server.smtpPort, ...more });
  const header = (raw: string | undefined, name: string): string | undefined => new RegExp(`^${name}: (.*(?:\r\n[ \t].*)*)`, 'im').exec(raw ?? '')?.[1]?.replaceAll(/\r\n\s+/g, ' ');

  it('E6 E7 answers what comes from now on, in its thread and in both forms, and nothing else', async () => {
    server.deliver(mailOf('before it was set up'));
    await setUp();
    await kit.inState('email', 'connected');
    server.deliver(mailOf('let me in'));
    const asking = await until(() => server.sent[0], 'the answer with a code');
    await kit.allow(asking.raw.replaceAll('=\r\n', ''));
    server.deliver(mailOf('please answer me', { 'Message-ID': '<q1@home.test>', References: '<q0@home.test>' }));
    const answer = await until(() => server.sent[1], 'the answer');
    expect(answer).to.deep.include({ from: OWN, to: ['ada@home.test'] });
    expect([header(answer.raw, 'Subject'), header(answer.raw, 'In-Reply-To'), header(answer.raw, 'References'), header(answer.raw, 'Auto-Submitted')]).to.deep.equal([
      'Re: A question',
      '<q1@home.test>',
      '<q0@home.test> <q1@home.test>',
      'auto-replied',
    ]);
    expect(header(answer.raw, 'Message-ID')).to.match(/^<[0-9a-f]{40}\.svc@mail\.test>$/);
    expect(answer.raw).to.contain('Content-Type: text/plain').and.contain('Content-Type: text/html').and.contain('<p>');
    server.deliver(mailOf('I am on holiday', { 'Auto-Submitted': 'auto-replied' }));
    server.deliver(mailOf('from somebody unknown', { From: 'eve@evil.test' }));
    await until(() => server.sent[2], 'the code for the other sender');
    expect([kit.asked('before it was set up'), kit.asked('I am on holiday'), kit.asked('from somebody unknown'), kit.asked('please answer me')]).to.deep.equal([0, 0, 0, 1]);
    expect(server.sent[2]?.to).to.deep.equal(['eve@evil.test']);
  });

  it('E6 what came while the mail server was away, or before the mailbox was made anew, is answered once', async () => {
    server.drop();
    server.deliver(mailOf('while you were away', { 'Message-ID': '<away@home.test>' }));
    await kit.incoming('A question\n\nwhile you were away', 'answered');
    const answersTo = (id: string): number => server.sent.filter(({ raw }) => header(raw, 'In-Reply-To') === id).length;
    await until(() => (answersTo('<away@home.test>') > 0 ? true : undefined), 'its answer');
    server.remake();
    server.deliver(mailOf('after it was made anew', { 'Message-ID': '<anew@home.test>' }));
    await kit.incoming('A question\n\nafter it was made anew', 'answered');
    await until(() => (answersTo('<anew@home.test>') > 0 ? true : undefined), 'its answer');
    expect([answersTo('<away@home.test>'), answersTo('<anew@home.test>'), answersTo('<q1@home.test>')]).to.deep.equal([1, 1, 1]);
  });

  it('E3 E4 a refused mail is tried again or has failed, a lost answer is unknown, and no header is injected', async () => {
    const before = server.sent.length;
    server.fail('451 4.3.0 later please');
    server.deliver(mailOf('try again', { Subject: 'Re: =?utf-8?Q?A=0D=0ABcc:_evil@x.test?=' }));
    const mail = await until(() => server.sent[before], 'the second attempt');
    expect([mail.to, header(mail.raw, 'Bcc')]).to.deep.equal([['ada@home.test'], undefined]);
    server.fail('lost');
    server.deliver(mailOf('who knows', { Subject: 'Re: x' }));
    const unknown = await until(async () => (await kit.deliveries('?status=unknown'))[0], 'an unknown outcome');
    expect(unknown).to.deep.include({ direction: 'outbound', channel: 'email' });
    server.fail('550 5.1.1 no such user');
    server.deliver(mailOf('nobody there', { Subject: 'Re: y' }));
    const failed = await until(async () => (await kit.deliveries('?status=failed&direction=outbound'))[0], 'a failed one');
    expect(failed.reason).to.contain('550');
    expect(server.sent.length).to.equal(before + 2);
  });

  it('says what is wrong with the settings, and that a password is refused', async () => {
    expect((await kit.owner.expect(200, 'POST', '/api/channels/email/test')).body).to.deep.include({ status: 'ok' });
    const error = async (more: object): Promise<string> => (await kit.owner.expect(400, 'POST', '/api/channels/email/configure', { fields: { ...FIELDS, ...more } })).body.error;
    expect(await error({ imap_host: 'mail.example.org' })).to.contain('security is none');
    expect(await error({ username: 'bot' })).to.contain('no mail address');
    expect(await error({ smtp_port: 70_000 })).to.contain('smtp_port');
    await setUp({ password_env: 'wrong' });
    await kit.inState('email', 'failing');
    const shown = await kit.channel('email');
    expect(shown.last_error).to.contain('refused the login');
    expect(JSON.stringify(shown)).not.to.contain(PASSWORD).and.not.to.contain('"wrong"');
    expect((await kit.owner.expect(200, 'POST', '/api/channels/email/test')).body.status).to.equal('error');
  });

  it('reaches no server by itself: where the daemon refuses the connection, nothing gets past', async () => {
    const before = server.connections;
    const { connect } = Socket.prototype;
    let dialled = 0;
    Socket.prototype.connect = function (this: Socket, ...args: never[]) {
      dialled += 1;
      return (connect as (...all: never[]) => Socket).apply(this, args);
    } as typeof connect;
    try {
      const refused = Object.assign(new Error('not granted'), { code: 'context_not_granted' });
      const connection = {
        account: { name: 'email', fields: { ...FIELDS, imap_port: server.imapPort, smtp_port: server.smtpPort } },
        signal: new AbortController().signal,
        tcp: { dial: () => Promise.reject(refused) },
        secrets: { login: () => Promise.resolve(PASSWORD) },
        secret: () => ({ secret: 'x' }),
      } as unknown as Connection;
      const message = { key: 'k', chat: 'ada@home.test', text: 'hi', facts: {} };
      for (const work of [() => email.send(connection, message), () => email.check(connection), () => email.connect?.(connection)])
        expect(
          await Promise.resolve(work()).then(
            () => 'done',
            (error: Error) => error.message,
          ),
        ).to.contain('not granted');
      expect(
        await email.send(connection, { ...message, chat: 'a@x.test\r\nBcc: b@x.test' }).then(
          () => 'done',
          (error: Error) => error.message,
        ),
      ).to.contain('not one mail address');
    } finally {
      Socket.prototype.connect = connect;
    }
    expect([dialled, server.connections]).to.deep.equal([0, before]);
  });
});
