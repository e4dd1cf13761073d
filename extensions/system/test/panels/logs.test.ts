/** The panel that shows the daemon's log. */
import { readFile } from 'node:fs/promises';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, logInAs, person } from '@svc/test/page/callers';

describe('the log panel', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  before(async () => {
    kernel = await bootTestKernel();
  });
  after(stopTestKernels);

  /** What one claim wrote is there for the next: each has words or an area of its own. */
  const say = (level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown> = {}, area = 'garden') => kernel.daemon.parts.log.logger(area)[level](message, fields);
  const open = async (query = '') => {
    const visit = await chromium.open(`${kernel.url}/#/logs${query}`);
    await visit.page.getByText('Live').waitFor();
    return visit;
  };
  const line = (page: Page, message: string) => page.getByRole('list', { name: 'Log lines' }).getByRole('button').filter({ hasText: message });

  it('shows what was written and what is written now, and unfolds a line', async () => {
    say('warn', 'the <b>pump</b> stands still', { valve: '<img src=x onerror=alert(1)>', deep: { er: [1, 2] } });
    const { page, mistakes } = await open();
    await line(page, 'the <b>pump</b> stands still').waitFor();
    say('error', 'it rains');
    await line(page, 'it rains').waitFor();
    await expectWellMade(page, 'logs');
    await line(page, 'the <b>pump</b> stands still').click();
    const entry = page.getByRole('region', { name: 'Log line' });
    await entry.getByText('<img src=x onerror=alert(1)>').waitFor();
    await entry.getByText('"er"').waitFor();
    await expectWellMade(page, 'logs, one line');
    await page.keyboard.press('ArrowDown');
    await entry.getByText('it rains').waitFor();
    await page.keyboard.press('Escape');
    await entry.waitFor({ state: 'detached' });
    expect(mistakes).to.deep.equal([]);
  });

  it('takes levels, areas and words, and keeps them in the address', async () => {
    say('info', 'green door', { colour: 'teal' });
    say('error', 'red door');
    say('error', 'red window', {}, 'cellar');
    const { page } = await open();
    await line(page, 'green door').waitFor();
    await page.getByLabel('Level').selectOption('error');
    await line(page, 'green door').waitFor({ state: 'detached' });
    await page.getByLabel('Area', { exact: true }).selectOption('cellar');
    await line(page, 'red door').waitFor({ state: 'detached' });
    await line(page, 'red window').waitFor();
    await page.reload();
    await line(page, 'red window').waitFor();
    expect(await line(page, 'red door').count()).to.equal(0);
    await page.getByRole('searchbox').fill('no such words');
    await page.getByText('No matching lines.').waitFor();
    await expectWellMade(page, 'logs, nothing found');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('searchbox').fill('DOOR teal');
    await line(page, 'green door').waitFor();
    expect(await line(page, 'red').count()).to.equal(0);
    await page.getByLabel('Level').selectOption('error');
    await page.getByText('No matching lines.').waitFor();
  });

  it('stands still while it is paused, and while one reads further up', async () => {
    for (let n = 0; n < 200; n++) say('info', `old ${n}.`, {}, 'attic');
    const { page } = await open('?area=attic');
    await line(page, 'old 199.').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    say('info', 'new one', {}, 'attic');
    await page.getByRole('button', { name: '1 new line' }).waitFor();
    expect(await line(page, 'new one').count()).to.equal(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await line(page, 'new one').waitFor();

    await line(page, 'new one').hover();
    await page.mouse.wheel(0, -1_500);
    await line(page, 'new one').waitFor({ state: 'detached' });
    const seen = await page.evaluate(() => document.querySelector('.long-list')?.scrollTop);
    for (let n = 0; n < 50; n++) say('info', `later ${n}.`, {}, 'attic');
    await page.getByText(/^251 of \d+ lines/).waitFor();
    expect(await page.evaluate(() => document.querySelector('.long-list')?.scrollTop)).to.equal(seen);
    await page.getByRole('button', { name: 'Jump to newest' }).click();
    await line(page, 'later 49.').waitFor();
  });

  it('gives what is shown as a file', async () => {
    say('error', 'red door', { key: 'two words' }, 'orchard');
    const { page } = await open('?area=orchard');
    await line(page, 'red door').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download visible lines' }).click()]);
    expect(file.suggestedFilename()).to.match(/^svc-.*\.log$/);
    expect(await readFile(await file.path(), 'utf8')).to.match(/^\S+ error orchard red door key="two words"\n$/);
  });

  it('says why when nothing can be read, and reads when that is fixed', async () => {
    const { page } = await chromium.open(kernel.url);
    await page.route('**/api/logs/stream*', (route) => route.abort());
    await page.goto(`${kernel.url}/#/logs`);
    await page.getByRole('alert').getByText('Could not load.').waitFor();
    await expectWellMade(page, 'logs, not to be read');
    await page.unroute('**/api/logs/stream*');
    say('info', 'meanwhile');
    await page.getByRole('button', { name: 'Try again' }).click();
    await line(page, 'meanwhile').waitFor();
  });

  it('goes on over a reload of its area, with no line twice', async () => {
    const { page } = await open();
    say('info', 'before');
    await line(page, 'before').waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/system/reload');
    say('info', 'after');
    await line(page, 'after').waitFor();
    expect(await line(page, 'before').count()).to.equal(1);
  });

  it('keeps the newest lines alone, and few of them in the document', async () => {
    const { page } = await open();
    // What waits to be sent is bounded, too.
    for (let part = 0; part < 8; part++) {
      for (let n = 0; n < 750; n++) say('info', `line ${part * 750 + n}.`);
      await line(page, `line ${part * 750 + 749}.`).waitFor();
    }
    await page.getByText('5000 of 5000 lines').waitFor();
    await page.getByText(/The newest 5000 lines are shown/).waitFor();
    expect(await page.locator('.log-line').count()).to.be.lessThan(120);
  });

  it('is offered to owners and admins alone', async () => {
    await configure(kernel, `${OPEN_RATE}${person('vera', 'user')}`);
    const { page } = await chromium.open(`${kernel.url}/#/logs`);
    await logInAs(page, 'vera');
    await page.getByText('Panel not available').waitFor();
    expect(await page.getByRole('link', { name: 'Log', exact: true }).count()).to.equal(0);
    await configure(kernel);
  });
});
