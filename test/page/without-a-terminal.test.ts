/**
 * The first hour of a person who never saw a terminal, by the page alone: a model, an agent, a file, a table, a stop, yesterday's
 * conversation, an area off and on. With PAGE_RECORDING=folder the visit is recorded as a trace with pictures.
 */
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { picture, useBrowser } from './browser.js';

const KEY = 'sk-first-hour-0123456789';
const TABLE = '| item | price |\n|---|--:|\n| eggs | 3.20 |\n| milk | 1.10 |';

/** By panel, where it is a tab. */
const HUB_OF: Readonly<Record<string, string>> = { Models: 'Connect', Files: 'Knowledge', Settings: 'System', Extensions: 'System' };

describe('without a terminal', function () {
  this.timeout(180_000);
  const chromium = useBrowser();
  let provider: ProviderServer;
  let kernel: TestKernel;
  let page: Page;

  before(async () => {
    provider = await startOpenAiServer((request) => {
      const said = JSON.stringify(request.body?.messages?.at(-1) ?? '');
      if (said.includes('long story')) return { deltas: Array.from({ length: 400 }, () => 'and then '), eventDelayMs: 50 };
      return { text: said.includes('eggs') ? TABLE : 'Hello, I am a model.' };
    });
  });
  after(async () => {
    await stopTestKernels();
    await provider.close();
  });

  const panel = async (name: string): Promise<void> => {
    const hub = HUB_OF[name];
    await page
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: hub ?? name, exact: true })
      .first()
      .click();
    if (hub !== undefined)
      await page
        .getByRole('navigation', { name: `Tabs of ${hub}` })
        .getByRole('link', { name, exact: true })
        .click();
    await page.getByRole('heading', { level: 1 }).filter({ visible: true }).first().waitFor();
  };
  const composer = () => page.getByRole('textbox', { name: /^Message to/ });

  it('a person sets up a model, makes an agent, gives it a file, reads a table, stops it, finds what was said, and switches an area off and on', async () => {
    kernel = await bootTestKernel();
    ({ page } = await chromium.open(kernel.url));
    const recording = process.env.PAGE_RECORDING;
    if (recording) await page.context().tracing.start({ screenshots: true, snapshots: true });

    // A model: nobody answers yet, and the page says what to do.
    await page.getByRole('heading', { name: 'No model configured' }).waitFor();
    await page.getByRole('link', { name: "Add a provider's API key" }).click();
    const form = page.getByRole('dialog', { name: 'Add an API key' });
    await form.getByLabel('Provider', { exact: true }).selectOption('openai');
    await form.getByRole('textbox', { name: 'API key' }).fill(KEY);
    await form.getByRole('textbox', { name: 'Address (optional)' }).fill(`${provider.url}/v1`);
    await form.getByRole('button', { name: 'Save and test' }).click();
    await form.getByText('OpenAI accepts the key.').waitFor();
    await form.getByText('Default model: gpt-5-mini.').waitFor();
    await picture(page, 'a key that was added');
    await form.getByRole('link', { name: 'Start a conversation' }).click();
    await composer().fill('Who are you?');
    await composer().press('Enter');
    await page.getByText('Hello, I am a model.').waitFor();

    // An agent.
    await panel('Agents');
    await page
      .getByRole('link', { name: 'New agent' })
      .or(page.getByRole('button', { name: 'New agent' }))
      .click();
    await page.getByRole('tab', { name: 'With a form' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('shopper');
    await page.getByRole('textbox', { name: 'Instructions' }).fill('You keep lists.');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'shopper' }).waitFor();

    // A file, by the message it belongs to; and a table of it.
    await page.getByRole('link', { name: /^Chat/ }).first().click();
    await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('eggs,3.20\nmilk,1.10\n') });
    await page.getByText('list.csv').waitFor();
    await composer().fill('Make a table of my list');
    await composer().press('Enter');
    await page.getByRole('cell', { name: '3.20' }).waitFor();

    // It is stopped while it writes.
    await composer().fill('Tell me a long story');
    await composer().press('Enter');
    await page.getByText('and then').first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();

    // What was said is found again.
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByRole('searchbox', { name: 'Search all conversations' }).fill('table of my list');
    await page.getByRole('list', { name: 'Search all conversations' }).getByRole('link').first().click();
    await page.getByRole('cell', { name: '3.20' }).waitFor();

    // An area goes off and comes back.
    await panel('Extensions');
    await page.getByRole('button', { name: 'Switch off templates' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('templates is off.').waitFor();
    await page.getByRole('button', { name: 'Switch on templates' }).click();
    await Promise.race([
      page
        .getByRole('dialog')
        .getByRole('button', { name: 'Switch on' })
        .click()
        .catch(() => undefined),
      page.getByText('templates is on.').waitFor(),
    ]);
    await page.getByText('templates is on.').waitFor();

    if (recording) await page.context().tracing.stop({ path: `${recording}/without-a-terminal.zip` });
    const asked = provider.requests.filter(({ path }) => path.endsWith('/chat/completions'));
    expect(asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).to.equal(true);
  });
});
