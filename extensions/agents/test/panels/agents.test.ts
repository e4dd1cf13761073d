/** The panel of agents, used as a person uses it; what it did is seen at the API. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, keyOf, logInAs, person } from '@svc/test/page/callers';

describe('the panel of agents', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  before(async () => {
    kernel = await bootTestKernel();
  });
  after(stopTestKernels);

  const made = async (manifest: object): Promise<string> => (await kernel.http.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;
  const shown = async (id: string) => (await kernel.http.expect(200, 'GET', `/api/agents/${id}`)).body;
  const open = async (at = 'agents'): Promise<Page> => (await chromium.open(`${kernel.url}/#/${at}`)).page;
  const beside = async (page: Page, at: string): Promise<Page> => {
    const other = await page.context().newPage();
    await other.goto(`${kernel.url}/#/${at}`);
    return other;
  };
  const save = async (page: Page, timeout = 30_000): Promise<void> => {
    await page.getByRole('button', { name: 'Review changes' }).click({ timeout });
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click({ timeout });
  };

  /** The page hears of the other's change by itself, before it saves or while it does, or else by the answer: both end in the conflict. */
  const saveInVain = async (page: Page): Promise<void> => {
    await save(page, 1_000).catch(() => undefined);
    await page.getByText('Changed by someone else').waitFor();
  };

  it('lists agents, finds them by their words, and leads to each and to a talk with it', async () => {
    const id = await made({ name: 'owl', description: 'Reads at night', tags: ['paper'] });
    const sleeper = await made({ name: 'sleeper', enabled: false });
    await made({ name: '<b>bold</b>', description: 'x'.repeat(500) });
    const page = await open();
    await page.getByRole('link', { name: '<b>bold</b>', exact: true }).waitFor();
    await expectWellMade(page, 'agents list');

    await page.getByRole('searchbox').fill('paper');
    await page.getByText('1 of 4 agents').waitFor();
    expect(await page.getByRole('link', { name: 'Chat with owl' }).getAttribute('href')).to.equal(`#/chat/${id}`);
    await page.getByRole('searchbox').fill('nothing is called that');
    await page.getByRole('heading', { name: 'No matching agents' }).waitFor();
    await expectWellMade(page, 'agents nobody');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('State').selectOption('Suspended');
    await page.getByRole('link', { name: 'sleeper', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'sleeper' }).waitFor();
    expect(page.url()).to.contain(sleeper);
  });

  it('makes an agent from a template, with what it may do told before', async () => {
    const page = await open('agents/new');
    await page.getByRole('searchbox').fill('researcher');
    await expectWellMade(page, 'agents templates');
    await page.getByRole('link', { name: /^researcher/ }).click();
    await page.getByText('Can open web addresses: all.').waitFor();
    await expectWellMade(page, 'agents from template');
    await page.getByRole('textbox', { name: 'Name' }).fill('librarian');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'librarian' }).waitFor();
    const { items } = (await kernel.http.expect(200, 'GET', '/api/agents?q=librarian')).body;
    expect((await shown(items[0].id)).capabilities.network).to.deep.equal(['*']);
  });

  it('makes an agent by a form, with just the permissions that were switched on', async () => {
    const page = await open('agents/new?by=form');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByText('Enter a name.').first().waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('reader');
    await page.getByRole('textbox', { name: 'Instructions' }).fill('You read.');
    await page.getByRole('switch', { name: 'Use files in its own folder' }).uncheck();
    await page.getByRole('switch', { name: 'Open web addresses' }).check();
    await page.getByRole('textbox', { name: 'Sites, one per line' }).fill('*.example.org\nexample.com');
    await page.getByLabel('Tools', { exact: true }).selectOption('Only the tools selected below');
    await page.getByRole('checkbox', { name: /^web_fetch / }).check();
    await expectWellMade(page, 'agents form');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'reader' }).waitFor();
    const { items } = (await kernel.http.expect(200, 'GET', '/api/agents?q=reader')).body;
    const { capabilities, system_prompt } = await shown(items[0].id);
    expect([system_prompt, capabilities.network, capabilities.file_system, capabilities.tools, capabilities.shell]).to.deep.equal([
      'You read.',
      ['*.example.org', 'example.com'],
      false,
      ['web_fetch'],
      [],
    ]);
  });

  it('tells what is wrong with a manifest, by its line, before it is saved; saves what is right after showing the difference', async () => {
    const id = await made({ name: 'hooter', model: { temperature: 0.1 } });
    const page = await open(`agents/${id}?view=text`);
    const text = page.getByRole('textbox', { name: 'Manifest' });
    await text.fill('name = "hooter"\n\n[model]\ntemprature = 0.2\n');
    await page.getByText('model.temprature is not a key of agent.toml').waitFor();
    await expectWellMade(page, 'agents text wrong');
    expect(await page.getByRole('button', { name: 'Review changes' }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Line 4' }).click();
    expect(await text.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd))).to.equal('temprature = 0.2');

    await text.fill('name = "hooter"\ndescription = "Hoots."\n');
    await page.getByText('The manifest is valid.').waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('region', { name: 'Diff' }).getByText('description = "Hoots."').waitFor();
    await expectWellMade(page, 'agents review');
    expect((await shown(id)).revision).to.equal(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('hooter was saved.').waitFor();
    expect(await shown(id)).to.include({ description: 'Hoots.', revision: 1 });
  });

  it('sends what was touched in the form, and keeps what was typed while somebody looks elsewhere', async () => {
    const id = await made({ name: 'screecher', description: 'Old.', tags: ['kept'] });
    const page = await open(`agents/${id}?view=settings`);
    await page.getByRole('textbox', { name: 'Description' }).fill('New.');
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Details' }).waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).to.equal('New.');
    await save(page);
    await page.getByText('screecher was saved.').waitFor();
    expect(await shown(id)).to.deep.include({ description: 'New.', tags: ['kept'], name: 'screecher' });
    await expectWellMade(page, 'agents settings');
  });

  it('tells the second of two who edit one agent, shows what was changed, and loses neither', async () => {
    const id = await made({ name: 'barny', description: 'Old.', model: { system_prompt: 'Hoot.' } });
    const one = await open(`agents/${id}?view=settings`);
    const two = await beside(one, `agents/${id}?view=settings`);
    await two.getByRole('textbox', { name: 'Instructions' }).fill('Hoot twice.');
    await one.getByRole('textbox', { name: 'Description' }).fill('Of the first.');
    await save(one);
    await one.getByText('barny was saved.').waitFor();

    await saveInVain(two);
    await two.getByRole('region', { name: 'Their changes' }).getByText('Description: Of the first.').waitFor();
    await expectWellMade(two, 'agents conflict');
    expect(await shown(id)).to.include({ description: 'Of the first.', system_prompt: 'Hoot.' });
    await two.getByRole('button', { name: 'Keep mine and merge' }).click();
    await save(two);
    await two.getByText('barny was saved.').waitFor();
    expect(await shown(id)).to.include({ description: 'Of the first.', system_prompt: 'Hoot twice.', revision: 2 });
  });

  it('edits who an agent is in its identity files, and tells of a change made meanwhile', async () => {
    const id = await made({ name: 'snowy' });
    const page = await open(`agents/${id}?view=identity`);
    await page.getByText('This file does not exist yet').waitFor();
    await page.getByRole('textbox', { name: /SOUL/ }).fill('Calm.');
    await save(page);
    await page.getByText('SOUL.md was saved and applies').waitFor();
    const path = `/api/agents/${id}/files/.identity%2FSOUL.md`;
    expect((await kernel.http.expect(200, 'GET', path)).body.content).to.equal('Calm.');
    await expectWellMade(page, 'agents identity');

    await page.getByRole('textbox', { name: /SOUL/ }).fill('Calm, and kind.');
    await kernel.http.expect(200, 'PUT', path, { content: 'Wild.' });
    await saveInVain(page);
    expect((await kernel.http.expect(200, 'GET', path)).body.content).to.equal('Wild.');
    await page.getByRole('button', { name: 'Discard mine' }).click();
    expect(await page.getByRole('textbox', { name: /SOUL/ }).inputValue()).to.equal('Wild.');
  });

  it('shows one agent, sets its mode, lets it rest, clones it, and kills it only when that was confirmed', async () => {
    const id = await made({ name: 'tawny', description: 'Reads.', model: { system_prompt: 'You read.' }, capabilities: { shell: ['git *'] } });
    const page = await open(`agents/${id}`);
    await page.getByText('Can run programs on this computer: git *.').waitFor();
    await expectWellMade(page, 'agents one');
    expect(await page.locator('main').getByRole('link', { name: 'Chat', exact: true }).getAttribute('href')).to.equal(`#/chat/${id}`);
    await page.getByRole('combobox', { name: 'Mode' }).selectOption('Observe');
    await page.getByRole('button', { name: 'Set this mode' }).click();
    await page.getByText('The mode of tawny is now Observe.').waitFor();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await shown(id)).to.include({ mode: 'observe', state: 'Suspended' });

    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Clone' }).click();
    await page.getByRole('textbox', { name: 'Clone name' }).fill('owlet');
    await page.getByRole('button', { name: 'Clone', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'owlet' }).waitFor();

    for (const answer of ['Cancel', 'Delete owlet']) {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByText('goes into the bin').waitFor();
      await page.getByRole('button', { name: answer }).click();
      expect((await kernel.http.expect(200, 'GET', '/api/agents?q=owlet')).body.total).to.be.within(answer === 'Cancel' ? 1 : 0, 1);
    }
    await page.getByText('owlet was deleted.').waitFor();
    expect((await kernel.http.expect(200, 'GET', '/api/agents?q=owlet')).body.total).to.equal(0);
    await page.goto(`${kernel.url}/#/agents/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('heading', { name: 'Agent not found' }).waitFor();
    await expectWellMade(page, 'agents gone');
  });

  it('says so where templates or files are switched off', async () => {
    const id = await made({ name: 'pygmy' });
    for (const area of ['templates', 'files']) await kernel.http.expect(200, 'POST', `/api/extensions/${area}/disable`);
    const page = await open('agents/new');
    await page.getByText('Templates cannot be loaded').waitFor();
    await page.goto(`${kernel.url}/#/agents/${id}?view=identity`);
    await page.getByText('Agent files cannot be read').waitFor();
    await expectWellMade(page, 'agents without files');
    for (const area of ['templates', 'files']) await kernel.http.expect(200, 'POST', `/api/extensions/${area}/enable`);
  });

  it('shows everything to who may only look, and changes nothing', async () => {
    // Without a browser it is skipped here, before anybody needs a key.
    chromium.browser();
    await configure(kernel, OPEN_RATE + person('vera', 'user'));
    const { agent_id: id } = (await kernel.as(keyOf('vera')).expect(201, 'POST', '/api/agents', { manifest: { name: 'eagle' } })).body;
    await configure(kernel, OPEN_RATE + person('vera', 'viewer'));
    const page = await open();
    await logInAs(page, 'vera');
    const button = page.getByRole('button', { name: 'New agent' });
    expect([await button.isDisabled(), await button.getAttribute('title')]).to.deep.equal([true, 'Your role (viewer) does not allow this.']);
    await page.getByRole('link', { name: 'eagle', exact: true }).click();
    for (const name of ['Chat', 'Suspend']) expect(await page.getByRole('button', { name }).isDisabled(), name).to.equal(true);
    await page.getByRole('tab', { name: 'Settings' }).click();
    expect(await page.getByRole('textbox', { name: 'Name' }).isDisabled()).to.equal(true);
    await expectWellMade(page, 'agents settings of a viewer');
    await page.goto(`${kernel.url}/#/agents/${id}?view=text`);
    expect(await page.getByRole('textbox', { name: 'Manifest' }).isEditable()).to.equal(false);
    await page.goto(`${kernel.url}/#/agents/new?by=form`);
    expect(await page.getByRole('button', { name: 'Create agent' }).isDisabled()).to.equal(true);
    await configure(kernel);
  });

  it('keeps a list of 500 short in the document, and scrolls to its end', async () => {
    for (let from = 0; from < 500; from += 50) {
      const agents = Array.from({ length: 50 }, (_, index) => ({ manifest_toml: `name = "a${String(from + index).padStart(3, '0')}"\n` }));
      await kernel.http.expect(200, 'POST', '/api/agents/bulk', { agents });
    }
    const page = await open();
    await page.getByText('the first 500 by name are shown').waitFor();
    expect(await page.getByRole('listitem').count()).to.be.below(120);
    await page.locator('.long-list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByRole('link', { name: 'a498', exact: true }).waitFor();
    await page.getByRole('searchbox').fill('sleeper');
    await page.getByRole('link', { name: 'sleeper', exact: true }).waitFor();
  });
});
