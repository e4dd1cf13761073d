/** Conversations, as a person has them: with a model that answers what the test says, in a real browser. */
import { startTcpProxy } from '@svc/testing/postgres/tcp-proxy';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { modelConfig } from '@svc/test/clients/model-kernel';
import { axeFindings, expectWellMade, useBrowser } from '@svc/test/page/browser';

const TABLE =
  '## Rivers\n\nThe **longest** ones:\n\n| river | km |\n|---|--:|\n| Nile | 6650 |\n| Amazon | 6400 |\n\n- [a source](https://example.org/rivers)\n- [not one](javascript:alert(1))\n\n```js\nconst km = 6650;\n```\n';
const HOSTILE = '<img src=x onerror="window.harmed = true"><script>window.harmed = true</script>\n\n[x](javascript:window.harmed=true)\n\n\u202Egnp.exe\u202C <b>bold?</b>';

describe('conversations on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: HeldServer;
  let kernel: TestKernel;
  let agentId: string;
  let page: Page;
  let mistakes: readonly string[];

  before(async () => {
    model = await startHeldServer();
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}`, env: model.env });
  });
  after(async () => {
    await stopTestKernels();
    await model?.close();
  });
  // Whatever was said before was said to another one.
  beforeEach(async () => {
    agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: `talker ${++talkers}` } })).body.agent_id;
  });
  // What a test that failed left unanswered is not taken for the next one's.
  afterEach(async () => {
    await kernel.http.expect(200, 'DELETE', `/api/agents/${agentId}`);
    model.reset();
  });

  let talkers = 0;
  const visit = async (url = kernel.url): Promise<void> => {
    ({ page, mistakes } = await chromium.open(new URL(`/#/chat/${agentId}`, url).href));
  };
  const composer = () => page.getByRole('textbox', { name: /^Message to/ });
  const say = async (text: string): Promise<void> => {
    await composer().fill(text);
    await composer().press('Enter');
  };
  const answer = async (text: string): Promise<void> => (await model.asked()).answer({ text });
  const lastAnswer = () => page.locator('.answered').last();
  const settled = () => page.locator('.answered .figures').last().waitFor();

  it('greets, and what is tried is a conversation whose answer is drawn as Markdown', async () => {
    await visit();
    await page.getByRole('button', { name: /table of five/ }).click();
    await answer(TABLE);
    await settled();
    // What draws Markdown is loaded with the first answer.
    await page.getByRole('cell', { name: '6650' }).waitFor();
    expect(await lastAnswer().locator('strong').innerText()).to.equal('longest');
    expect(await lastAnswer().getByRole('link', { name: 'a source' }).getAttribute('rel')).to.contain('noopener');
    expect(await lastAnswer().getByRole('link', { name: 'not one' }).count(), 'a link that would run a script').to.equal(0);
    await lastAnswer().locator('.hljs-keyword').waitFor();
    expect(await lastAnswer().locator('.figures').innerText()).to.match(/openai\/gpt-4o[\s\S]*10 in, 5 out/);
    await expectWellMade(page, 'a conversation', { isWhole: true });
    expect(mistakes).to.deep.equal([]);
  });

  it('folds what the model thinks, unfolds it as text, and has it still after a reload', async () => {
    await visit();
    await say('when is high water?');
    (await model.asked()).answer({ thoughts: 'They **mean** <b>the tide</b>.', text: 'At noon.' });
    await settled();
    const thoughts = lastAnswer().getByText('Reasoning', { exact: true });
    const text = lastAnswer().getByText('They **mean** <b>the tide</b>.');
    for (const time of ['at once', 'after a reload']) {
      await thoughts.waitFor();
      expect(await text.isVisible(), time).to.equal(false);
      await thoughts.click();
      await text.waitFor();
      await expectWellMade(page, `thoughts ${time}`);
      await page.reload();
      await settled();
    }
    expect(await lastAnswer().getByText('At noon.').isVisible()).to.equal(true);
    expect(mistakes).to.deep.equal([]);
  });

  it('shows what a model or a person writes as text, whatever it is', async () => {
    await visit();
    await say(HOSTILE);
    await answer(HOSTILE);
    await settled();
    expect(await lastAnswer().innerText()).to.contain('<script>window.harmed = true</script>');
    expect(await page.evaluate(() => 'harmed' in window)).to.equal(false);
    await say('and now deep ones');
    await answer(`${'> '.repeat(3_000)}deep\n\n${'['.repeat(10_000)}\n\n${'*a **b '.repeat(2_000)}`);
    await page.locator('.figures').nth(1).waitFor();
    await say('still there?');
    await answer('Still here.');
    await page.getByText('Still here.').waitFor();
  });

  it('draws formulas as MathML that scrolls within its line, and what is none as it was written', async () => {
    await visit();
    await say('how long is the other side?');
    await answer(
      `No TeX: $\\frac{$, $\\href{javascript:alert(1)}{x}$, $\\def\\a{\\a\\a}\\a$, $${'{'.repeat(1_500)}$.\n\nIt costs $5 to $10: $\\sqrt{a^2+b^2}$.\n\n$$\n\\begin{aligned} c &= \\frac{1}{2} \\\\ ${'x + '.repeat(200)} y &= 3 \\end{aligned}\n$$\n\n| side |\n|---|\n| $c$ |`,
    );
    await settled();
    const formulas = lastAnswer().locator('math');
    await formulas.nth(2).waitFor();
    expect(await formulas.count()).to.equal(3);
    expect(await formulas.first().locator('msqrt msup').count()).to.equal(2);
    expect(await formulas.nth(1).locator('mtr').count()).to.equal(2);
    expect(await lastAnswer().locator('.formula a, .formula img, .formula script').count()).to.equal(0);
    const text = await lastAnswer().innerText();
    for (const asWritten of ['It costs $5 to $10:', '$\\frac{$', '$\\href{javascript:alert(1)}{x}$', '$\\def\\a{\\a\\a}\\a$']) expect(text).to.contain(asWritten);
    await expectWellMade(page, 'formulas');
    expect(mistakes).to.deep.equal([]);
  });

  it('draws tool calls as one line that unfolds, with what an answer cost under it', async () => {
    await visit();
    await say('note it');
    (await model.asked()).answer({ toolCalls: [{ name: 'file_write', args: { path: 'notes.txt', content: 'hello' } }] });
    await answer('Noted.');
    await settled();
    const line = page.locator('.tool-line').filter({ hasText: 'File write' });
    expect(await line.innerText()).to.contain('notes.txt');
    await line.click();
    await page.getByText('Wrote 5 bytes to notes.txt.').waitFor();
    await page.reload();
    await page.locator('.tool-line').filter({ hasText: 'notes.txt' }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('stops an answer, and still says so after a reload', async () => {
    await visit();
    await say('take your time');
    await model.asked();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    expect(await page.getByText('take your time').first().isVisible()).to.equal(true);
  });

  it('shows a failed run after a reload, and tries it again in a branch that keeps the rest', async () => {
    await visit();
    await say('first');
    await answer('One.');
    await settled();
    await say('second');
    (await model.asked()).answer({ status: 401 });
    await page.getByRole('alert').getByText('No answer.').waitFor();
    await page.reload();
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await answer('Two.');
    await page.getByText('Two.', { exact: true }).waitFor();
    expect(await page.getByText('One.', { exact: true }).count()).to.equal(1);
    expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['first', 'second']);
  });

  it('asks something another way, and keeps the conversation as it was', async () => {
    await visit();
    await say('what is one and one?');
    await answer('Two.');
    await settled();
    const before = page.url();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('form', { name: 'Edit message' }).getByRole('textbox').fill('what is two and two?');
    await page.getByRole('form', { name: 'Edit message' }).getByRole('button', { name: 'Send' }).click();
    await answer('Four.');
    await page.getByText('Four.', { exact: true }).waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['what is two and two?']);
    await page.goto(before);
    await page.getByText('Two.', { exact: true }).waitFor();
  });

  it('queues what is said while an answer is written', async () => {
    await visit();
    await say('one');
    const first = await model.asked();
    await say('two');
    await page.getByText('Queued …').waitFor();
    first.answer({ text: 'First.' });
    await answer('Second.');
    await page.getByText('Second.', { exact: true }).waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['one', 'two']);
  });

  it('is followed live by a second tab, and says which conversation is at work', async () => {
    await visit();
    await say('hello both');
    const asked = await model.asked();
    await page.waitForURL(/#\/chat\/[^/]+\/[0-9a-f-]{36}/);
    const other = await chromium.open(page.url());
    await other.page.getByText('hello both').first().waitFor();
    await other.page.getByText('Thinking').first().waitFor();
    asked.answer({ text: 'Seen by both.' });
    await other.page.getByText('Seen by both.').waitFor();
    await say('once more');
    const again = await model.asked();
    await other.page.locator('.bubble').filter({ hasText: 'once more' }).waitFor();
    again.answer({ text: 'Heard by both.' });
    await other.page.getByText('Heard by both.').waitFor();
  });

  it('keeps what was typed when the tab is reloaded, and when the daemon did not take it', async () => {
    await visit();
    await say('begin');
    await answer('Begun.');
    await settled();
    await composer().fill('half a thou');
    await page.reload();
    await composer().waitFor();
    expect(await composer().inputValue()).to.equal('half a thou');
    await kernel.http.expect(200, 'PUT', `/api/agents/${agentId}/suspend`);
    await composer().press('Enter');
    await page.getByRole('alert').getByText('suspended').first().waitFor();
    expect(await composer().inputValue()).to.equal('half a thou');
  });

  it('attaches what is chosen, and a long paste as a file; what is too large is refused by name', async () => {
    await visit();
    await page.setInputFiles('input[type=file]', { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('eggs\nmilk\n') });
    await page.getByText('list.txt').waitFor();
    await composer().focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'long '.repeat(10_000));
      document.activeElement?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.locator('.attached-file').filter({ hasText: 'pasted.txt' }).waitFor();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'x'.repeat(20_000_000));
      document.activeElement?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.getByRole('alert').getByText('The limit is').waitFor();
    await page.getByRole('button', { name: 'Remove pasted.txt' }).click();
    const held: Array<() => unknown> = [];
    await page.route('**/upload', (route) => void held.push(() => route.continue()));
    await page.setInputFiles('input[type=file]', { name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('late bread\n') });
    await page.getByText('Uploading late.txt').waitFor();
    const unanswered = model.inFlight();
    await say('read my list');
    expect(model.inFlight(), 'a message goes only with its files').to.equal(unanswered);
    for (const goOn of held) await goOn();
    const asked = await model.asked();
    expect(JSON.stringify(asked.request.body)).to.contain('eggs').and.contain('late bread');
    asked.answer({ text: 'Eggs and milk.' });
    await settled();
    expect((await page.locator('.asked .attached-file').allInnerTexts()).join())
      .to.contain('list.txt')
      .and.contain('late.txt');
  });

  it('finds, renames, pins and deletes conversations', async () => {
    await visit();
    await say('the weather in Lisbon');
    await answer('Sunny.');
    await settled();
    const list = page.getByRole('complementary', { name: 'Conversations' });
    const row = (name: string | RegExp) => list.getByRole('listitem').filter({ hasText: name });
    await row('the weather in Lisbon').getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Lisbon');
    await page.getByRole('dialog').getByRole('textbox').press('Enter');
    await row('Lisbon').waitFor();
    await row('Lisbon').getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Pin' }).click();
    await list.getByRole('heading', { name: 'Pinned' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search all conversations' }).fill('sunny');
    await list.getByText('Sunny.').waitFor();
    await page.getByRole('searchbox', { name: 'Search all conversations' }).fill('');
    await row('Lisbon').getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Conversation deleted.').waitFor();
    await row('Lisbon').waitFor({ state: 'detached' });
  });

  it('goes on after the daemon was gone for a while', async () => {
    const way = await startTcpProxy(Number(new URL(kernel.url).port));
    await visit(way.through(kernel.url));
    await say('before');
    await answer('Before.');
    await settled();
    await way.cut();
    await page.getByText('No connection to the daemon').waitFor();
    await composer().fill('typed without a connection');
    await way.restore();
    await page.getByText('No connection to the daemon').waitFor({ state: 'detached' });
    await composer().press('Enter');
    await answer('After.');
    await page.getByText('After.', { exact: true }).waitFor();
    await way.close();
  });

  it('suggests commands after a slash, and Tab completes one', async () => {
    await visit();
    await composer().fill('/st');
    await page.locator('.suggestions [role=option]').first().waitFor();
    await composer().press('Tab');
    expect(await composer().inputValue()).to.match(/^\/st\w+ $/);
  });
});

describe('a conversation that is too long', function () {
  this.timeout(180_000);
  const chromium = useBrowser();
  afterEach(stopTestKernels);

  it('shows a word of a megabyte within the window', async () => {
    const word = 'x'.repeat(1_000_000);
    // What is so long is summed up at once, by the same model.
    const model = await startOpenAiServer(({ body }) => ({ text: JSON.stringify(body?.messages?.at(-1)).includes('one long word') ? word : 'A summary.' }));
    try {
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}${modelConfig(model.url)}`, env: { OPENAI_API_KEY: 'sk-test' } });
      const { page } = await chromium.open(kernel.url);
      await page.getByRole('textbox', { name: /^Message to/ }).fill('one long word');
      await page.keyboard.press('Enter');
      // A megabyte is written, sent and drawn in pieces: minutes of a busy machine.
      await page.locator('.answered .figures').waitFor({ timeout: 150_000 });
      expect(await page.evaluate(() => [document.documentElement.scrollWidth <= innerWidth, document.querySelector('.answered')?.textContent?.includes('xxxx')])).to.deep.equal([true, true]);
    } finally {
      await model.close();
    }
  });
});
