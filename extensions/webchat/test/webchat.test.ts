/** The page in a real browser, used as a person uses it: by keyboard, at several widths, with things going wrong. */
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { assemblePage } from '../src/page.js';
import { agentRow, chunkFrame, doneFrame, type FakeDaemon, startFakeDaemon } from './fake-daemon.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

describe('the web page', function () {
  this.timeout(30_000);
  let browser: Browser;
  let daemon: FakeDaemon;
  let page: Page;
  let mistakes: string[];

  before(async function () {
    if (!existsSync(CHROMIUM)) {
      // Of the whole suite: the hook's own reason would not be found from its tests.
      Object.assign(this.test?.parent ?? {}, { skipReason: `no Chromium at ${CHROMIUM}; install it, or set CHROMIUM=/path` });
      return this.skip();
    }
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  after(() => browser?.close());
  beforeEach(async () => {
    daemon = await startFakeDaemon();
  });
  afterEach(async () => {
    await page?.context().close();
    await daemon.close();
  });

  const visit = async (options: BrowserContextOptions = {}): Promise<void> => {
    const context = await browser.newContext({ viewport: { width: 900, height: 700 }, ...options });
    page = await context.newPage();
    mistakes = [];
    page.on('console', (message) => {
      if (message.type() === 'error') mistakes.push(message.text());
    });
    page.on('pageerror', (error) => mistakes.push(error.message));
    await page.goto(daemon.url);
  };
  const ready = (): Promise<void> => page.locator('#message:enabled').waitFor();
  const say = async (text: string): Promise<void> => {
    await page.locator('#message').fill(text);
    await page.keyboard.press('Enter');
  };
  const idle = (): Promise<void> => page.locator('#send:visible').waitFor();
  const answerText = (): Promise<string> => page.locator('.turn.theirs').last().innerText();
  const streams = () => daemon.seen.filter((request) => request.path.endsWith('/message/stream'));

  it('shows who answers and streams an answer to a typed message', async () => {
    await visit();
    await ready();
    expect(await page.locator('#model').innerText()).to.equal('acme / acme-large');
    await say('hello');
    await idle();
    expect(await answerText()).to.contain('You said: hello');
    expect(mistakes).to.deep.equal([]);
  });

  it('can be used by keyboard alone: skip link, agent, message, a tool call, stop', async () => {
    daemon.agents = [agentRow, { ...agentRow, id: 'second', name: 'helper' }];
    daemon.script = () => [
      { event: 'tool_use', data: { tool: 'file_read', id: 't1' } },
      { event: 'tool_result', data: { tool: 'file_read', id: 't1', input: { path: 'a.txt' }, is_error: false, result: 'alpha' } },
      doneFrame('', 'cancelled'),
    ];
    daemon.holdAfter = 2;
    await visit();
    await ready();
    // Backwards over the conversation and the agent.
    for (let step = 0; step < 3; step++) await page.keyboard.press('Shift+Tab');
    expect(await page.locator(':focus').innerText()).to.equal('Skip to the message');
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').getAttribute('id')).to.equal('message');
    await page.keyboard.type('read it');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('please');
    await page.keyboard.press('Enter');
    await page.locator('.tool.ok').waitFor();
    expect(streams()[0]?.body).to.deep.equal({ message: 'read it\nplease' });
    await page.keyboard.press('Shift+Tab');
    expect(await page.locator(':focus').innerText()).to.contain('file_read');
    await page.keyboard.press('Enter');
    expect(await page.locator('.tool').innerText())
      .to.contain('alpha')
      .and.contain('a.txt');
    await page.keyboard.press('Escape');
    await idle();
    expect(daemon.seen.some((request) => request.path.endsWith('/stop'))).to.equal(true);
    expect(await answerText()).to.contain('Stopped.');
  });

  it('stops the run with the Stop button, which stands where Send stood', async () => {
    daemon.script = () => [chunkFrame('one '), doneFrame('', 'cancelled')];
    daemon.holdAfter = 1;
    await visit();
    await ready();
    const sendBox = await page.locator('#send').boundingBox();
    await say('count');
    await page.locator('#stop:visible').waitFor();
    expect(await page.locator('#stop').boundingBox()).to.deep.equal(sendBox);
    await page.locator('#stop').click();
    await idle();
    expect(daemon.seen.filter((request) => request.path.endsWith('/stop'))).to.have.length(1);
  });

  it('takes a dropped stream up after the last frame it saw, and shows nothing twice', async () => {
    daemon.script = () => [chunkFrame('alpha '), chunkFrame('beta '), chunkFrame('gamma'), doneFrame('')];
    daemon.holdAfter = 2;
    daemon.dropAfter = 2;
    await visit();
    await ready();
    await say('go');
    await page.locator('.theirs').getByText('alpha beta').waitFor();
    daemon.release();
    await idle();
    expect(await page.locator('.theirs .text').innerText()).to.equal('alpha beta gamma');
    const [first, second] = streams();
    expect(second?.headers['last-event-id']).to.equal('run.1.2');
    expect(second?.headers['idempotency-key']).to.equal(first?.headers['idempotency-key']);
  });

  it('shows a running answer again after a reload, without sending the message twice', async () => {
    daemon.script = () => [chunkFrame('first half, '), chunkFrame('second half'), doneFrame('')];
    daemon.holdAfter = 1;
    await visit();
    await ready();
    await say('long');
    await page.locator('.theirs').getByText('first half').waitFor();
    daemon.history = [{ role: 'User', content: 'long' }];
    daemon.holdAfter = 0;
    await page.reload();
    await page.locator('.theirs').getByText('second half').waitFor();
    await idle();
    expect(await page.locator('.turn.mine').count()).to.equal(1);
    expect(new Set(streams().map((request) => request.headers['idempotency-key'])).size).to.equal(1);
  });

  it('asks for the key on 401, keeps it in this tab only, and says when it is wrong', async () => {
    daemon.apiKey = 'right';
    await visit();
    await page.locator('#key-dialog[open]').waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('That key was refused.').waitFor();
    await page.locator('#key').fill('right');
    await page.keyboard.press('Enter');
    await ready();
    expect(await page.evaluate<string>('JSON.stringify({ ...localStorage })')).to.not.contain('right');
    expect(await page.content()).to.not.contain('"right"');
  });

  it('names the stand-in and the command that replaces it', async () => {
    daemon.status = { ...daemon.status, default_model_stand_in: true, default_provider: 'builtin', default_model: 'stand-in' };
    await visit();
    await ready();
    expect(await page.locator('#notice').innerText())
      .to.contain('stand-in')
      .and.contain('svc providers set-key <provider>');
  });

  it('never treats text as markup, and renders code, bold, links and line breaks', async () => {
    const text = '<img src=x onerror="document.title=\'owned\'">\nsecond **line** with `code` and https://example.com/a.\n\n```js\nif (a < b) <b>x</b>\n```\n';
    daemon.script = () => [chunkFrame(text.slice(0, 60)), chunkFrame(text.slice(60)), doneFrame('')];
    await visit();
    await ready();
    await say('show <b>this</b>');
    await idle();
    expect(await page.locator('.said img, .said b').count()).to.equal(0);
    expect(await page.title()).to.equal('svc');
    expect(await page.locator('.theirs pre').innerText()).to.equal('if (a < b) <b>x</b>');
    expect(await page.locator('.theirs strong').innerText()).to.equal('line');
    expect(await page.locator('.theirs a').getAttribute('href')).to.equal('https://example.com/a');
    expect(await page.locator('.mine').innerText()).to.contain('show <b>this</b>');
  });

  it('shows a failed run with what to do, and can go on', async () => {
    daemon.script = () => [{ event: 'error', data: { error: 'The key of acme was refused.', code: 'provider_key_invalid', hint: 'svc providers set-key acme' } }];
    await visit();
    await ready();
    await say('hello');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText())
      .to.contain('was refused')
      .and.contain('svc providers set-key acme');
    await idle();
  });

  it('says that the daemon is gone and tries again on demand', async () => {
    await visit();
    await ready();
    await page.route('**/api/**', (route) => route.abort());
    await page.locator('#agent').evaluate((select) => select.dispatchEvent(new Event('change')));
    await page.getByText('svc start').waitFor();
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Say something to assistant').waitFor();
  });

  it('offers to create the first agent', async () => {
    daemon.agents = [];
    await visit();
    await page.getByRole('button', { name: 'Create an assistant' }).click();
    await ready();
    const spawned = daemon.seen.find((request) => request.method === 'POST' && request.path === '/api/agents');
    expect(JSON.stringify(spawned?.body)).to.contain('provider = \\"default\\"');
  });

  it('shows the conversation so far, with its tool calls', async () => {
    daemon.history = [
      { role: 'User', content: 'what is in a.txt?' },
      { role: 'Assistant', content: 'Let me look.', tools: [{ name: 'file_read', input: { path: 'a.txt' }, result: 'alpha', is_error: false }] },
      { role: 'Assistant', content: 'It says alpha.' },
    ];
    await visit();
    await ready();
    await page.getByText('It says alpha.').waitFor();
    expect(await page.locator('.turn.theirs').count()).to.equal(1);
    expect(await answerText()).to.match(/Let me look\..*file_read.*It says alpha\./s);
  });

  for (const [width, scheme] of [
    [320, 'light'],
    [360, 'dark'],
    [768, 'light'],
    [1920, 'dark'],
  ] as const) {
    it(`fits ${width} pixels in ${scheme} colours: no sideways scrolling, everything within reach`, async () => {
      daemon.history = [
        { role: 'User', content: 'x'.repeat(300) },
        { role: 'Assistant', content: `\`\`\`\n${'long '.repeat(200)}\n\`\`\`\n${'https://example.com/'.repeat(20)}` },
      ];
      await visit({ viewport: { width, height: 640 }, colorScheme: scheme });
      await ready();
      await page.locator('.turn.theirs pre').waitFor();
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width);
      const box = await page.locator('#send').boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).to.be.at.most(width);
      expect(box?.height).to.be.at.least(44);
      const text = await page.evaluate<string>('getComputedStyle(document.body).color');
      const back = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      expect(contrast(text, back)).to.be.at.least(7);
    });
  }

  it('lets only its own scripts run and speaks only to its own origin', () => {
    const { policy, html } = assemblePage();
    expect(policy).to.contain("default-src 'none'").and.contain("connect-src 'self'").and.not.contain('unsafe');
    expect(html).to.not.match(/\son\w+=|style="|innerHTML|document\.write|eval\(/);
  });
});

/** WCAG 2 contrast ratio of two `rgb(r, g, b)` colours. */
const contrast = (one: string, other: string): number => {
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
};

const luminance = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
