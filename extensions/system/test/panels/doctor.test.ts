/** The panel that shows what the daemon finds when it looks at itself. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HealthProbe } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, logInAs, person } from '@svc/test/page/callers';

const SETTINGS = `${OPEN_RATE}[extensions]\nenable = ["pump"]\n`;
const BROKEN = `${SETTINGS}[log]\nlevl = "warn"\n`;

describe('the check-up panel', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let isPumpStill = false;
  before(async () => {
    const pump = fixtureExtension({
      id: 'pump',
      manifest: { hooks: [{ name: 'health.probe' }] },
      definition: {
        activate: (ctx) => void ctx.hooks.tap(HealthProbe, () => (isPumpStill ? { name: 'pump', status: 'error', detail: 'the <b>pump</b> stands still' } : { name: 'pump', status: 'ok' })),
      },
    });
    kernel = await bootTestKernel({ config: SETTINGS, extra: [pump] });
  });
  afterEach(async () => {
    isPumpStill = false;
    await configure(kernel, SETTINGS);
  });
  after(stopTestKernels);

  const open = async () => chromium.open(`${kernel.url}/#/doctor`);
  const broken = (page: Page) => page.getByRole('list', { name: 'Failed checks' });

  it('shows everything that was looked at, the worst first, and gives it as text', async () => {
    const { page, mistakes } = await open();
    await page.getByText(/^No failures, \d warnings?/).waitFor();
    const passed = page.getByRole('list', { name: 'Passed checks' });
    expect(await passed.isVisible()).to.equal(false);
    await page.getByText(/^\d+ checks passed$/).click();
    await passed.getByText('Database identity').waitFor();
    const { doctor } = (await kernel.http.expect(200, 'GET', '/api/health/detail')).body;
    expect(await page.locator('.finding').count()).to.equal(doctor.length);
    await expectWellMade(page, 'check-up');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    // How much of the disk is free changes from look to look.
    for (const { check, message } of doctor) expect(text).to.contain(`${check}: ${check === 'disk_space' ? '' : message}`);
    expect(text.indexOf('warn ')).to.be.lessThan(text.indexOf('pass '));
    expect(mistakes).to.deep.equal([]);
  });

  it('looks again, and reads the settings again', async () => {
    const { page } = await open();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    await configure(kernel, BROKEN);
    await page.getByRole('button', { name: 'Check again' }).click();
    await broken(page)
      .getByText(/levl is not a setting/)
      .waitFor();
    await expectWellMade(page, 'check-up, broken');
    await writeFile(join(kernel.home, 'config.toml'), SETTINGS);
    await broken(page).getByRole('button', { name: 'Reload file' }).click();
    await page.getByText('The settings were reloaded.').waitFor();
    await broken(page).waitFor({ state: 'detached' });
    expect((await kernel.http.expect(200, 'GET', '/api/health/detail')).body.status).to.equal('ok');
  });

  it('leads from what an extension says to that extension and to its log', async () => {
    isPumpStill = true;
    const { page } = await open();
    const row = broken(page).getByRole('listitem').filter({ hasText: 'the <b>pump</b> stands still' });
    expect(await row.getByRole('link', { name: 'Open its log' }).getAttribute('href')).to.equal('#/logs?area=pump');
    await row.getByRole('link', { name: 'Open pump' }).click();
    await page.getByRole('heading', { name: 'pump', level: 1 }).waitFor();
  });

  it('lets a viewer look and not fix', async () => {
    await configure(kernel, BROKEN + person('vera', 'viewer'));
    const { page } = await open();
    await logInAs(page, 'vera');
    const fix = broken(page).getByRole('button', { name: 'Reload file' });
    await fix.waitFor();
    expect(await fix.isDisabled()).to.equal(true);
    expect(await fix.getAttribute('title')).to.match(/viewer/);
  });

  it('says so when it cannot look, and goes and comes with its area', async () => {
    const { page } = await open();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    await page.route('**/api/health/detail', (route) => route.abort());
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('This may be out of date', { exact: false }).waitFor();
    await expectWellMade(page, 'check-up, out of date');
    await page.unroute('**/api/health/detail');
    await kernel.http.expect(200, 'POST', '/api/extensions/system/disable?confirm=true');
    await page.getByText('Panel not available').waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/system/enable');
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
  });

  // The last: OpenAI stays chosen, without its key.
  it('begins an empty vault where its key is lost, naming what goes', async () => {
    await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: 'sk-a-key-of-nobody' });
    await rm(join(kernel.home, 'data/ext/vault/vault.key'));
    await kernel.http.expect(200, 'POST', '/api/extensions/vault/reload');
    const { page } = await open();
    await broken(page).getByRole('button', { name: 'Create an empty vault' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an empty vault?' });
    await dialog.getByText(/provider\.openai/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await kernel.http.expect(200, 'GET', '/api/vault')).body.state).to.equal('locked');
    await broken(page).getByRole('button', { name: 'Create an empty vault' }).click();
    await dialog.getByRole('button', { name: 'Create an empty vault' }).click();
    await page.getByText('The vault is empty now.', { exact: false }).waitFor();
    expect((await kernel.http.expect(200, 'GET', '/api/vault')).body.why).to.equal(null);
  });
});
