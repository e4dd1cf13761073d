/** Conversations in bad weather: a browser that keeps nothing more, a model that hardly speaks, a daemon that begins anew. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { startRoughLine } from '../../../kernel/client/test/rough-line.js';
import { modelConfig } from '@svc/test/clients/model-kernel';
import { picture, useBrowser } from '@svc/test/page/browser';

/** Between two words of the slow model. */
const WORD_MS = 1_500;
const STEADY_WORD_MS = 300;
const WORDS = ['Far', ' away', ' there', ' was', ' a', ' very', ' slow', ' model.'];

describe('conversations in bad weather', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: ProviderServer;
  let home: string;
  before(async () => {
    model = await startOpenAiServer(({ body }) => {
      const how = /say it (\w+)\W*$/.exec(JSON.stringify(body?.messages?.at(-1)?.content))?.[1];
      const pause = how === 'slowly' ? WORD_MS : how === 'steadily' ? STEADY_WORD_MS : undefined;
      return pause === undefined ? { text: 'Here I am.' } : { deltas: WORDS, eventDelayMs: pause };
    });
  });
  after(() => model?.close());
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-rough-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = (): Promise<TestKernel> => bootTestKernel({ home, config: `${OPEN_RATE}${modelConfig(model.url)}`, env: { OPENAI_API_KEY: 'sk-test' } });
  const composer = (page: Page) => page.getByRole('textbox', { name: /^Message to/ });
  const say = async (page: Page, text: string): Promise<void> => {
    await composer(page).fill(text);
    await composer(page).press('Enter');
  };

  it('says so when the browser has no room for what is typed, keeps it on the screen, and sends it', async () => {
    const { url } = await boot();
    const { page, mistakes } = await chromium.open(url);
    await composer(page).waitFor();
    await page.evaluate(() => {
      // Down to the last byte.
      for (let size = 1 << 22, index = 0; size >= 1; index += 1) {
        try {
          localStorage.setItem(`ballast ${index}`, 'x'.repeat(size));
        } catch {
          size = Math.floor(size / 2);
        }
      }
    });
    await composer(page).fill('no room for this');
    await page.getByText('This browser has no storage left', { exact: false }).waitFor();
    expect(await composer(page).inputValue()).to.equal('no room for this');
    // What else is kept in a browser is done without.
    await page.getByRole('button', { name: 'Theme', exact: true }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).to.equal('dark');
    await composer(page).press('Enter');
    await page.getByText('Here I am.').waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('works where a browser keeps nothing at all', async () => {
    const { url } = await boot();
    const { page, mistakes } = await chromium.open('about:blank', {});
    await page.addInitScript(() => {
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        },
      });
    });
    await page.goto(url);
    await say(page, 'hello');
    await page.getByText('Here I am.').waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('shows that an answer goes on while its model says a word now and then, and stops it between two', async () => {
    const { url } = await boot();
    const { page } = await chromium.open(url);
    await say(page, 'say it slowly');
    const answer = page.locator('.answered').last();
    await answer.getByText('Far away', { exact: true }).waitFor();
    // It is written on, and nobody thinks it was over.
    expect(await answer.getByRole('status').innerText()).to.contain('Writing');
    expect(await answer.locator('.figures').count()).to.equal(0);
    await answer.getByText('Far away there', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    expect(await answer.innerText()).not.to.contain('model.');
    await page.reload();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    expect(await answer.innerText()).to.match(/Far away there/);
    expect(await page.locator('.turn.note').count(), 'the daemon repeats nothing').to.equal(0);
    await say(page, 'and now?');
    await page.getByText('Here I am.').waitFor();
  });

  it('goes on when the daemon was begun anew under it: what is typed stays, and what is asked is answered', async () => {
    const line = await startRoughLine();
    try {
      const first = await boot();
      line.leadTo(first.url);
      const { page } = await chromium.open(line.url);
      await say(page, 'before');
      await page.getByText('Here I am.').waitFor();
      await composer(page).fill('typed while nobody was there');
      line.leadTo(undefined);
      line.cut();
      await first.stop();
      await page.getByText('No connection to the daemon').waitFor();
      line.leadTo((await boot()).url);
      await page.getByText('No connection to the daemon').waitFor({ state: 'detached' });
      expect(await composer(page).inputValue()).to.equal('typed while nobody was there');
      await composer(page).press('Enter');
      await page.getByText('Here I am.').nth(1).waitFor();
      expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['before', 'typed while nobody was there']);
    } finally {
      await line.close();
    }
  });

  it('shows the whole answer of a run in the middle of which the daemon was begun anew', async () => {
    const line = await startRoughLine();
    try {
      const first = await boot();
      line.leadTo(first.url);
      const { page } = await chromium.open(line.url);
      await say(page, 'say it steadily');
      await page.getByText('Far away', { exact: false }).last().waitFor();
      line.leadTo(undefined);
      line.cut();
      await first.stop();
      line.leadTo((await boot()).url);
      await page.getByText(WORDS.join(''), { exact: true }).waitFor();
      expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['say it steadily']);
    } finally {
      await line.close();
    }
  });

  it('has what was said while a phone slept as soon as it wakes, though its line was cut without a word', async () => {
    const { http, url } = await boot();
    const line = await startRoughLine(url);
    try {
      const { page } = await chromium.open(line.url);
      await say(page, 'before');
      await page.getByText('Here I am.').waitFor();
      await page.getByText('Connected', { exact: true }).waitFor();
      const [, , agent, session] = new URL(page.url()).hash.split('/');
      // A frozen page hears nothing, and a line that was cut during that is not told.
      const debug = await page.context().newCDPSession(page);
      await debug.send('Page.setWebLifecycleState', { state: 'frozen' });
      line.mute(true);
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'said meanwhile', session_id: session });
      line.cut();
      line.mute(false);
      await debug.send('Page.setWebLifecycleState', { state: 'active' });
      await page.locator('.bubble').getByText('said meanwhile').waitFor();
      await page.getByText('Here I am.').nth(1).waitFor();
    } finally {
      await line.close();
    }
  });

  it('keeps what was read and what was typed without a network: what cannot be sent comes back into the field', async () => {
    const { url } = await boot();
    const line = await startRoughLine(url);
    try {
      const { page } = await chromium.open(line.url);
      await say(page, 'before');
      await page.getByText('Here I am.').waitFor();
      line.leadTo(undefined);
      line.cut();
      await page.getByText('No connection to the daemon').waitFor();
      await say(page, 'typed offline');
      await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.composer textarea')?.value === 'typed offline');
      await picture(page, 'offline');
      expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['before']);
      await page.getByText('Here I am.').waitFor();
      line.leadTo(url);
      await page.evaluate(() => dispatchEvent(new Event('online')));
      await page.getByText('No connection to the daemon').waitFor({ state: 'detached' });
      await composer(page).press('Enter');
      await page.getByText('Here I am.').nth(1).waitFor();
      expect(await page.locator('.bubble').allInnerTexts()).to.deep.equal(['before', 'typed offline']);
    } finally {
      await line.close();
    }
  });

  it('stays usable where the models cannot be listed', async () => {
    const { url } = await boot();
    const { page } = await chromium.open('about:blank');
    await page.route('**/api/models*', (route) => route.abort());
    await page.goto(url);
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await say(page, 'hello');
    await page.getByText('Here I am.').waitFor();
  });
});
