/** Signing in on the page, in a real browser, at oidc-provider; and what an owner then does on the panel People. */
import { useBrowser } from '@svc/test/page/browser';
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CLIENT, type Company, configFor, KEY, startCompany } from './provider-kit.js';

const MORE = 'roles_claim = "groups"\n[external_auth.role_map]\nstaff = "user"\nops = "admin"\n';

describe('oidc: on the page', function () {
  this.timeout(120_000);
  const chromium = useBrowser();
  let company: Company;
  let kernel: TestKernel;
  before(async () => {
    company = await startCompany();
    kernel = await bootTestKernel({ config: configFor(company.issuer, MORE), env: { SVC_OAUTH_CLIENT_SECRET: CLIENT.secret } });
    company.register(kernel.url);
  });
  after(async () => {
    await stopTestKernels();
    await company.stop();
  });

  const session = (page: Page): Promise<{ role?: string; name?: string; via?: string }> => page.evaluate(async () => (await fetch('/auth/session')).json());
  const inside = (page: Page) => page.getByRole('navigation', { name: 'Navigation' });
  /** The forms of the provider: who it is, where it asks, and that they agree. */
  const signIn = async (page: Page, login: string): Promise<boolean> => {
    await page.getByRole('link', { name: 'Sign in with SSO' }).click();
    await page.waitForURL((url) => url.origin === company.issuer);
    const asked = (await page.locator('input[name=login]').count()) > 0;
    if (asked) {
      await page.locator('input[name=login]').fill(login);
      await page.locator('input[name=password]').fill('x');
      await page.locator('button[type=submit]').click();
    }
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
    await page.locator('button[type=submit]').click();
    await inside(page).waitFor();
    return asked;
  };

  it('gives the role of the groups, another after a change, and asks again after a sign-out', async () => {
    company.people.set('ada', { email: 'ada@example.com', name: 'Ada', groups: ['staff'] });
    const { page } = await chromium.open(`${kernel.url}/`);
    expect(await signIn(page, 'ada')).to.equal(true);
    expect(new URL(page.url()).origin).to.equal(kernel.url);
    expect(await session(page)).to.include({ role: 'user', name: 'Ada', via: 'cookie' });

    company.people.set('ada', { email: 'ada@example.com', name: 'Ada', groups: ['ops'] });
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL((url) => url.origin === company.issuer);
    await page.locator('button[value=yes]').click();
    await page.getByRole('link', { name: 'Sign in with SSO' }).waitFor();
    expect(await session(page)).to.include({ authenticated: false });

    expect(await signIn(page, 'ada'), 'the provider asks who it is').to.equal(true);
    expect(await session(page)).to.include({ role: 'admin', name: 'Ada' });

    // An owner disables her on the panel People: her page is out.
    const owner = await chromium.open(`${kernel.url}/#/people`);
    await owner.page.getByLabel('API key').fill(KEY);
    await owner.page.getByRole('button', { name: 'Log in' }).click();
    const row = owner.page.getByRole('row', { name: /Ada/ });
    await row.waitFor();
    expect(await row.innerText()).to.match(/admin[\s\S]*active/i);
    await row.getByRole('button', { name: /Edit/ }).click();
    const form = owner.page.getByRole('dialog');
    await form.getByLabel('Disabled').check();
    await form.getByRole('button', { name: 'Save' }).click();
    await owner.page.getByRole('row', { name: /Ada[\s\S]*disabled/i }).waitFor();
    await page.getByRole('link', { name: 'Sign in with SSO' }).waitFor();
    expect(await session(page)).to.include({ authenticated: false });
    // Her provider still knows her, and sends her straight back.
    await page.getByRole('link', { name: 'Sign in with SSO' }).click();
    await page.getByText('You are disabled here. Ask an owner or admin.').waitFor();
  });
});
