/** Pairing in real browsers: one shows a code, another one types it, and is out as soon as it is removed. */
import { useBrowser } from '@svc/test/page/browser';
import { logInAs, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('pairing on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  afterEach(() => stopTestKernels());

  it('a second browser pairs by the code, appears at once, and its socket closes within a second of its removal', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${person('root', 'owner')}${person('alice', 'user')}` });
    const { page } = await chromium.open(`${kernel.url}/#/devices`);
    await logInAs(page, 'alice');
    await page.getByRole('button', { name: 'Get a code' }).click();
    const code = (await page.locator('strong code').innerText()).trim();
    expect(code).to.match(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
    expect(await page.getByRole('img', { name: `QR code with the pairing code ${code}` }).count()).to.equal(1);

    const { page: other } = await chromium.open('about:blank');
    const closed = new Promise<number>((resolve) =>
      other.on('websocket', (socket) => {
        if (socket.url().includes('/api/live')) socket.on('close', () => resolve(Date.now()));
      }),
    );
    await other.goto(`${kernel.url}/`);
    await other.getByLabel('API key').fill(code.toLowerCase().replace('-', ''));
    await other.getByRole('button', { name: 'Log in' }).click();
    await other.getByRole('navigation', { name: 'Navigation' }).waitFor();
    expect(await other.evaluate(async () => (await fetch('/auth/session')).json())).to.include({ authenticated: true, role: 'user', via: 'cookie' });
    await other.locator('.nav-state.live').waitFor();

    await page.getByText('The device is paired.').waitFor();
    const row = page.getByRole('row', { name: /user/ });
    await row.waitFor();
    await row.getByRole('button', { name: /Delete|Remove/ }).click();
    const removed = page.waitForResponse((answer) => answer.request().method() === 'DELETE' && answer.url().includes('/api/pairing/devices/'));
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Delete|Remove/ })
      .click();
    await removed;
    const since = Date.now();
    expect((await closed) - since).to.be.below(1_000);
    await other.getByLabel('API key').waitFor();
  });
});
