/** The panel that shows extensions and switches them. */
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, logInAs, person } from '@svc/test/page/callers';

const SETTINGS = `${OPEN_RATE}[extensions]\nenable = ["ill", "acme-weather", "acme-nobody"]\n`;
const ORIGIN = {
  source: 'npm:@acme/weather@^1 <b>x</b>',
  publisher: { keyId: 'c0ffeec0ffeec0ff', name: 'Acme' },
  trust: 'signed',
  isolation: 'walled',
  installedAt: '2026-11-22T10:00:00.000Z',
} as const;

describe('the extensions panel', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  /** Who switches more of it than is switched on again below switches it on. */
  let kernel: TestKernel;
  let isIllFixed = false;
  before(async () => {
    const ill = fixtureExtension({
      id: 'ill',
      manifest: { grants: [{ grant: 'net:dial:example.org', why: 'it asks <i>there</i>' }] },
      definition: {
        activate: () => {
          if (!isIllFixed) throw new Error('its table is gone');
        },
      },
    });
    const weather = { ...fixtureExtension({ id: 'acme-weather', definition: { activate: () => undefined } }), bundled: false, origin: ORIGIN };
    const nobody = { ...fixtureExtension({ id: 'acme-nobody', definition: { activate: () => undefined } }), bundled: false, origin: { ...ORIGIN, publisher: null, trust: 'unsigned' as const } };
    kernel = await bootTestKernel({ config: SETTINGS, extra: [ill, weather, nobody] });
  });
  afterEach(async () => {
    for (const area of ['templates', 'webchat']) await kernel.http.post(`/api/extensions/${area}/enable`);
  });
  after(stopTestKernels);

  const open = async (rest = '') => chromium.open(`${kernel.url}/#/extensions${rest}`);
  const rowOf = (page: Page, id: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: id, exact: true }) });
  const stateOf = async (id: string): Promise<string> => (await kernel.http.expect(200, 'GET', `/api/extensions/${id}`)).body.state;

  it('lists all that are installed with their states, and finds one', async () => {
    const { page, mistakes } = await open();
    await rowOf(page, 'runs').getByText('On', { exact: true }).waitFor();
    const { total } = (await kernel.http.expect(200, 'GET', '/api/extensions')).body;
    expect(await page.getByRole('row').count()).to.equal(total + 1);
    await expectWellMade(page, 'extensions');
    await page.getByRole('searchbox', { name: 'Search extensions' }).fill('vault');
    await rowOf(page, 'vault').waitFor();
    expect(await rowOf(page, 'runs').count()).to.equal(0);
    expect(page.url()).to.match(/q=vault/);
    await page.getByLabel('Filter').selectOption('off');
    await page.getByText('No matching extensions.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rowOf(page, 'runs').waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('says before what stops with one, switches it off and on again', async () => {
    const { page } = await open();
    await rowOf(page, 'runs').getByRole('button', { name: 'Switch off runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch runs off?' });
    await dialog.getByRole('listitem').filter({ hasText: 'commands' }).waitFor();
    await expectWellMade(page, 'extensions, asking');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await stateOf('runs')).to.equal('active');

    await rowOf(page, 'templates').getByRole('button', { name: 'Switch off templates' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('templates is off.').waitFor();
    expect(await stateOf('templates')).to.equal('inactive');
    await rowOf(page, 'templates').getByText('Off', { exact: true }).waitFor();
    const { description } = (await kernel.http.expect(200, 'GET', '/api/extensions/templates')).body;
    await rowOf(page, 'templates').getByText(description).waitFor();
    await rowOf(page, 'templates').getByRole('button', { name: 'Switch on templates' }).click();
    const sure = page.getByRole('dialog').getByRole('button', { name: 'Switch on' });
    await Promise.race([sure.click().catch(() => undefined), page.getByText('templates is on.').waitFor()]);
    await page.getByText('templates is on.').waitFor();
    expect(await stateOf('templates')).to.equal('active');
  });

  it('shows what somebody else switches, as it happens', async () => {
    const { page } = await open('/templates');
    await page.getByText('Running.').waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/templates/disable');
    await page.getByText('Switched off by a person.').waitFor();
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
  });

  it('warns that this page goes away, and brings it back from the tab that is open', async () => {
    const { page } = await open('/webchat');
    await page.getByRole('button', { name: 'Switch off' }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch webchat off?' });
    await dialog.getByText('This page will no longer open').waitFor();
    await dialog.getByText('svc ext enable webchat').waitFor();
    await expectWellMade(page, 'extensions, this page goes');
    await dialog.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText(/This page is switched off\./).waitFor();
    expect((await fetch(kernel.url)).status).to.equal(404);
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('webchat is on.', { exact: true }).waitFor();
    expect((await fetch(kernel.url)).status).to.equal(200);
  });

  it('shows why one failed, what it may do and why, and tries it again', async () => {
    const { page } = await open('?show=ill');
    await rowOf(page, 'ill').getByText('Failed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'ill', exact: true }).click();
    await page.getByText(/its table is gone/).waitFor();
    await page.getByText('It opens TCP connections to this host').waitFor();
    await page.getByText('it asks <i>there</i>', { exact: false }).waitFor();
    await expectWellMade(page, 'extensions, one that failed');
    isIllFixed = true;
    await page.getByRole('button', { name: 'Reset', exact: true }).click();
    await page.getByText('ill was reset.').waitFor();
    await page.getByText('Running.').waitFor();
    expect(await stateOf('ill')).to.equal('active');
  });

  it('says of one from elsewhere where it is from, who signed it, and how it is kept apart', async () => {
    const { page } = await open('/acme-weather');
    const from = page.getByRole('region', { name: 'Origin' });
    await from.getByText('npm:@acme/weather@^1 <b>x</b>', { exact: true }).waitFor();
    await from.getByText('Acme', { exact: false }).first().waitFor();
    await from.getByText('Runs in its own process in a system sandbox', { exact: false }).waitFor();
    await expectWellMade(page, 'extensions, one from elsewhere');
    await page.goto(`${kernel.url}/#/extensions/acme-nobody`);
    await from.getByText('Not signed').waitFor();
    await page.goto(`${kernel.url}/#/extensions/runs`);
    await page.getByText('Running.').waitFor();
    expect(await from.count(), 'of what came with the daemon').to.equal(0);
  });

  it('loads one anew, and shows what it brings', async () => {
    const generation = async (): Promise<number> => (await kernel.http.expect(200, 'GET', '/api/extensions/templates')).body.generation;
    const before = await generation();
    const { page } = await open('/templates');
    await page.getByText('GET /api/templates', { exact: true }).waitFor();
    await expectWellMade(page, 'extensions, one');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('templates was reloaded.').waitFor();
    expect(await generation()).to.equal(before + 1);
    await page.getByText(`${before + 1} times`).waitFor();
  });

  it('draws who needs whom, by keyboard and in words too', async () => {
    const { page } = await open();
    await page.getByRole('tab', { name: /List/ }).press('ArrowRight');
    const graph = page.getByRole('group', { name: 'Dependencies' });
    const commands = graph.getByRole('link', { name: /^commands, On: requires runs/ });
    await commands.waitFor();
    const left = async (name: string): Promise<number> => (await graph.getByRole('link', { name: new RegExp(`^${name}, `) }).boundingBox())?.x ?? 0;
    expect(await left('agents')).to.be.lessThan(await left('sessions'));
    expect(await left('sessions')).to.be.lessThan(await left('commands'));
    await expectWellMade(page, 'extensions, graph');
    await page.getByText('As text').click();
    await page.getByRole('listitem').filter({ hasText: 'requires agents, sessions, llm, tools' }).waitFor();
    await commands.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'commands', level: 1 }).waitFor();
  });

  it('lets a viewer look and not switch', async () => {
    // Without a browser it is skipped here, before anybody needs a key.
    chromium.browser();
    await configure(kernel, SETTINGS + person('vera', 'viewer'));
    const { page } = await open('/templates');
    await logInAs(page, 'vera');
    const off = page.getByRole('button', { name: 'Switch off' });
    await off.waitFor();
    expect(await off.isDisabled()).to.equal(true);
    expect(await off.getAttribute('title')).to.match(/viewer/);
    expect(await page.getByRole('button', { name: 'Reload' }).isDisabled()).to.equal(true);
    await page.goto(`${kernel.url}/#/extensions/nobody`);
    await page.getByText('Extension “nobody” not found.').waitFor();
    await expectWellMade(page, 'extensions, none of that name');
    await configure(kernel, SETTINGS);
  });
});
