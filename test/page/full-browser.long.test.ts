/** The page in the whole browser that people have: the other tests use its headless shell where that is installed. */
import { existsSync } from 'node:fs';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type Browser, chromium } from 'playwright-core';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { modelConfig } from '@svc/test/clients/model-kernel';
import { expectWellMade, LAUNCH } from './browser.js';

const WHOLE = '/usr/bin/chromium';

describe('the page in a whole Chromium', function () {
  this.timeout(90_000);
  let browser: Browser;
  before(async function () {
    if (!existsSync(WHOLE)) {
      Object.assign(this.test?.parent ?? {}, { skipReason: `no Chromium at ${WHOLE}; install it` });
      return this.skip();
    }
    browser = await chromium.launch({ ...LAUNCH, executablePath: WHOLE });
  });
  after(() => browser?.close());

  it('takes a message, shows the answer, keeps both over a reload, and breaks no rule', async () => {
    const model = await startOpenAiServer(() => ({ text: 'Here **I** am.' }));
    try {
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}${modelConfig(model.url)}`, env: { OPENAI_API_KEY: 'sk-test' } });
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce' });
      const mistakes: string[] = [];
      page.on('pageerror', (error) => mistakes.push(error.message));
      page.on('console', (message) => message.type() === 'error' && mistakes.push(message.text()));
      await page.goto(kernel.url);
      const composer = page.getByRole('textbox', { name: /^Message to/ });
      await composer.fill('Where are you?');
      await composer.press('Enter');
      await page.locator('.answered .figures').waitFor();
      await page.reload();
      await page.locator('.answered strong').getByText('I', { exact: true }).waitFor();
      await expectWellMade(page, 'a conversation in a whole browser');
      await page.evaluate(() => {
        location.hash = '#/models';
      });
      await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
      expect(mistakes).to.deep.equal([]);
    } finally {
      await stopTestKernels();
      await model.close();
    }
  });
});
