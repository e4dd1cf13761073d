/**
 * A person who never saw a terminal sets up a provider, gets an answer, makes an agent, attaches a file, stops an answer and edits a
 * message: once by keys alone, once by a finger on a phone. With PAGE_RECORDING=folder each step is kept there as a picture.
 */
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, settled, useBrowser } from './browser.js';
import { firstVisit, KEY } from './first-visit.js';
import { fingerOf, keyboardOf } from './hands.js';

const TABLE = '| item | price |\n|---|--:|\n| eggs | 3.20 |\n| milk | 1.10 |';

describe('without a mouse', function () {
  this.timeout(180_000);
  const chromium = useBrowser();
  let provider: ProviderServer;

  before(async () => {
    provider = await startOpenAiServer((request) => {
      const said = JSON.stringify(request.body?.messages?.findLast(({ role }: { role: string }) => role === 'user') ?? '');
      if (JSON.stringify(request.body).includes('You name conversations.')) return { text: said.includes('list') ? 'A shopping list' : 'Who answers' };
      if (said.includes('long story')) return { deltas: Array.from({ length: 400 }, () => 'and then '), eventDelayMs: 50 };
      if (said.includes('short story')) return { text: 'Once upon a time. The end.' };
      return { text: said.includes('my list') ? TABLE : 'Hello, I am a model.' };
    });
  });
  afterEach(stopTestKernels);
  after(() => provider.close());

  const recorder = (page: Page, name: string): ((what: string) => Promise<void>) => {
    let step = 0;
    return async (what) => {
      step += 1;
      const folder = process.env.PAGE_RECORDING;
      if (folder) await page.screenshot({ path: `${folder}/${name}-${String(step).padStart(2, '0')}-${what.replaceAll(/\W+/g, '-')}.png` });
    };
  };

  it('a person does all of it with keys, and always sees where they are', async () => {
    const kernel = await bootTestKernel();
    const { page, mistakes } = await chromium.open(kernel.url);
    await firstVisit(page, keyboardOf(page), provider.url, recorder(page, 'keyboard'));
    expect(mistakes).to.deep.equal([]);
    expect(provider.requests.filter(({ path }) => path.endsWith('/chat/completions')).every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).to.equal(true);
  });

  it('a person who deletes what has the focus goes on beside it, and one who opens another view goes on in it', async () => {
    const kernel = await bootTestKernel();
    const agentId = (await kernel.http.expect(200, 'GET', '/api/agents')).body.items[0].id;
    for (const label of ['Rivers', 'Lakes', 'Seas']) {
      const { session_id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, { activate: false, label })).body;
      await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: label, session_id });
    }
    const { page } = await chromium.open(`${kernel.url}/#/chat/${agentId}/new`);
    const hand = keyboardOf(page);
    const focused = page.locator(':focus');
    await page.getByRole('link', { name: /^Lakes/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await hand.press(page.getByRole('dialog').getByRole('button', { name: /^Delete/ }));
    await page.getByRole('link', { name: /^Lakes/ }).waitFor({ state: 'detached' });
    await page.getByRole('list', { name: 'Conversations' }).locator(focused).waitFor();
    expect(await focused.innerText()).to.match(/^Rivers/);

    await page.goto(`${kernel.url}/#/agents`);
    await hand.press(page.getByRole('link', { name: 'assistant', exact: true }));
    await page.getByRole('heading', { level: 1, name: 'assistant' }).waitFor();
    expect(await focused.getAttribute('id')).to.equal('content');
    await page.keyboard.press('Tab');
    expect(await focused.getAttribute('aria-label')).to.equal('All agents');
  });

  it('a person does all of it with a finger on a phone, and nothing is too small or out of reach', async () => {
    const kernel = await bootTestKernel();
    const { page, mistakes } = await chromium.open(kernel.url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const record = recorder(page, 'touch');
    await firstVisit(page, fingerOf(page), provider.url, async (what) => {
      await settled(page);
      expect(await axeFindings(page, { rules: ['target-size'] }), what).to.deep.equal([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), what).to.equal(true);
      await record(what);
    });
    expect(mistakes).to.deep.equal([]);
  });
});
