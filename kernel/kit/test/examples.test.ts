/**
 * The rules of the design (../DESIGN.md), held to on the page of examples. With PAGE_PICTURES=folder it is photographed at each width in
 * both themes. What is compared is not pixels, which differ with fonts and builds of a browser, but what the browser computes: look.json,
 * written anew with RECORD_LOOK=1.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { bootTestKernel, fixtureArea, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { axeFindings, clippedText, cutOff, settled, useBrowser } from '@svc/test/page/browser';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { paintOf, sizesOf } from './look.js';

const WIDTHS = [1280, 1920, 768, 360];
const THEMES = ['light', 'dark'] as const;
const RECORD = 'kernel/kit/test/look.json';
const PANELS = 'fixtures/areas/examples/panels';
const COMPONENTS = 'kernel/kit/src/components/index.ts';
/** The page has one of each; the examples call what shows it. */
const SHOWN_BY: Readonly<Record<string, string>> = { Notices: 'notify(', Questions: 'confirmed(' };

describe('the examples of the kit', function () {
  this.timeout(120_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let page: Page;
  let mistakes: readonly string[];

  before(async () => {
    const { installed } = await fixtureArea('examples');
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["examples"]\n`, extra: [installed] });
  });
  after(() => stopTestKernels());
  beforeEach(async () => {
    ({ page, mistakes } = await chromium.open(`${kernel.url}/#/examples`));
    await page.getByRole('heading', { level: 1, name: 'Examples' }).waitFor();
    await page.locator('.chart-plot canvas').waitFor();
    await page.getByText('Line 1 of 2,000').waitFor();
  });

  const photographed = async (name: string): Promise<void> => {
    const folder = process.env.PAGE_PICTURES;
    if (!folder) return;
    // What scrolls inside the window is drawn whole in a window as high as it is.
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
    const whole = await page.evaluate(() => (document.querySelector('main')?.scrollHeight ?? 0) + innerHeight - (document.querySelector('main')?.clientHeight ?? 0));
    await page.setViewportSize({ width, height: whole });
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.setViewportSize({ width, height });
  };

  it('show every component', () => {
    const names = [...readFileSync(COMPONENTS, 'utf8').matchAll(/^export \{([^}]*)\}/gm)]
      .flatMap(([, list = '']) => list.split(',').map((one) => one.trim()))
      .filter((name) => /^[A-Z]\w+$/.test(name));
    expect(names).to.include('Button').and.include('Table');
    const sources = readdirSync(PANELS, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.tsx'))
      .map((file) => readFileSync(`${PANELS}/${file}`, 'utf8'))
      .join('\n');
    expect(names.filter((name) => !sources.includes(SHOWN_BY[name] ?? `<${name}`))).to.deep.equal([]);
  });

  it('fit a window of each width in both themes, without text that is cut off, clipped or hard to read', async () => {
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await settled(page);
        const at = `${width} px, ${theme}`;
        expect(await cutOff(page), at).to.deep.equal([]);
        expect(await clippedText(page), at).to.deep.equal([]);
        // In between nothing has another colour.
        if (width === 1280 || width === 360)
          expect(await axeFindings(page, width === 1280 && theme === 'light' ? {} : { rules: ['color-contrast', 'link-in-text-block', 'target-size'] }), at).to.deep.equal([]);
        await photographed(`examples-${width}-${theme}`);
      }
    }
    expect(mistakes).to.deep.equal([]);
    // The look itself sees what is wrong.
    await page.getByRole('button', { name: 'Create agent' }).evaluate((element) => Object.assign(element.style, { width: '4rem', whiteSpace: 'nowrap' }));
    expect((await clippedText(page)).join()).to.contain('Create agent');
  });

  it('have the sizes and colours that are recorded', async () => {
    const look: Record<string, unknown> = {};
    look['sizes at 1280 px'] = await sizesOf(page);
    await page.setViewportSize({ width: 360, height: 800 });
    look['sizes at 360 px'] = await sizesOf(page);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await settled(page);
      look[`colours, ${theme}`] = await paintOf(page);
    }
    if (process.env.RECORD_LOOK) writeFileSync(RECORD, `${JSON.stringify(look, undefined, 2)}\n`);
    expect(look, 'a change that is meant is recorded: RECORD_LOOK=1 npm test -- kit').to.deep.equal(JSON.parse(readFileSync(RECORD, 'utf8')));
  });

  it('move only where people want that', async () => {
    const moving = (): Promise<number> =>
      page.evaluate(() => document.getAnimations().filter(({ playState, effect }) => playState === 'running' && Number(effect?.getComputedTiming().endTime) > 1).length);
    const transition = (): Promise<string> => page.evaluate(() => getComputedStyle(document.querySelector('.button') ?? document.body).transitionDuration);
    expect([await moving(), await transition()]).to.deep.equal([0, '0s']);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await moving()).to.be.greaterThan(3);
    expect(await transition()).to.match(/0\.12s/);
  });

  it('open above the page with the focus inside, and give it back when Escape closes them', async () => {
    const focused = (): Promise<string> => page.evaluate(() => (document.activeElement as HTMLElement).innerText);
    for (const name of ['Open a dialog', 'Open a form', 'Open a form from a schema', 'Open a review', 'Ask first']) {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      expect(await dialog.evaluate((element) => element.contains(document.activeElement) && !document.activeElement?.closest('.dialog-head')), name).to.equal(true);
      await settled(page);
      expect(await axeFindings(page, { isWhole: false }), name).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await focused()).to.equal(name);
    }
    // A menu has the focus when the next key can come.
    const first = await page.getByRole('button', { name: 'Actions' }).evaluate(async (element) => {
      (element as HTMLElement).click();
      for (let turns = 0; turns < 5; turns++) await Promise.resolve();
      return document.activeElement?.textContent;
    });
    expect(first).to.equal('Rename');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions' }).focus();
    await page.keyboard.press('Enter');
    const inMenu = (name: string) => page.getByRole('menuitem', { name }).and(page.locator(':focus'));
    await inMenu('Rename').waitFor();
    await page.keyboard.press('ArrowDown');
    await inMenu('Delete').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Actions' }).evaluate((element) => element === document.activeElement)).to.equal(true);
  });

  it('say in passing what went well, and keep a failure until it is dismissed', async () => {
    const notices = page.getByRole('region', { name: 'Notifications' });
    for (const [button, role] of [
      ['Show a notice', 'status'],
      ['Show a failure', 'alert'],
    ] as const) {
      await page.getByRole('button', { name: button }).press('Enter');
      await notices.getByRole(role).waitFor();
    }
    await settled(page);
    expect(await axeFindings(page, { rules: ['color-contrast'] })).to.deep.equal([]);
    await notices.getByRole('alert').getByRole('button', { name: 'Dismiss' }).press('Enter');
    await notices.getByRole('alert').waitFor({ state: 'detached' });
  });
});
