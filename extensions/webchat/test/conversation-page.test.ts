/** A conversation on the page, by keyboard alone: its versions, its title, the list it stands in, the model that answers. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';

describe('a conversation on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: HeldServer;
  let kernel: TestKernel;
  let page: Page;

  before(async () => {
    model = await startHeldServer({ title: 'Counting together' });
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}`, env: model.env });
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
    expect(await page.title()).to.equal('Counting together · Conversations · svc');
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

    // What is collapsed stays so; a name of what is in it is still read.
    await page.getByRole('button', { name: 'Hide conversations' }).press('Enter');
    await page.getByRole('button', { name: 'Collapse navigation' }).press('Enter');
    await page.reload();
    await page.getByRole('button', { name: 'Conversations', exact: true }).waitFor();
    expect(await list.isVisible()).to.equal(false);
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Conversations' }).waitFor();
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
    expect(mistakes).to.deep.equal([]);
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
    expect(await rows(/^Counting together/).count(), 'one row for the conversation').to.equal(1);
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
    expect(await rows(/^Counting together/).getAttribute('aria-current')).to.equal('page');

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
});
