/** A page in a browser, as a measurement opens it. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const launchBrowser = () => {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no Chromium at ${CHROMIUM}`);
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
};

/** `debug` is its session of the developer tools. */
export const visit = async (browser, { slower = 1 } = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const debug = await context.newCDPSession(page);
  if (slower > 1) await debug.send('Emulation.setCPUThrottlingRate', { rate: slower });
  return { page, debug, close: () => context.close() };
};
