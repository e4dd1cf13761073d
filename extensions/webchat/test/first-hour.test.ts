/** What people meet in their first hour of conversations. With PAGE_PICTURES=folder each of it is kept as a picture. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { brokenWords, expectWellMade, picture, useBrowser } from '@svc/test/page/browser';

const WORDS = Array.from({ length: 60 }, (_, index) => `part${index} `);
const WIDE_TABLE =
  '| Programming language | First published | Characteristic applications |\n|---|---|---|\n| JavaScript | 1995 | Interactive documents, applications |\n| Fortran | 1957 | Scientific computations |';

describe('the first hour of conversations', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: HeldServer;
  let kernel: TestKernel;
  let agentId: string;
  let page: Page;
  let talkers = 0;

  before(async () => {
    model = await startHeldServer();
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}`, env: model.env });
  });
  after(async () => {
    await stopTestKernels();
    await model?.close();
  });
  beforeEach(async () => {
    agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: `guest ${++talkers}` } })).body.agent_id;
    ({ page } = await chromium.open(`${kernel.url}/#/chat/${agentId}`));
  });
  // A test that failed leaves runs that still ask, and questions that wait for an answer: they end with their agent.
  afterEach(async () => {
    await kernel.http.expect(200, 'DELETE', `/api/agents/${agentId}`);
    model.reset();
  });

  const composer = () => page.getByRole('textbox', { name: /^Message to/ });
  const say = async (text: string): Promise<void> => {
    await composer().fill(text);
    await composer().press('Enter');
  };
  const answered = async (question: string, text: string): Promise<void> => {
    await say(question);
    (await model.asked()).answer({ text });
    await page.locator('.answered .figures').last().waitFor();
  };
  const slowly = async (question: string): Promise<void> => {
    await say(question);
    (await model.asked()).answer({ deltas: WORDS, eventDelayMs: 100 });
    await page.getByText('part3').last().waitFor();
  };
  /** The daemon has it: what is typed is drawn before that. */
  const isQueued = async (text: string): Promise<void> => {
    await page.locator('.bubble').filter({ hasText: text }).waitFor();
    await page.getByText('Queued …').waitFor();
  };
  const sessions = async (): Promise<Array<{ message_count: number }>> => (await kernel.http.expect(200, 'GET', `/api/sessions?agent_id=${agentId}`)).body.sessions;
  const rows = () =>
    page
      .getByRole('complementary', { name: 'Conversations' })
      .locator('.session')
      .filter({ hasText: `guest ${talkers} ·` });

  it('show what a command answers as an answer of the system, and leave no empty conversation', async () => {
    await say('/help');
    const said = page.locator('.system-said');
    await said.getByText('/usage').waitFor();
    await page.waitForTimeout(500);
    expect(await said.innerText()).to.match(/System[\s\S]*\/compact/);
    expect(await sessions()).to.deep.equal([]);
    expect(await rows().count()).to.equal(0);
    await expectWellMade(page, 'the answer of a command');

    await answered('hello', 'Hello.');
    await said.getByText('/usage').waitFor();
    await say('/usage');
    await said.nth(1).getByText('model calls').waitFor();
    await page.waitForTimeout(500);
    expect(await page.locator('.turn').allInnerTexts()).to.have.length(3);
    expect((await sessions()).map(({ message_count }) => message_count)).to.deep.equal([2]);
    await say('/nonsense');
    await page
      .getByRole('alert')
      .getByText(/nonsense/)
      .waitFor();
    expect(await composer().inputValue()).to.equal('/nonsense');
  });

  it('go on where a command begins a conversation, with what it said and the field to type in', async () => {
    await answered('hello', 'Hello.');
    const before = page.url();
    await say('/new');
    await page.locator('.system-said').getByText('A new session has started').waitFor();
    expect(page.url()).not.to.equal(before);
    await rows().first().waitFor();
    expect(await rows().count()).to.equal(1);
    expect(await composer().evaluate((field) => field === document.activeElement)).to.equal(true);
    await say('/new');
    await page.waitForTimeout(300);
    expect(await rows().count()).to.equal(1);
  });

  it('keep the answer to a question beside the conversation in sight', async () => {
    await answered('hello', 'Hello.');
    await say('/btw what is the time?');
    (await model.asked()).answer({ text: 'Noon, I think.' });
    await page.getByText('Sent outside the conversation').waitFor();
    await page.waitForTimeout(300);
    expect(await page.getByText('Noon, I think.').count()).to.equal(1);
  });

  it('keep an answer that is being written, through a reload and a second message', async () => {
    await slowly('tell a story');
    await page.reload();
    await page.getByText('part3').last().waitFor();
    await say('and then?');
    await isQueued('and then?');
    const texts: string[] = [];
    for (let look = 0; look < 10; look++) {
      texts.push(await page.locator('.turns').innerText());
      await page.waitForTimeout(50);
    }
    expect(texts.filter((text) => !text.includes('part3'))).to.deep.equal([]);
    await picture(page, 'a second message while one is answered');
    // Who comes back while one waits is told the one that is being written.
    await page.reload();
    await page.getByText('part3').last().waitFor();
    (await model.asked()).answer({ text: 'The end.' });
    await page.getByText('The end.').waitFor();
    expect(await page.getByText('part59').count()).to.equal(1);
  });

  it('say of a stopped answer which model it was, what it used and how long it ran, and offer another try', async () => {
    await slowly('tell a story');
    await say('and then?');
    await isQueued('and then?');
    await page.getByRole('button', { name: 'Stop' }).click();
    const reported = page.locator('.answered').first();
    await reported.getByText(/^Ran for/).waitFor();
    const figures = await reported.locator('.figures').innerText();
    expect(figures)
      .to.match(/openai\/gpt-4o/)
      .and.not.match(/default/);
    expect(figures)
      .to.match(/[1-9][\d,]* in, [1-9]\d* out/)
      .and.match(/\$0\.0*[1-9]/);
    await picture(page, 'a stopped answer');
    // What waited was never begun: who typed it has it back.
    await page.locator('.bubble').filter({ hasText: 'and then?' }).waitFor({ state: 'detached' });
    expect(await composer().inputValue()).to.equal('and then?');
    await reported.getByRole('button', { name: 'Try again' }).click();
    (await model.asked()).answer({ text: 'A short one.' });
    await page.getByText('A short one.').waitFor();
  });

  it('stop what goes on in this conversation, and not what the agent does in another one', async () => {
    await slowly('tell a story');
    const { session_id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, {})).body;
    const other = kernel.http.post(`/api/agents/${agentId}/message`, { message: 'elsewhere', session_id });
    const asked = await model.asked();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^Stopped\./).waitFor();
    asked.answer({ text: 'Still here.' });
    expect((await other).body.response).to.equal('Still here.');
  });

  it('say of a failed answer why, in the words of the provider, and who was asked', async () => {
    await say('go on');
    (await model.asked()).answer({ status: 400, message: 'messages.0 is wrong (invalid_request_error)' });
    const failure = page.locator('.answered').getByRole('alert');
    await failure.getByText('invalid_request_error').waitFor();
    await page.locator('.answered .figures').getByText('openai/gpt-4o').waitFor();
    await failure.getByRole('button', { name: 'Try again' }).waitFor();
    await expectWellMade(page, 'a failed answer');
  });

  it('open a menu whole, above all else and within the window', async () => {
    for (const [width, height] of [
      [1280, 800],
      [768, 800],
      [360, 560],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const name of ['Theme', 'Language']) {
        if (width < 896) await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('button', { name, exact: true }).click();
        await expectInSight(page.getByRole('menu', { name }), `${name} at ${width}`);
        await picture(page, `menu ${name} ${width}`);
        await page.keyboard.press('Escape');
        if (width < 896) await page.reload();
      }
    }
  });

  const expectInSight = async (menu: Locator, what: string): Promise<void> => {
    await menu.waitFor();
    const hidden = await menu.evaluate((list) => {
      const { left, right, top, bottom } = list.getBoundingClientRect();
      const corners = [
        [left + 3, top + 3],
        [right - 3, top + 3],
        [left + 3, bottom - 3],
        [right - 3, bottom - 3],
      ] as const;
      return corners.filter(([x, y]) => !list.contains(document.elementFromPoint(x, y)) || x < 0 || y < 0 || x > innerWidth || y > innerHeight);
    });
    expect(hidden, what).to.deep.equal([]);
  };

  it('never cover what one sends with by a notice, which goes when its cause is gone', async () => {
    await answered('hello', 'Hello.');
    await kernel.http.expect(200, 'PUT', `/api/agents/${agentId}/suspend`);
    const notice = page.locator('.notice');
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await say('are you there?');
      await notice
        .getByText(/is suspended/)
        .first()
        .waitFor();
      const [over, send, field] = await Promise.all([notice.boundingBox(), page.getByRole('button', { name: 'Send' }).boundingBox(), composer().boundingBox()]);
      if (!over || !send || !field) throw new Error('one of them is not drawn');
      expect([over.y + over.height <= field.y, over.y + over.height <= send.y], `at ${width}`).to.deep.equal([true, true]);
      await picture(page, `a notice ${width}`);
    }
    await kernel.http.expect(200, 'PUT', `/api/agents/${agentId}/resume`);
    await composer().press('Enter');
    (await model.asked()).answer({ text: 'Here.' });
    await page.getByText('Here.', { exact: true }).waitFor();
    expect(await notice.count()).to.equal(0);

    await say('/nonsense');
    await notice
      .getByText(/nonsense/)
      .first()
      .waitFor();
    await page.waitForTimeout(1_100);
    await page.evaluate(() => {
      location.hash = '#/models';
    });
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    expect(await notice.count()).to.equal(0);
  });

  it('draw tables on a phone without breaking a word', async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await answered('a table', WIDE_TABLE);
    await page.getByRole('cell', { name: 'JavaScript' }).waitFor();
    expect(await brokenWords(page, '.md-table td, .md-table th')).to.deep.equal([]);
    await picture(page, 'a table of an answer 360');
    for (const panel of ['models', 'runs', 'agents', 'overview']) {
      await page.goto(`${kernel.url}/#/${panel}`);
      await page.locator('.content h1').first().waitFor();
      await page.waitForTimeout(400);
      expect(await brokenWords(page, '.table td, .table th'), panel).to.deep.equal([]);
      await picture(page, `tables of ${panel} 360`);
    }
  });

  it('draw a file beside a picture as high as a file is', async () => {
    const drawn = await page.evaluate(() => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [400, 300];
      canvas.getContext('2d')?.fillRect(40, 40, 200, 200);
      return canvas.toDataURL('image/png').split(',')[1] ?? '';
    });
    await page.setInputFiles('input[type=file]', [
      { name: 'chart.png', mimeType: 'image/png', buffer: Buffer.from(drawn, 'base64') },
      { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('eggs') },
    ]);
    await page.locator('.attached-file').nth(1).waitFor();
    await answered('look at these', 'A chart.');
    await page.waitForFunction(() => (document.querySelector('.asked .thumbnail img')?.getBoundingClientRect().height ?? 0) > 100);
    const box = await page.locator('.asked .attached-file').boundingBox();
    expect(box?.height).to.be.below(48);
    await picture(page, 'a file beside a picture');
  });

  it('show a picture as a thumbnail before and after it is sent, larger when it is pressed, and what is none as a file', async () => {
    const drawn = await page.evaluate(() => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [600, 300];
      const pen = canvas.getContext('2d');
      if (pen) pen.fillStyle = '#2f5bd3';
      pen?.fillRect(40, 40, 400, 200);
      return canvas.toDataURL('image/png').split(',')[1] ?? '';
    });
    await page.setInputFiles('input[type=file]', [
      { name: 'sky.png', mimeType: 'image/png', buffer: Buffer.from(drawn, 'base64') },
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.concat([Buffer.from(drawn, 'base64').subarray(0, 40), Buffer.from('no picture')]) },
    ]);
    const before = page.locator('.composer').getByRole('button', { name: 'Picture sky.png' });
    await before.waitFor();
    const broken = page.locator('.composer .attached-file').filter({ hasText: 'broken.png' });
    await broken.waitFor();
    await broken.getByRole('img').waitFor({ state: 'detached' });
    await expectWellMade(page, 'a picture that is attached');
    await before.click();
    const larger = page.getByRole('dialog', { name: 'sky.png' });
    expect(await larger.getByRole('img', { name: 'Picture sky.png' }).evaluate((image) => (image instanceof HTMLImageElement ? image.naturalWidth : 0))).to.equal(600);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove broken.png' }).click();
    for (const time of ['at once', 'after a reload']) {
      if (time === 'at once') await answered('what is this?', 'The sky.');
      else await page.reload();
      await page.locator('.asked').last().getByRole('button', { name: 'Picture sky.png' }).click();
      await larger.getByRole('link', { name: 'Download' }).waitFor();
      expect(await page.locator('.asked').last().locator('.attached-file').count(), time).to.equal(0);
      await expectWellMade(page, `a larger picture ${time}`);
      await page.keyboard.press('Escape');
      await larger.waitFor({ state: 'detached' });
    }
  });

  it('have headings that differ by their depth, none larger than the title of the page', async () => {
    await answered(
      'write a report',
      '# Report\n\nWhat was found, and what follows from it for the next quarter.\n\n## Findings\n\nThe **main** ones:\n\n- one, which is long enough to fill more than a single line of the answer on most screens that people have\n- two\n  - two and a half\n\n### Costs\n\nThey fell.\n\n| month | cost |\n|---|--:|\n| May | 12 |\n| June | 9 |\n\n#### Notes\n\nA word.\n\n> A quote of somebody, who said it at some length.\n\n1. first\n2. second\n\n```js\nconst x = 1;\n```\n\nThe end.',
    );
    const sizes = await page.evaluate(() =>
      [document.querySelector('.chat-head h1'), ...[1, 2, 3, 4].map((depth) => document.querySelector(`.depth-${depth}`))].map((one) => (one ? Number.parseFloat(getComputedStyle(one).fontSize) : 0)),
    );
    const [title = 0, ...depths] = sizes;
    expect(depths[0]).to.be.at.most(title);
    for (const [at, size] of depths.slice(1).entries()) expect((depths[at] ?? 0) - size, `depth ${at + 1} and ${at + 2}`).to.be.at.least(1.5);
    await page.locator('.turns').evaluate((turns) => turns.scrollTo({ top: 0 }));
    await expectWellMade(page, 'headings of an answer');
  });
});
