/** The panel that shows the daemon's log. */
import { readFile } from 'node:fs/promises';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { logInAs, person } from '@svc/test/page/callers';

describe('the log panel', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  afterEach(stopTestKernels);

  const say = (kernel: TestKernel, level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown> = {}, area = 'garden') =>
    kernel.daemon.parts.log.logger(area)[level](message, fields);
  const open = async (kernel: TestKernel, query = '') => {
    const visit = await chromium.open(`${kernel.url}/#/logs${query}`);
    await visit.page.getByText('Live').waitFor();
    return visit;
  };
  const line = (page: Page, message: string) => page.getByRole('list', { name: 'Log lines' }).getByRole('button').filter({ hasText: message });

  it('shows what was written and what is written now, and unfolds a line', async () => {
    const kernel = await bootTestKernel();
    say(kernel, 'warn', 'the <b>pump</b> stands still', { valve: '<img src=x onerror=alert(1)>', deep: { er: [1, 2] } });
    const { page, mistakes } = await open(kernel);
    await line(page, 'the <b>pump</b> stands still').waitFor();
    say(kernel, 'error', 'it rains');
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
    const kernel = await bootTestKernel();
    say(kernel, 'info', 'green door', { colour: 'teal' });
    say(kernel, 'error', 'red door');
    say(kernel, 'error', 'red window', {}, 'cellar');
    const { page } = await open(kernel);
    await line(page, 'green door').waitFor();
    await page.getByLabel('Level').selectOption('error');
    await line(page, 'green door').waitFor({ state: 'detached' });
    await page.getByLabel('Area').selectOption('cellar');
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
    const kernel = await bootTestKernel();
    for (let n = 0; n < 200; n++) say(kernel, 'info', `old ${n}.`);
    const { page } = await open(kernel);
    await line(page, 'old 199.').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    say(kernel, 'info', 'new one');
    await page.getByRole('button', { name: '1 new line' }).waitFor();
    expect(await line(page, 'new one').count()).to.equal(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await line(page, 'new one').waitFor();

    await line(page, 'new one').hover();
    await page.mouse.wheel(0, -1_500);
    await line(page, 'new one').waitFor({ state: 'detached' });
    const seen = await page.evaluate(() => document.querySelector('.long-list')?.scrollTop);
    for (let n = 0; n < 50; n++) say(kernel, 'info', `later ${n}.`);
    await page.getByText(/^25\d of 25\d lines/).waitFor();
    expect(await page.evaluate(() => document.querySelector('.long-list')?.scrollTop)).to.equal(seen);
    await page.getByRole('button', { name: 'Jump to newest' }).click();
    await line(page, 'later 49.').waitFor();
  });

  it('keeps the newest lines alone, and few of them in the document', async () => {
    const kernel = await bootTestKernel();
    const { page } = await open(kernel);
    for (let part = 0; part < 60; part++) {
      for (let n = 0; n < 100; n++) say(kernel, 'info', `line ${part * 100 + n}.`);
      await line(page, `line ${part * 100 + 99}.`).waitFor();
    }
    await page.getByText('5000 of 5000 lines').waitFor();
    await page.getByText(/The newest 5000 lines are shown/).waitFor();
    expect(await page.locator('.log-line').count()).to.be.lessThan(120);
  });

  it('gives what is shown as a file', async () => {
    const kernel = await bootTestKernel();
    say(kernel, 'error', 'red door', { key: 'two words' });
    const { page } = await open(kernel, '?area=garden');
    await line(page, 'red door').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download visible lines' }).click()]);
    expect(file.suggestedFilename()).to.match(/^svc-.*\.log$/);
    expect(await readFile(await file.path(), 'utf8')).to.match(/^\S+ error garden red door key="two words"\n$/);
  });

  it('says why when nothing can be read, and reads when that is fixed', async () => {
    const kernel = await bootTestKernel();
    const { page } = await chromium.open(kernel.url);
    await page.route('**/api/logs/stream*', (route) => route.abort());
    await page.goto(`${kernel.url}/#/logs`);
    await page.getByRole('alert').getByText('Could not load.').waitFor();
    await expectWellMade(page, 'logs, not to be read');
    await page.unroute('**/api/logs/stream*');
    say(kernel, 'info', 'meanwhile');
    await page.getByRole('button', { name: 'Try again' }).click();
    await line(page, 'meanwhile').waitFor();
  });

  it('goes on over a reload of its area, with no line twice', async () => {
    const kernel = await bootTestKernel();
    const { page } = await open(kernel);
    say(kernel, 'info', 'before');
    await line(page, 'before').waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/system/reload');
    say(kernel, 'info', 'after');
    await line(page, 'after').waitFor();
    expect(await line(page, 'before').count()).to.equal(1);
  });

  it('is offered to owners and admins alone', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "root-key-0"\n${OPEN_RATE}${person('vera', 'user')}`, key: 'root-key-0' });
    const { page } = await chromium.open(`${kernel.url}/#/logs`);
    await logInAs(page, 'vera');
    await page.getByText('Panel not available').waitFor();
    expect(await page.getByRole('link', { name: 'Log', exact: true }).count()).to.equal(0);
  });
});
