/** The panel Import in a real browser: look into a home, choose, watch, read the report. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { writeOlder } from './homes/openclaw.js';

describe('the panel Import', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-import-'));
    await writeOlder(join(folder, 'user', '.openclaw'));
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  it('finds a home, lets people choose, shows a bar and then a report', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${person('root', 'owner')}`, key: keyOf('root'), env: { HOME: join(folder, 'user') } });
    const { page } = await chromium.open(`${kernel.url}/#/migrate`);
    await logInAs(page, 'root');
    await page.getByRole('button', { name: /^Look into .*\.openclaw$/ }).click();
    await page.getByRole('heading', { name: /^What .*\.openclaw holds$/ }).waitFor();
    await page.getByRole('switch', { name: 'Scheduled jobs' }).uncheck();
    // The answers about the progress are held up, so that a quick import is seen on its way.
    let asked = 0;
    await page.route(/\/api\/migrate\/[0-9a-f-]{36}$/, async (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      const answer = await route.fetch();
      const report = await answer.json();
      await route.fulfill({ response: answer, json: { ...report, status: 'running', ended_at: null, progress: { ...report.progress, done: 1, total: 4 } } });
    });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const bar = page.getByRole('progressbar', { name: 'Progress of the import' });
    await bar.waitFor();
    expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).to.deep.equal(['1', '4']);
    await page.getByRole('heading', { name: 'Report' }).waitFor();
    await page.getByRole('row', { name: /^agent/ }).waitFor();
    const rows = Object.fromEntries((await page.getByRole('row').allInnerTexts()).map((text) => text.trim().split(/\s+/)).map(([kind = '', ...figures]) => [kind, figures]));
    expect(rows.agent, JSON.stringify(rows)).to.deep.equal(['2', '2', '0']);
    expect(rows.session).to.deep.equal(['3', '3', '0']);
    expect(rows.cron?.[1], 'jobs were not chosen').to.equal('0');
    await page.getByText('6 of 6 messages').waitFor();
    await page.getByText('Skipped, with reasons').click();
    await page
      .getByText(/channels stay off/)
      .first()
      .waitFor();
    expect((await kernel.http.expect(200, 'GET', '/api/sessions/search?q=zanzibar%20invoice')).body.items).to.have.length(1);
  });
});
