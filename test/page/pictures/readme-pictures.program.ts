/**
 * Photographs the views of the page in both themes for the README of extensions/webchat, and writes the table that shows them:
 * `node dist/test/test/page/pictures/readme-pictures.program.js`. CHROMIUM=path chooses the browser.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { startInhabited } from './inhabited.js';
import { VIEWS } from './views.js';

const FOLDER = 'extensions/webchat/pictures';
const README = 'extensions/webchat/README.md';
const THEMES = ['light', 'dark'] as const;
const QUALITY = 82;
const CHROMIUM = process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? 'chromium';

/** As WebP, which playwright itself does not write: a tenth of a PNG. */
const photograph = async (page: Page, file: string): Promise<number> => {
  const debug = await page.context().newCDPSession(page);
  const { data } = await debug.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await debug.detach();
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(file, bytes);
  return bytes.length;
};

const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.querySelector('main .loading') === null && document.getAnimations().every(({ effect }) => effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY));

const table = (): string =>
  ['| view | light | dark |', '|---|---|---|', ...VIEWS.map(({ name, title }) => `| ${title} | ${THEMES.map((theme) => `![${title}, ${theme}](pictures/${name}-${theme}.webp)`).join(' | ')} |`)].join(
    '\n',
  );

const world = await startInhabited();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  mkdirSync(FOLDER, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' });
  let total = 0;
  for (const { name, place, drawn } of VIEWS) {
    await page.goto('about:blank');
    await page.goto(`${world.kernel.url}/#/${place(world)}`);
    await drawn(page);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await drawn(page);
      await settled(page);
      total += await photograph(page, join(FOLDER, `${name}-${theme}.webp`));
    }
  }
  writeFileSync(
    README,
    readFileSync(README, 'utf8').replace(/(<!-- pictures -->\n)[\s\S]*?(\n<!-- end of pictures -->)/, (_, before: string, after: string) => `${before}${table()}${after}`),
  );
  console.log(`${VIEWS.length * THEMES.length} pictures, ${Math.round(total / 1_000)} kB`);
} finally {
  await browser.close();
  await world.close();
}
