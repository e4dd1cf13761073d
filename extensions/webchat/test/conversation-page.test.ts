/** A conversation on the page, by keyboard alone: its versions, its title, the list it stands in, the model that answers. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { axeFindings, expectWellMade, picture, useBrowser } from '@svc/test/page/browser';

describe('a conversation on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: HeldServer;
  let kernel: TestKernel;
  let page: Page;

  before(async () => {
    model = await startHeldServer({ title: 'Counting together' });
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}[session]\nshare_links = true\n`, env: model.env });
  });
  after(async () => {
    await stopTestKernels();
    await model?.close();
  });

  const answer = async (text: string): Promise<void> => (await model.asked()).answer({ text });
  const bubbles = () => page.locator('.bubble').allInnerTexts();
  const rows = (name = /./) => page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name });
  const versions = () => page.getByRole('group', { name: 'Versions of this message' });
  const figures = (count: number) =>
    page
      .locator('.answered .figures')
      .nth(count - 1)
      .waitFor();

  it('has the title that a model made, in its head and in the tab, until a person gives it a name', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'counter' } })).body.agent_id;
    page = (await chromium.open(`${kernel.url}/#/chat/${agentId}`)).page;
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Message to counter');
    await page.keyboard.type('one and one?');
    await page.keyboard.press('Enter');
    await answer('Two.');
    await page.getByRole('heading', { level: 1, name: 'Counting together' }).waitFor();
    await page.waitForFunction(() => document.title === 'Counting together · Conversations · svc');
    await rows(/^Counting together/).waitFor();
    const session = page.url().split('/').at(-1);
    await kernel.http.expect(200, 'PUT', `/api/sessions/${session}/label`, { label: 'Sums' });
    await page.getByRole('heading', { level: 1, name: 'Sums' }).waitFor();
    await page.waitForFunction(() => document.title === 'Sums · Conversations · svc');
    await page.keyboard.type('two and two?');
    await page.keyboard.press('Enter');
    await answer('Four.');
    await figures(2);
    expect(await page.title(), 'after another answer').to.equal('Sums · Conversations · svc');

    // Another model for this conversation: found by its name, with the keyboard.
    await page.getByRole('button', { name: /^Model:/ }).focus();
    await page.keyboard.press('Enter');
    const search = page.getByRole('combobox', { name: 'Search models' });
    await page.getByRole('option', { name: /present model/ }).waitFor();
    // What it costs, reads at once and can; of a model that no catalog has, nothing is known.
    const priced = page.getByRole('option', { name: /out per million tokens/ }).first();
    await priced.waitFor();
    expect(await priced.innerText()).to.match(/\$[\d.]+ in, \$[\d.]+ out per million tokens · \S+ tokens · tools/);
    expect(await search.evaluate((element) => element === document.activeElement), 'the search has the focus').to.equal(true);
    const providers = await page.getByRole('listbox', { name: 'Model' }).locator('.small-text').allInnerTexts();
    expect(providers).to.include('openai');
    for (const absent of ['anthropic', 'ollama']) expect(providers, 'without a key, or not running').to.not.include(absent);
    await page.keyboard.type('5 nano');
    await expectWellMade(page, 'the choice of a model');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: gpt-5-nano' }).waitFor();
    await page.getByRole('textbox', { name: 'Message to counter' }).focus();
    await page.keyboard.type('three?');
    await page.keyboard.press('Enter');
    const asked = await model.asked();
    expect((asked.request.body as { model: string }).model).to.equal('gpt-5-nano');
    asked.answer({ text: 'Three.' });
    await figures(3);
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agentId}`)).body.model_name).to.equal('gpt-4o');
    await page.getByRole('button', { name: /^Model:/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Use the model of the agent' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: gpt-4o', exact: true }).waitFor();

    // For the agent: all its conversations, until the default model is chosen again.
    const agentModel = async (): Promise<string> => (await kernel.http.expect(200, 'GET', `/api/agents/${agentId}`)).body.model_name;
    await page.getByRole('button', { name: /^Model:/ }).press('Enter');
    await page.getByRole('option', { name: /present model/ }).waitFor();
    await page.getByRole('radio', { name: 'Agent counter' }).press(' ');
    await search.fill('5 nano');
    await search.press('Enter');
    await page.getByRole('button', { name: 'Model: gpt-5-nano' }).waitFor();
    expect(await agentModel()).to.equal('gpt-5-nano');
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agentId}/session?session_id=${session}`)).body.model, 'of the conversation').to.equal(null);
    await page.getByRole('button', { name: /^Model:/ }).press('Enter');
    await page.getByRole('button', { name: 'Use the default model' }).press('Enter');
    await page.getByRole('button', { name: 'Model: gpt-4o', exact: true }).waitFor();
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agentId}`)).body).to.include({ model_name: 'gpt-4o' });
  });

  it('stands in a list by date that is one Tab stop, goes to the archive and back, and is found by the commands', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'keeper' } })).body.agent_id;
    for (const label of ['Rivers', 'Lakes', 'Seas']) {
      const { session_id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, { activate: false, label })).body;
      const said = kernel.http.post(`/api/agents/${agentId}/message`, { message: `about ${label}`, session_id });
      await answer(`What there is to say of ${label}.`);
      await said;
    }
    let mistakes: readonly string[];
    ({ page, mistakes } = await chromium.open(`${kernel.url}/#/chat/${agentId}/new`));
    await page.getByRole('region', { name: 'Today' }).getByRole('link', { name: /^Seas/ }).waitFor();
    const list = page.locator('.session-list-body');
    expect(await list.locator('[tabindex="0"]').count(), 'Tab stops').to.equal(1);
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? (document.activeElement as HTMLElement).innerText.split('\n')[0] ?? '');
    await page.getByRole('searchbox', { name: 'Search all conversations' }).focus();
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Seas');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).to.equal('Lakes');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).to.equal('Actions for Lakes');
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).to.equal('Lakes');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).press('Enter');
    expect((await download).suggestedFilename()).to.equal('Lakes.md');
    const json = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Actions for Lakes' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Export as JSON' }).press('Enter');
    expect((await json).suggestedFilename()).to.equal('Lakes.json');
    const exported = JSON.parse(await readFile(await (await json).path(), 'utf8'));
    expect(exported).to.include({ label: 'Lakes', agent_id: agentId });
    expect(exported.messages.map(({ content }: { content: string }) => content)).to.deep.equal(['about Lakes', 'What there is to say of Lakes.']);

    await page.getByRole('button', { name: 'More about the list' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Select several' }).press('Enter');
    for (const name of [/^Lakes/, /^Rivers/]) await page.getByRole('checkbox', { name }).press(' ');
    const several = page.getByRole('group', { name: '2 selected' });
    await expectWellMade(page, 'several conversations that are selected');
    await several.getByRole('button', { name: 'Archive' }).press('Enter');
    await rows(/^Lakes/).waitFor({ state: 'detached' });
    await rows(/^Rivers/).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More about the list' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Show the archive' }).press('Enter');
    await rows(/^Lakes/).waitFor();
    expect(await rows(/^Seas/).count()).to.equal(0);
    await page.getByRole('button', { name: 'Actions for Lakes' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Take out of the archive' }).press('Enter');
    await rows(/^Lakes/).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Back to conversations' }).press('Enter');
    await rows(/^Lakes/).waitFor();
    expect(await rows(/^Rivers/).count(), 'still in the archive').to.equal(0);

    // What is collapsed stays so; a name of what is in it is still read.
    await page.getByRole('button', { name: 'Hide conversations' }).press('Enter');
    await page.getByRole('button', { name: 'Collapse navigation' }).press('Enter');
    await page.reload();
    await page.getByRole('button', { name: 'Conversations', exact: true }).waitFor();
    expect(await list.isVisible()).to.equal(false);
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Chat' }).waitFor();
    await page.getByRole('button', { name: 'Expand navigation' }).press('Enter');

    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.getByRole('region', { name: 'Everywhere' }).getByText('This list').waitFor();
    await keys.getByRole('region', { name: 'Conversations' }).getByText('New conversation').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const commands = page.getByRole('combobox');
    await commands.fill('session.titles');
    await page.getByRole('option', { name: /session\.titles/ }).waitFor();
    await commands.fill('lakes');
    await page.getByRole('option', { name: /^What there is to say of Lakes/ }).waitFor();
    await page
      .getByRole('option', { name: /^Lakes/ })
      .first()
      .waitFor();
    await commands.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Lakes' }).waitFor();
    await page
      .getByRole('button', { name: 'Show conversations', exact: true })
      .or(page.getByRole('button', { name: 'Conversations', exact: true }))
      .first()
      .press('Enter');
    await page.getByRole('button', { name: 'More about the list' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Select several' }).press('Enter');
    for (const name of [/^Lakes/, /^Seas/]) await page.getByRole('checkbox', { name }).press(' ');
    await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Delete' }).press('Enter');
    const question = page.getByRole('dialog', { name: 'Delete 2 conversations?' });
    await question.getByRole('button', { name: 'Cancel' }).press('Enter');
    expect(await page.getByRole('checkbox', { name: /^Lakes/ }).count(), 'after Cancel').to.equal(1);
    await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Delete' }).press('Enter');
    await question.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.waitForURL(/\/new$/);
    await rows(/^(Lakes|Seas)/)
      .first()
      .waitFor({ state: 'detached' });
    const left = (await kernel.http.expect(200, 'GET', `/api/sessions?agent_id=${agentId}`)).body.sessions;
    expect(left.map(({ label }: { label: string }) => label)).to.deep.equal(['Rivers']);
    // The open one was asked for once more when it was deleted.
    expect(mistakes.filter((line) => !/404 .*\/api\/(agents|sessions)\//.test(line))).to.deep.equal([]);
  });

  it('has tags, for one or several, which the list shows, filters by and is searched for', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'tagger' } })).body.agent_id;
    for (const label of ['Alps', 'Andes', 'Urals']) {
      const { session_id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, { activate: false, label })).body;
      const said = kernel.http.post(`/api/agents/${agentId}/message`, { message: `about ${label}`, session_id });
      await answer('High.');
      await said;
    }
    let mistakes: readonly string[];
    ({ page, mistakes } = await chromium.open(`${kernel.url}/#/chat/${agentId}/new`));
    await rows(/^Alps/).waitFor();
    await page.getByRole('button', { name: 'Actions for Alps' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Tags' }).press('Enter');
    const words = page.getByRole('dialog', { name: 'Tags' }).getByRole('textbox', { name: 'Tags' });
    await words.fill('Europe, #snow');
    await words.press('Enter');
    await rows(/Tags: europe *snow/).waitFor();

    await page.getByRole('button', { name: 'More about the list' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Select several' }).press('Enter');
    for (const name of [/^Alps/, /^Urals/]) await page.getByRole('checkbox', { name }).press(' ');
    await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Tags' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add tags to 2 conversations' });
    await dialog.getByRole('button', { name: 'europe' }).press('Enter');
    await expectWellMade(page, 'tags of several conversations');
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await rows(/^Urals.*Tags: europe/s).waitFor();
    expect(await rows(/^Alps.*Tags: europe *snow/s).count(), 'those that it had stay').to.equal(1);
    await expectWellMade(page, 'conversations with tags');

    await page.getByRole('combobox', { name: 'Tag' }).selectOption('europe');
    await rows(/^Andes/).waitFor({ state: 'detached' });
    await rows(/^Alps/).waitFor();
    expect(await rows().count()).to.equal(2);
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('');
    await page.getByRole('searchbox', { name: 'Search all conversations' }).fill('#Snow');
    await page.getByRole('list', { name: 'Tagged “snow”' }).getByRole('link', { name: /^Alps/ }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Alps' }).waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('is shared by a link that shows it as it was, until it is updated or revoked', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'sharer' } })).body.agent_id;
    let mistakes: readonly string[];
    ({ page, mistakes } = await chromium.open(`${kernel.url}/#/chat/${agentId}`));
    const composer = page.getByRole('textbox', { name: /^Message to/ });
    await composer.fill('<b>first</b> question');
    await composer.press('Enter');
    await answer('# One\n\nIt is **1**: [more](https://one.example/)\n\n```js\nlet one = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<img src=x onerror=alert(1)>');
    await figures(1);
    const share = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for this conversation' }).press('Enter');
      await page.getByRole('menuitem', { name: 'Share by link' }).press('Enter');
    };
    await share();
    const dialog = page.getByRole('dialog', { name: 'Share by link' });
    await dialog.getByRole('combobox', { name: 'Valid for' }).selectOption('7');
    await dialog.getByRole('button', { name: 'Create link' }).press('Enter');
    const url = await dialog.getByRole('textbox', { name: /Copy the link now/ }).inputValue();
    expect(url).to.match(new RegExp(`^${kernel.url}/shared/[\\w-]{43}$`));
    await dialog.getByText(/^Expires /).waitFor();
    await expectWellMade(page, 'the links of a conversation');
    await page.keyboard.press('Escape');
    await composer.fill('second question');
    await composer.press('Enter');
    await answer('Two.');
    await figures(2);

    // As somebody reads it who has the link alone.
    const context = await chromium.browser().newContext({ locale: 'en-GB' });
    try {
      const reader = await context.newPage();
      const asked: string[] = [];
      reader.on('request', (request) => asked.push(request.url()));
      expect((await reader.goto(url))?.status()).to.equal(200);
      expect(await reader.getByRole('heading', { level: 1 }).innerText()).to.equal('Counting together');
      const text = await reader.locator('main').innerText();
      expect(text).to.include('<b>first</b> question').and.include('It is 1: more').and.include('<img src=x onerror=alert(1)>').and.not.include('second');
      expect(asked).to.deep.equal([url]);
      expect(await context.cookies()).to.deep.equal([]);
      expect(await reader.locator('script, img').count()).to.equal(0);
      // axe is a script, and the page runs none: it looks at the same text elsewhere.
      const copy = await context.newPage();
      await copy.setContent(await (await fetch(url)).text());
      for (const [width, colorScheme] of [
        [390, 'light'],
        [390, 'dark'],
        [1280, 'light'],
        [1280, 'dark'],
      ] as const) {
        await copy.setViewportSize({ width, height: 800 });
        await copy.emulateMedia({ colorScheme });
        expect(await copy.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), `beyond ${width} px`).to.be.at.most(0);
        expect(await axeFindings(copy, { isWhole: true }), `${width} px, ${colorScheme}`).to.deep.equal([]);
        await picture(copy, `a shared conversation ${width} ${colorScheme}`);
      }
      await share();
      await dialog.getByRole('button', { name: 'Update' }).press('Enter');
      await page.getByText('The link shows the conversation as it is now.').waitFor();
      await reader.reload();
      expect(await reader.locator('main').innerText()).to.include('second question');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'More about the list' }).press('Enter');
      await page.getByRole('menuitem', { name: 'Shared links' }).press('Enter');
      const all = page.getByRole('dialog', { name: 'Shared links' });
      await all.getByRole('listitem').filter({ hasText: 'Counting together' }).first().getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByText('Link revoked.').waitFor();
      expect((await reader.reload())?.status()).to.equal(404);
      await reader.getByRole('heading', { name: 'Link not found' }).waitFor();
      await picture(reader, 'a link that has ended');
    } finally {
      await context.close();
    }
    expect(mistakes).to.deep.equal([]);
  });

  it('has ratings of its answers, which other tabs show, also of an answer that was copied into another version', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'rated' } })).body.agent_id;
    ({ page } = await chromium.open(`${kernel.url}/#/chat/${agentId}`));
    const composer = page.getByRole('textbox', { name: /^Message to/ });
    await composer.fill('first');
    await composer.press('Enter');
    await answer('One.');
    await figures(1);
    const first = page.url();
    await page.getByRole('button', { name: 'Branch from here' }).press('Enter');
    await page.waitForURL((url) => url.href !== first && !url.href.endsWith('/new'));
    await figures(1);
    const other = await page.context().newPage();
    await other.goto(first);
    const thumbs = (tab: Page, name: string) => tab.getByRole('group', { name: 'Rating of this answer' }).getByRole('button', { name });
    await thumbs(other, 'Good answer').press('Enter');
    await other.locator('[aria-label="Good answer"][aria-pressed="true"]').waitFor();
    await page.locator('[aria-label="Good answer"][aria-pressed="true"]').waitFor();
    await thumbs(page, 'Bad answer').press('Enter');
    await other.locator('[aria-label="Bad answer"][aria-pressed="true"]').waitFor();
    await thumbs(page, 'Add a comment').press('Enter');
    await page.getByRole('dialog', { name: 'Add a comment' }).getByRole('textbox', { name: 'Why?' }).fill('It is zero.');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await thumbs(other, 'Edit the comment').press('Enter');
    expect(await other.getByRole('textbox', { name: 'Why?' }).inputValue()).to.equal('It is zero.');
    await other.close();
    await expectWellMade(page, 'a rated answer');
    await page.goto(`${kernel.url}/#/usage`);
    const row = page.locator('.table-frame[aria-label="Ratings by agent and model"]').getByRole('row', { name: /^rated/ });
    await row.waitFor();
    expect((await row.getByRole('cell').allInnerTexts()).slice(-3)).to.deep.equal(['openai/gpt-4o', '0', '1']);
    await expectWellMade(page, 'ratings by model');
  });

  it('has versions, made by an edit in place and by another try, which are counted at their turn and remembered', async () => {
    const agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'versed' } })).body.agent_id;
    page = (await chromium.open(`${kernel.url}/#/chat/${agentId}`)).page;
    const composer = page.getByRole('textbox', { name: /^Message to/ });
    await composer.fill('first');
    await composer.press('Enter');
    await answer('One.');
    await figures(1);
    await composer.fill('second');
    await composer.press('Enter');
    await answer('Two.');
    await figures(2);

    // Escape leaves the message as it was, and the focus on the button.
    const edit = page.getByRole('button', { name: 'Edit', exact: true }).nth(1);
    await edit.focus();
    await page.keyboard.press('Enter');
    const field = page.getByRole('form', { name: 'Edit message' }).getByRole('textbox');
    expect(await field.evaluate((element) => element === document.activeElement), 'the field has the focus').to.equal(true);
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Edit');
    await page.keyboard.press('Enter');
    await field.fill('another second');
    // What was typed is there after a reload; what was left by Escape is not.
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).to.equal('another second');
    await field.press('Escape');
    await page.reload();
    await page.getByText('Two.', { exact: true }).waitFor();
    expect(await field.count()).to.equal(0);
    await edit.press('Enter');
    await field.fill('another second');
    await page.keyboard.press('Enter');
    await answer('Two otherwise.');
    await page.getByText('Two otherwise.', { exact: true }).waitFor();
    await versions().getByRole('status', { name: 'Version 2 of 2' }).waitFor();
    expect(await bubbles()).to.deep.equal(['first', 'another second']);
    await figures(2);
    expect(await page.locator('.answered .figures').first().innerText(), 'of a copied turn').to.match(/openai\/gpt-4o[\s\S]*10 in, 5 out[\s\S]*\$/);

    await page.getByRole('button', { name: 'Try again' }).nth(1).focus();
    await page.keyboard.press('Enter');
    await answer('Two once more.');
    await versions().getByRole('status', { name: 'Version 3 of 3' }).waitFor();
    await figures(2);
    await rows(/^Counting together\s*versed/)
      .first()
      .waitFor();
    expect(await rows(/^Counting together\s*versed/).count(), 'one row for the conversation').to.equal(1);
    await expectWellMade(page, 'a conversation with versions');

    // By keyboard from version to version: the focus stays where it was pressed.
    await versions().getByRole('button', { name: 'Previous version' }).focus();
    await page.keyboard.press('Enter');
    await versions().getByRole('status', { name: 'Version 2 of 3' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Previous version');
    await page.keyboard.press('Enter');
    await page.getByText('Two.', { exact: true }).waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Next version');
    expect(await bubbles()).to.deep.equal(['first', 'second']);
    expect(await rows(/^Counting together\s*versed/).getAttribute('aria-current')).to.equal('page');

    // The one that was chosen is the one to come back to.
    await page.waitForFunction(() =>
      fetch('/api/sessions?versions=chosen')
        .then((response) => response.json())
        .then(({ sessions }) => location.hash.endsWith(sessions[0].session_id)),
    );
    const chosen = page.url();
    await page.goto(`${kernel.url}/#/chat/${agentId}`);
    await page.reload();
    await page.getByText('Two.', { exact: true }).waitFor();
    expect(page.url()).to.equal(chosen);
  });

  it('says at a message which channel it came by', async () => {
    ({ page } = await chromium.open(`${kernel.url}/`));
    const secret = 'a secret of a sensor';
    await kernel.http.expect(200, 'POST', '/api/channels/webhook/configure', { fields: { secret_env: secret } });
    const body = JSON.stringify({ sender_id: 'sensor-7', message: 'the door is open' });
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
    expect((await fetch(`${kernel.url}/api/channels/webhook/webhook`, { method: 'POST', headers, body })).status).to.equal(200);
    await answer('I will close it.');
    const [{ session_id: session, agent_id: agent }] = (await kernel.http.expect(200, 'GET', '/api/channels/deliveries?direction=inbound')).body.deliveries;
    await page.goto(`${kernel.url}/#/chat/${agent}/${session}`);
    await page.locator('.asked', { hasText: 'the door is open' }).waitFor();
    expect(await page.locator('.asked').innerText()).to.match(/from webhook sensor-7/);
  });
});
