/** The page follows a link of `svc open`: logged in, once, and the address holds no secret afterwards. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser } from '@svc/test/page/browser';

const KEY = 'sk-of-the-owner-0123456789';

describe('a link that logs the page in', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  before(async () => {
    kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}` });
  });
  after(stopTestKernels);

  const newCode = async (): Promise<string> => (await kernel.as(KEY).expect(200, 'POST', '/auth/links', {})).body.code;
  const linkOf = (code: string, place = ''): string => `${kernel.url}/#/${place}?login=${code}`;
  const ready = (page: Page) => page.getByRole('textbox', { name: /^Message to/ }).waitFor();
  const asks = (page: Page) => page.getByLabel('API key').waitFor();
  /** The address, what is stored, and where Back and a copy of the page would lead. */
  const shown = (page: Page): Promise<string> =>
    page.evaluate(() => JSON.stringify([location.href, document.title, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML]));

  it('is logged in without a question, stays so, and shows the code nowhere', async () => {
    const code = await newCode();
    const { page, mistakes } = await chromium.open('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`));
    await page.goto(linkOf(code));
    await ready(page);
    expect(await shown(page)).to.not.contain(code);
    expect(page.url()).to.not.contain('login');
    expect(
      asked.filter((line) => line.includes(code)),
      'in no address and no header of a request',
    ).to.deep.equal([]);
    // Panels are asked for together with who asks, and again once that is known.
    expect(mistakes.filter((line) => !line.endsWith('/api/panels'))).to.deep.equal([]);
    await page.goBack();
    await page.goForward();
    await ready(page);
    expect(page.url()).to.not.contain(code);
    await page.reload();
    await ready(page);
    expect(JSON.stringify(kernel.daemon.log.recent(1_000))).to.not.contain(code);
  });

  it('keeps the place that it names', async () => {
    const { page } = await chromium.open(linkOf(await newCode(), 'models'));
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    expect(page.url()).to.equal(`${kernel.url}/#/models`);
  });

  it('serves once: the second browser is asked for the key and told why, with nothing in its address', async () => {
    const code = await newCode();
    const first = await chromium.open(linkOf(code));
    await ready(first.page);
    const { page } = await chromium.open(linkOf(code), {});
    await asks(page);
    await page
      .getByText(/was used|is over|svc open/)
      .first()
      .waitFor();
    expect(await shown(page)).to.not.contain(code);
    await first.page.reload();
    await ready(first.page);
  });

  it('is followed too in a tab where the page asks for the key already', async () => {
    const { page } = await chromium.open(kernel.url);
    await asks(page);
    const code = await newCode();
    // As one pastes it into the address bar: nothing is loaded anew.
    await page.goto(linkOf(code));
    await ready(page);
    expect(await shown(page)).to.not.contain(code);
    await page.reload();
    await ready(page);
  });

  it('that is over takes nobody out of a page that is logged in', async () => {
    const code = await newCode();
    const { page } = await chromium.open(linkOf(code));
    await ready(page);
    await page.goto(linkOf(code));
    await page.waitForFunction(() => !location.href.includes('login'));
    await ready(page);
    await page.reload();
    await ready(page);
  });
});
