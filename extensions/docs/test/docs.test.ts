/** The page in a real browser at a real daemon, and its files as HTTP gives them. Each promise of src/routes.ts by its name. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { CHROMIUM, LAUNCH } from '@svc/test/page/browser';

/** Where screenshots go, for whoever wants to look. */
const PICTURES = process.env.SVC_TEST_PICTURES;
const KEY = 'svc_key-of-the-docs-test';
const CONFIG = `[extensions]\npreset = "full"\n${OPEN_RATE}`;
/** A quarter of the operations: what says nothing about each of them is drawn in a quarter of the time. */
const OFF = ['config', 'extensions-admin', 'files', 'loop-guard', 'models', 'providers', 'sessions', 'tools', 'vault'];
const FEW = `[extensions]\npreset = "minimal"\nenable = ["docs"]\ndisable = ${JSON.stringify(OFF)}\n${OPEN_RATE}`;

describe('the files of /docs', () => {
  afterEach(stopTestKernels);

  it('are compressed as the caller takes them, with an ETag that answers 304', async () => {
    const { http } = await bootTestKernel({ config: CONFIG });
    const sizes = new Map<string, number>();
    for (const coding of ['br', 'gzip', 'identity', 'gzip;q=0, br;q=0']) {
      const answer = await http.raw('GET', '/docs/swagger-ui.js', undefined, { 'accept-encoding': coding });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-encoding'), coding).to.equal(['br', 'gzip'].includes(coding) ? coding : null);
      expect(answer.headers.get('vary')).to.equal('accept-encoding');
      expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      sizes.set(coding, Number(answer.headers.get('content-length')));
      const etag = answer.headers.get('etag') ?? '';
      expect(await answer.text()).to.contain('SwaggerUIBundle');
      expect((await http.get('/docs/swagger-ui.js', { 'accept-encoding': coding, 'if-none-match': etag })).status, `${coding} ${etag}`).to.equal(304);
    }
    expect(sizes.get('br')).to.be.below(450_000);
    expect(sizes.get('identity')).to.equal(sizes.get('gzip;q=0, br;q=0'));
  });

  it('need no key and hold nothing of the daemon; the document needs it', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${CONFIG}` });
    for (const path of ['/docs', '/docs/docs.js', '/docs/docs.css', '/docs/swagger-ui.css', '/docs/licenses.txt']) {
      const { status, text } = await kernel.http.get(path);
      expect(status, path).to.equal(200);
      expect(text).to.not.contain(kernel.home).and.not.contain(KEY);
    }
    expect((await kernel.http.get('/api/openapi.json')).status).to.equal(401);
  });

  it('are those that there are: other names are refused, whatever they point at', async () => {
    const { http } = await bootTestKernel({ config: CONFIG });
    for (const name of ['nothing.js', '..%2findex.js', 'swagger-ui.js.br', '%2e%2e%2f%2e%2e%2frelease.json', 'constructor']) expect((await http.get(`/docs/${name}`)).status, name).to.equal(404);
  });

  it('D2: a policy lets no other script run and nobody else be asked', async () => {
    const { http } = await bootTestKernel({ config: CONFIG });
    const { headers, text } = await http.get('/docs');
    expect(headers.get('content-security-policy')).to.contain("default-src 'none'").and.contain("script-src 'self'").and.contain("connect-src 'self'").and.not.contain('unsafe');
    expect(text).to.not.match(/\son\w+=|style="|<script>|<style>|https?:\/\//);
  });
});

describe('the page at /docs', function () {
  this.timeout(60_000);
  let browser: Browser;
  /** One for all: what was read and compiled of the page stays. */
  let context: BrowserContext;
  let open: TestKernel;
  let few: TestKernel;
  let kernel: TestKernel;
  let page: Page;
  let mistakes: string[];
  let asked: string[];

  before(async function () {
    if (!existsSync(CHROMIUM)) {
      Object.assign(this.test?.parent ?? {}, { skipReason: `no Chromium at ${CHROMIUM}; install it, or set CHROMIUM=/path` });
      return this.skip();
    }
    browser = await chromium.launch(LAUNCH);
    context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    open = await bootTestKernel({ config: CONFIG });
    few = await bootTestKernel({ config: FEW });
  });
  after(async () => {
    await browser?.close();
    await stopTestKernels();
  });

  /** The whole document is drawn each time, which takes seconds: claims that leave the page as it was share one. */
  const visit = async ({ at = open, hash = '', host = '127.0.0.1', isCut = false }: { at?: TestKernel; hash?: string; host?: string; isCut?: boolean } = {}): Promise<void> => {
    kernel = at;
    await page?.close();
    page = await context.newPage();
    mistakes = [];
    asked = [];
    page.on('console', (message) => {
      if (message.type() === 'error') mistakes.push(message.text());
    });
    page.on('pageerror', (error) => mistakes.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    if (isCut) await page.route('**/api/openapi.json', (route) => route.abort());
    await page.goto(`${kernel.url.replace('127.0.0.1', host)}/docs${hash}`);
  };
  const shown = (): Promise<void> => page.locator('.opblock-tag').first().waitFor();
  const thirdParties = (): string[] => asked.filter((url) => !url.startsWith(`${kernel.url}/`) && !url.startsWith('data:') && !url.startsWith('blob:'));
  /** An operation that the link to it opens. */
  const operation = async (tag: string, id: string) => {
    const block = page.locator(`#operations-${tag}-${id}`);
    await block.waitFor();
    return block;
  };

  it('D2: shows every area and operation, asks nobody else, and nothing of it is blocked', async () => {
    await visit();
    await shown();
    const { tags } = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
    expect(await page.locator('.opblock-tag').count()).to.equal(tags.length);
    await page.locator('#operations-tag-agents .expand-operation').click();
    await page.getByText('Create an agent').first().waitFor();
    expect(thirdParties()).to.deep.equal([]);
    expect(mistakes).to.deep.equal([]);
  });

  it('tries an operation at this daemon, under whichever name it is visited', async () => {
    await visit({ at: few, hash: '#/system/getVersion', host: 'localhost' });
    const block = await operation('system', 'getVersion');
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    await block.locator('.live-responses-table .response-col_status').getByText('200').waitFor();
    expect(await block.locator('.live-responses-table').innerText()).to.contain('"name": "svc"');
    expect(mistakes).to.deep.equal([]);
  });

  it('D1: asks for the key, says when it is wrong, uses it, and stores it nowhere', async () => {
    await visit({ at: await bootTestKernel({ config: `api_key = "${KEY}"\n${FEW}`, key: KEY }) });
    await page.locator('#key-dialog[open]').waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('That key was refused.').waitFor();
    await page.keyboard.type(KEY);
    await page.keyboard.press('Enter');
    await shown();
    await page.locator('#operations-tag-system .expand-operation').click();
    const block = page.locator('#operations-system-getStatus');
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    await block.locator('.live-responses-table .response-col_status').getByText('200').waitFor();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
    expect(kept).to.not.contain(KEY);
    expect(asked.join(' ')).to.not.contain(KEY);
    await page.reload();
    await page.locator('#key-dialog[open]').waitFor();
    // The two refusals are the browser's own lines.
    expect(mistakes.filter((text) => !text.includes('401'))).to.deep.equal([]);
  });

  it('says that the daemon is gone, and tries again on demand', async () => {
    await visit({ at: few, isCut: true });
    await page.getByText('cannot be reached').waitFor();
    await page.unroute('**/api/openapi.json');
    await page.getByRole('button', { name: 'Try again' }).click();
    await shown();
  });

  it('is used by keyboard: from the link to the operations to an operation that opens', async () => {
    await visit({ at: few });
    await shown();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).to.equal('Skip to the operations');
    await page.keyboard.press('Enter');
    for (let steps = 0; steps < 40 && !(await page.evaluate<boolean>("document.activeElement?.closest('.opblock-tag') !== null")); steps++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.opblock').first().waitFor();
    for (let steps = 0; steps < 40 && !(await page.evaluate<boolean>("document.activeElement?.classList.contains('opblock-summary-control') ?? false")); steps++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.opblock.is-open').waitFor();
  });

  describe('with an operation open', () => {
    before(async () => {
      await visit({ hash: '#/runs/streamMessage' });
      await (await operation('runs', 'streamMessage')).locator('.opblock-body').waitFor();
    });
    after(() => page.close());

    for (const [width, scheme] of [
      [360, 'light'],
      [360, 'dark'],
      [768, 'light'],
      [1280, 'dark'],
      [1920, 'light'],
    ] as const)
      it(`fits ${width} pixels in ${scheme} colours: nothing scrolls sideways, and all of it can be read`, async () => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width);
        if (PICTURES !== undefined) {
          await mkdir(PICTURES, { recursive: true });
          await page.screenshot({ path: `${PICTURES}/docs-${width}-${scheme}.png` });
          await page.evaluate("document.querySelector('#operations-runs-streamMessage').scrollIntoView()");
          await page.screenshot({ path: `${PICTURES}/docs-${width}-${scheme}-open.png` });
        }
        for (const place of [
          'header .name a',
          '.info a',
          '.info .title pre',
          '.btn.authorize',
          '.opblock-summary-method',
          '.opblock-tag',
          '.opblock-summary-path',
          '.opblock-description p',
          '.opblock-summary-description',
          '.examples-select__section-label',
          '.parameter__name',
        ])
          expect(await contrastAt(page, place), `${place}: contrast`).to.be.at.least(4.5);
      });

    it('fills in nothing that may be left out: a tried message is a message of its own', async () => {
      const block = await operation('runs', 'streamMessage');
      await block.getByRole('button', { name: 'Try it out' }).click();
      for (const header of ['Idempotency-Key', 'Last-Event-ID']) expect(await block.getByPlaceholder(header).inputValue(), header).to.equal('');
    });
  });
});

/** WCAG 2 contrast of the text at a place with what is painted behind it; runs in the page. */
const CONTRAST = `(selector) => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const element = document.querySelector(selector);
  if (!element) return 99; // not there at this width
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(rgb(getComputedStyle(at).backgroundColor));
  const over = (below, [red = 0, green = 0, blue = 0, alpha = 1]) => [red, green, blue].map((value, index) => value * alpha + below[index] * (1 - alpha));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [bright, dim] = [luminance(rgb(getComputedStyle(element).color).slice(0, 3)), luminance(layers.reduceRight(over, [255, 255, 255]))].sort((a, b) => b - a);
  return (bright + 0.05) / (dim + 0.05);
}`;
const contrastAt = (page: Page, place: string): Promise<number> => page.evaluate<number>(`(${CONTRAST})(${JSON.stringify(place)})`);
