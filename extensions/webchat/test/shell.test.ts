/** The page around the panels: what it offers to whom, by keyboard and at any width. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { expectWellMade, useBrowser } from '../../../test/page/browser.js';

describe('the page', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  afterEach(stopTestKernels);

  it('is well made at any width and in both themes', async () => {
    const kernel = await bootTestKernel();
    const { page, mistakes } = await chromium.open(kernel.url);
    await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
    await expectWellMade(page, 'the page');
    expect(mistakes).to.deep.equal([]);
  });
});
