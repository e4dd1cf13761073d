/** The panel that shows how the daemon is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { modelConfig } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, keyOf, logInAs, person } from '@svc/test/page/callers';

describe('the overview panel', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  /** For all claims but one, in their order: at first nothing was said to it. */
  let common: TestKernel;
  before(async () => {
    common = await bootTestKernel();
  });
  afterEach(() => configure(common));
  after(stopTestKernels);

  const open = async (kernel = common) => chromium.open(`${kernel.url}/#/overview`);
  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const talk = async (message: string): Promise<void> => {
    const { items } = (await common.http.expect(200, 'GET', '/api/agents')).body;
    await common.http.expect(200, 'POST', `/api/agents/${items[0].id}/message`, { message });
  };

  it('tells that all is well, who answers and where it runs, in a fresh home', async () => {
    const { page, mistakes } = await open();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    const model = section(page, 'Default model');
    await model.getByText('builtin/rehearsal').waitFor();
    await model.getByText(/not a language model/).waitFor();
    await section(page, 'Daemon').getByText(common.home, { exact: true }).waitFor();
    await section(page, 'Recent conversations').getByText('No messages yet.').waitFor();
    // The page knows its panels: no view asks for them again.
    expect(await page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/panels')).length)).to.equal(1);
    await expectWellMade(page, 'overview, fresh');
    expect(mistakes).to.deep.equal([]);
  });

  it('counts what was said and which agent used how much', async () => {
    await talk('What a fine <b>day</b>');
    const { page } = await open();
    const recent = section(page, 'Recent conversations');
    const link = recent.getByRole('link', { name: /What a fine <b>day<\/b>/ });
    await link.waitFor();
    const { sessions } = (await common.http.expect(200, 'GET', '/api/sessions')).body;
    expect(await link.getAttribute('href')).to.equal(`#/chat/${sessions[0].agent_id}/${sessions[0].session_id}`);
    const used = section(page, 'Token usage, last hour');
    await used.getByText('assistant').waitFor();
    expect(
      await section(page, 'Now')
        .getByText(/\d+ in, \d+ out/)
        .textContent(),
    ).to.match(/^[1-9]/);
    const chart = (name: string) => page.getByRole('group', { name, exact: true });
    for (const name of ['Runs', 'Duration of answered runs', 'Tokens', 'Cost']) await chart(name).locator('canvas').waitFor();
    await chart('Runs').getByText('Runs: table').click();
    expect(await chart('Runs').getByRole('row').nth(1).getByRole('cell').allTextContents()).to.deep.include.members(['1', '0']);
    await page.getByLabel('Period').selectOption('Last hour');
    await page.reload();
    await chart('Cost').locator('canvas').waitFor();
    expect(await page.getByLabel('Period').inputValue()).to.equal('hour');
    await expectWellMade(page, 'overview, used');
  });

  it('shows a run that failed as it fails, why, and leads to those that failed', async () => {
    // Nothing listens there.
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${modelConfig('http://127.0.0.1:9')}`, env: { OPENAI_API_KEY: 'sk-of-nobody' } });
    const { page } = await open(kernel);
    const runs = section(page, 'Recent runs');
    await runs.getByText('No runs yet.').waitFor();
    const { items } = (await kernel.http.expect(200, 'GET', '/api/agents')).body;
    const refused = await kernel.http.post(`/api/agents/${items[0].id}/message`, { message: 'Are you there?' });
    expect(refused.status).to.be.greaterThan(499);
    await runs.getByText(refused.body.error, { exact: false }).waitFor();
    await expectWellMade(page, 'overview, a run failed');
    await page.getByRole('link', { name: /Failed, last 24 hours 1/ }).click();
    expect(page.url()).to.match(/#\/runs\?state=failed&since=24h$/);
    // The view before it has such rows, too.
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'assistant' }).waitFor();
    await kernel.stop();
  });

  it('names what does not work, and fixes it where a press does', async () => {
    await configure(common, `${OPEN_RATE}[log]\nlevl = "warn"\n`);
    const { page } = await open();
    await page.getByText('1 check failed.').waitFor();
    const problems = page.getByRole('list', { name: 'Failed checks' });
    await problems.getByText(/levl is not a setting/).waitFor();
    await expectWellMade(page, 'overview, degraded');
    // Saved in between, as an editor does.
    await writeFile(join(common.home, 'config.toml'), OPEN_RATE);
    await problems.getByRole('button', { name: 'Reload file' }).click();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    expect((await common.http.expect(200, 'GET', '/api/health/detail')).body.status).to.equal('ok');
  });

  it('says what it may not tell to whom, and what is off, in place of a zero', async () => {
    await configure(common, OPEN_RATE + person('vera', 'viewer') + person('olga', 'owner'));
    const { page } = await open();
    await logInAs(page, 'vera');
    const now = section(page, 'Now');
    await now.getByText('Visible to owners and admins only.').first().waitFor();
    expect(await now.getByText('$').count()).to.equal(0);
    const owner = common.as(keyOf('olga'));
    await owner.expect(200, 'POST', '/api/extensions/llm/disable?confirm=true');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await now.getByText('This extension is off.').first().waitFor();
    await expectWellMade(page, 'overview of a viewer, areas off');
    await owner.expect(200, 'POST', '/api/extensions/llm/enable');
  });

  it('keeps what it shows and says why it is old while the daemon does not answer', async () => {
    const { page } = await open();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('This may be out of date', { exact: false }).first().waitFor();
    await page.getByText(/^(All checks passed|No failures)/).waitFor();
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).first().click();
  });
});
