/** Installing by the page: nothing before a person saw what is asked for and agreed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, type SigningKey } from '@svc/installer/signing';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { packedAt, type RigPackage } from '../../../../kernel/installer/test/package-rig.js';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';

const ASKS = { manifest: { grants: [{ grant: 'env:WEATHER_KEY', why: 'a key for <b>more</b> calls' }] } };

describe('installing by the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let root: string;
  let kernel: TestKernel;
  let key: SigningKey;
  let count = 0;
  before(async () => {
    key = await generateKey();
  });
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-install-page-'));
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nisolation = "isolated"\n` });
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(root, { recursive: true, force: true });
  });

  /** The path of a signed .tgz. */
  const packed = (made: RigPackage): Promise<string> => packedAt(join(root, `p${++count}`), made, key);
  const state = async () => (await kernel.http.get('/api/extensions/acme-weather')).body;

  it('shows what it asks for and whose it is, installs it when one agreed, and removes it again', async () => {
    const { page, mistakes } = await chromium.open(`${kernel.url}/#/extensions`);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Source').fill(await packed(ASKS));
    await dialog.getByRole('button', { name: 'Review' }).click();
    await dialog.getByText('a key for <b>more</b> calls', { exact: false }).waitFor();
    await dialog.getByText(key.keyId).first().waitFor();
    await dialog
      .getByText(/the network/)
      .first()
      .waitFor();
    const agree = dialog.getByRole('button', { name: 'Agree and install' });
    expect(await agree.isDisabled(), 'before the key is trusted').to.equal(true);
    expect((await state()).code).to.equal('extension_not_found');
    await expectWellMade(page, 'extensions, agreeing');
    await dialog.getByRole('checkbox', { name: /trust it for this extension/ }).check();
    await agree.click();
    await page.getByRole('heading', { level: 1, name: 'acme-weather' }).waitFor();
    await page.getByText('Running.').waitFor();
    expect(await state()).to.include({ state: 'active', category: 'third-party' });

    await page.getByRole('button', { name: 'More actions for acme-weather' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await dialog.getByRole('checkbox').check();
    const remove = dialog.getByRole('button', { name: 'Remove' });
    expect(await remove.isDisabled(), 'before its name was typed').to.equal(true);
    await dialog.getByRole('textbox').fill('acme-weather');
    await remove.click();
    await page.getByText('acme-weather was removed.').waitFor();
    expect((await state()).code).to.equal('extension_not_found');
    // The first answer is the browser's own line: 409.
    expect(mistakes.filter((text) => !text.includes('409'))).to.deep.equal([]);
  });

  it('says in its own words why something is not installed, and keeps what was typed', async () => {
    const { page } = await chromium.open(`${kernel.url}/#/extensions`);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Source').fill(join(root, 'nothing.tgz'));
    await dialog.getByRole('button', { name: 'Review' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Source').inputValue()).to.equal(join(root, 'nothing.tgz'));
  });
});
