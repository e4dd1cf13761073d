/** The report as a person reads it in a browser as wide as a phone. */
import { wallFault } from '@svc/isolation';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { expect } from 'chai';

describe('the security panel', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  after(stopTestKernels);

  it('shows the worst first, each with what was seen, and what changed since', async () => {
    const kernel = await bootTestKernel();
    const { page, mistakes } = await chromium.open(`${kernel.url}/#/security`);
    await page.setViewportSize({ width: 360, height: 740 });
    const active = page.getByRole('list', { name: 'Active', exact: true });
    await page.getByText(/^\d+ protections are active$/).waitFor();
    expect(await active.isVisible()).to.equal(false);
    const degraded = await page.getByRole('list', { name: 'Degraded' }).getByRole('heading').allInnerTexts();
    expect(degraded).to.have.members(['Health without details', ...((await wallFault()) === undefined ? [] : ['Command sandbox'])]);
    expect(await page.getByRole('list', { name: 'Inactive' }).getByRole('heading').count()).to.be.at.least(1);
    await page.getByText(/^\d+ protections are active$/).click();
    await active.getByText('addresses of this machine').waitFor();
    await expectWellMade(page, 'security');
    await kernel.daemon.kernel.disable('loop-guard');
    await page.getByText('The extension loop-guard is switched off.').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Checks run at most once a minute.').waitFor();
    expect(mistakes).to.deep.equal([]);
  });
});
