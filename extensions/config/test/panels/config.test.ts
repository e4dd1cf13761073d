/** The panel of the settings, used as a person uses it; what it did is seen in config.toml and at the API. */
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, picture, useBrowser } from '@svc/test/page/browser';
import { logInAs, person } from '@svc/test/page/callers';

/** As long as a public key is. */
const SECRET = `${'c0ffee'.repeat(7)}c=`;

describe('the panel of the settings', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let file: string;
  before(async () => {
    kernel = await bootTestKernel({ config: OPEN_RATE, env: { SVC__RUNS__MAX_ITERATIONS: '77' } });
    file = join(kernel.home, 'config.toml');
  });
  after(stopTestKernels);

  /** What each claim begins with. */
  const begin = async (text = OPEN_RATE): Promise<void> => {
    await rm(file, { force: true });
    await writeFile(file, text);
    await kernel.daemon.reloadConfig('test');
  };
  const textOf = (): Promise<string> => readFile(file, 'utf8');
  const at = (place = ''): string => `${kernel.url}/#/config${place}`;
  const shown = async () => (await kernel.http.expect(200, 'GET', '/api/config')).body;
  const review = (page: Page) => page.getByRole('button', { name: 'Review and save' }).click();
  const save = (page: Page, timeout = 30_000) => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click({ timeout });
  const row = (page: Page, path: string) => page.locator(`[data-path="${path}"]`);

  it('shows each setting with its value and where that is from; each view is well made', async () => {
    await begin(`${OPEN_RATE}[log]\nlevel = "warn" # quiet\n[models]\ncatalog_public_key = "${SECRET}"\n`);
    const { page, mistakes } = await chromium.open(at('/log'));
    await row(page, 'log.level').getByText('config.toml, line 7').waitFor();
    expect(await page.getByRole('combobox', { name: 'Level' }).inputValue()).to.equal('warn');
    await expectWellMade(page, 'one section of the settings', { isWhole: true });
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Runs' }).click();
    const held = row(page, 'runs.max_iterations');
    await held.getByText('Set by the environment variable SVC__RUNS__MAX_ITERATIONS', { exact: false }).waitFor();
    expect(await held.getByRole('textbox').inputValue()).to.equal('77');
    expect(await held.getByRole('textbox').isDisabled()).to.equal(true);
    await expectWellMade(page, 'a setting that the environment holds');
    await page.goto(at('?q=catalog'));
    await row(page, 'models.catalog_public_key').getByText('set (hidden)').waitFor();
    expect(await page.content()).to.not.contain(SECRET);
    await expectWellMade(page, 'settings that were sought');
    await page.goto(at('?set=1'));
    await row(page, 'log.level').waitFor();
    expect(await row(page, 'session.retention_days').count()).to.equal(0);
    await page.getByRole('tab', { name: 'As a file' }).click();
    expect(await page.getByLabel('config.toml').inputValue())
      .to.contain('level = "warn"')
      .and.not.contain(SECRET);
    await expectWellMade(page, 'the settings as a file');
    expect(mistakes).to.deep.equal([]);
  });

  it('shows as context of a difference only what stands in the file', async () => {
    const text = `${OPEN_RATE}[log]\nlevel = "warn"\n`;
    await begin(text);
    const { page } = await chromium.open(at('/log'));
    await page.getByRole('combobox', { name: 'Level' }).selectOption('debug');
    await page.goto(at('/session'));
    await row(page, 'session.retention_days').getByRole('textbox').fill('9');
    await review(page);
    const lines = (kind: string) => page.getByRole('region', { name: 'config.toml diff' }).locator(`.diff-line.${kind} > span:last-child`).allInnerTexts();
    await page.getByRole('region', { name: 'config.toml diff' }).waitFor();
    const context = (await lines('same')).filter((line) => line.trim() !== '');
    expect(context).to.deep.equal(['[log]']);
    expect(await lines('removed')).to.deep.equal(['level = "warn"']);
    expect((await lines('added')).filter((line) => line.trim() !== '')).to.deep.equal(['level = "debug"', '[session]', 'retention_days = 9']);
    await picture(page, 'a difference of config.toml');
    await save(page);
    await page.getByText('2 settings saved').waitFor();
    expect(await textOf()).to.contain('[session]\nretention_days = 9');
  });

  it('saves several changes after it showed the difference, and leaves the rest of the file alone', async () => {
    const text = `${OPEN_RATE}[log]\nlevel = "warn" # quiet\n[session]\nretention_days = 7 # a week\n`;
    await begin(text);
    const { page } = await chromium.open(at('/log'));
    await page.getByRole('combobox', { name: 'Level' }).selectOption('debug');
    await page.goto(at('/session'));
    await row(page, 'session.retention_days').getByRole('button', { name: 'Reset to default' }).click();
    await page.getByText('2 unsaved changes').waitFor();
    await expectWellMade(page, 'changes that are not saved');
    await review(page);
    const difference = page.getByRole('region', { name: 'config.toml diff' });
    await difference.getByText('level = "debug"').waitFor();
    await difference.getByText('retention_days = 7').waitFor();
    await expectWellMade(page, 'the difference');
    await save(page);
    await page.getByText('2 settings saved').waitFor();
    expect(await textOf()).to.equal(text.replace('"warn"', '"debug"').replace('retention_days = 7 # a week\n', ''));
    expect((await shown()).log.level).to.equal('debug');
    expect(await page.getByRole('button', { name: 'Review and save' }).count()).to.equal(0);
  });

  it('says at the field what does not fit, before and after the daemon was asked, and keeps what was typed', async () => {
    await begin();
    const { page } = await chromium.open(at('/runs'));
    const field = row(page, 'runs.max_active').getByRole('textbox');
    for (const [typed, says] of [
      ['many', 'Enter a whole number.'],
      ['0', 'Must be 1 or more.'],
      ['999999999', 'Must be 100k or less.'],
    ] as const) {
      await field.fill(typed);
      await row(page, 'runs.max_active').getByText(says).waitFor();
    }
    expect(await page.getByRole('button', { name: 'Review and save' }).isDisabled()).to.equal(true);
    await row(page, 'runs.max_active').getByRole('button', { name: 'Undo' }).click();
    await page.goto(at('/api'));
    await row(page, 'api.listen_addr').getByRole('textbox').fill('0.0.0.0:4545');
    await review(page);
    await save(page);
    await row(page, 'api.listen_addr').getByText('the daemon would not start', { exact: false }).waitFor();
    expect(await row(page, 'api.listen_addr').getByRole('textbox').inputValue()).to.equal('0.0.0.0:4545');
    expect(await textOf()).to.equal(OPEN_RATE);
  });

  it('two tabs: who is later is shown the difference, and loses neither', async () => {
    await begin(`${OPEN_RATE}[log]\nlevel = "warn"\n[llm]\nmax_retries = 4\n`);
    const { page } = await chromium.open(at('/log'));
    await page.getByRole('combobox', { name: 'Level' }).selectOption('debug');
    await kernel.http.expect(200, 'POST', '/api/config/set', { path: 'log.level', value: 'error' });
    await review(page);
    // Told at once where the change was heard of by now, else when it is sent.
    await save(page, 2_000).catch(() => undefined);
    const theirs = page.getByRole('dialog').getByRole('region', { name: 'Theirs and yours: log.level' });
    await theirs.getByText('level = "error"').waitFor();
    await theirs.getByText('level = "debug"').waitFor();
    await expectWellMade(page, 'somebody was quicker');
    expect((await shown()).log.level).to.equal('error');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).click();
    await save(page);
    await page.getByText('1 setting saved').waitFor();
    expect((await shown()).log.level).to.equal('debug');
  });

  it('two tabs: a change of something else is no obstacle, and stays', async () => {
    await begin(`${OPEN_RATE}[log]\nlevel = "warn"\n[llm]\nmax_retries = 4\n`);
    const { page } = await chromium.open(at('/log'));
    await page.getByRole('combobox', { name: 'Level' }).selectOption('debug');
    await kernel.http.expect(200, 'POST', '/api/config/set', { path: 'llm.max_retries', value: 2 });
    await review(page);
    await save(page);
    await page.getByText('1 setting saved').waitFor();
    const now = await shown();
    expect([now.log.level, now.llm.max_retries]).to.deep.equal(['debug', 2]);
  });

  it('keeps what was typed and not saved while another panel is open, and asks before it is discarded', async () => {
    await begin();
    const { page } = await chromium.open(at('/runs'));
    await row(page, 'runs.max_depth').getByRole('textbox').fill('9');
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Chat' }).click();
    await page.goBack();
    expect(await row(page, 'runs.max_depth').getByRole('textbox').inputValue()).to.equal('9');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    expect(await row(page, 'runs.max_depth').getByRole('textbox').inputValue()).to.equal('5');
  });

  it('edits lists line by line, lists of tables entry by entry, and tables with free names by name', async () => {
    await begin(`${OPEN_RATE}[provider_urls]\nmine = "http://127.0.0.1:9/v1"\n`);
    const { page } = await chromium.open(at('/general'));
    await row(page, 'fallback_providers').getByRole('button', { name: 'Add an entry' }).click();
    await page.getByText('Entry 1, provider: Must not be empty.').waitFor();
    await page.getByRole('group', { name: 'Entry 1' }).getByLabel('Provider').fill('groq');
    await expectWellMade(page, 'a list of tables');
    await page.goto(at('/provider_urls'));
    await page.getByLabel('Name').fill('other');
    await page.getByLabel('Value').fill('http://127.0.0.1:7/v1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expectWellMade(page, 'a table with free names');
    await row(page, 'provider_urls.mine').getByRole('button', { name: 'Reset to default' }).click();
    await page.goto(at('/uploads'));
    await review(page);
    await save(page);
    await page.getByText('settings saved').waitFor();
    const now = await shown();
    expect(now.provider_urls).to.deep.equal({ other: 'http://127.0.0.1:7/v1' });
    expect(now.fallback_providers[0]).to.include({ provider: 'groq' });
  });

  it('reads the file again, says what changed, and what in it does not hold', async () => {
    await begin(`${OPEN_RATE}[log]\nlevel = "warn"\n`);
    const { page } = await chromium.open(at('/log'));
    await row(page, 'log.level').waitFor();
    await writeFile(file, `${OPEN_RATE}[log]\nlevel = "debug"\n[llm]\nmax_retries = -3\n`);
    await page.getByRole('button', { name: 'Reload file' }).click();
    await page.getByRole('heading', { name: 'Problems in config.toml' }).waitFor();
    await page.getByText(/max_retries must be/).waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[data-path="log.level"] select')?.value === 'debug');
    await expectWellMade(page, 'problems of the file');
  });

  it('says that a file is read-only, and writes a first one where there is none', async () => {
    await begin();
    await chmod(file, 0o400);
    const { page } = await chromium.open(at('/log'));
    await page.getByText('config.toml is read-only').waitFor();
    expect(await page.getByRole('combobox', { name: 'Level' }).isDisabled()).to.equal(true);
    await expectWellMade(page, 'settings that are managed elsewhere');
    await rm(file, { force: true });
    await page.reload();
    await page.getByRole('button', { name: 'Create config.toml' }).click();
    await page.getByText('There is no config.toml yet').waitFor({ state: 'detached' });
    expect(await textOf()).to.contain('[log]');
  });

  it('lets a viewer see and change nothing', async () => {
    await begin(`${OPEN_RATE}${person('vera', 'viewer')}`);
    const { page } = await chromium.open(at('/runs'));
    await logInAs(page, 'vera');
    await row(page, 'runs.max_active').waitFor();
    expect(await row(page, 'runs.max_active').getByRole('textbox').isDisabled()).to.equal(true);
    expect(await page.getByRole('button', { name: 'Reload file' }).getAttribute('title')).to.contain('viewer');
    await page.getByRole('tab', { name: 'As a file' }).click();
    await page.getByText('Only owners and admins can see this.').waitFor();
  });
});
