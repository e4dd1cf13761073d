/** The page as an app: what a browser needs to install it, and that it fits the screen of a phone. */
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser } from '@svc/test/page/browser';

const MAX_ICON_BYTES = 5_000;
/** Of 255, on average: the icons have fewer colours than the logo drawn anew. */
const ALIKE = 8;

interface Icon {
  readonly src: string;
  readonly sizes: string;
  readonly type: string;
  readonly purpose?: string;
}

describe('the installed page', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let page: Page;
  before(async () => {
    kernel = await bootTestKernel({ config: 'api_key = "sk-of-the-owner-0123456789"\n' });
  });
  after(stopTestKernels);
  beforeEach(async () => {
    ({ page } = await chromium.open(kernel.url));
  });

  const manifest = async (): Promise<{ icons: Icon[]; start_url: string; scope: string; display: string; theme_color: string; background_color: string }> =>
    JSON.parse((await kernel.http.expect(200, 'GET', '/ui/app.webmanifest')).text);

  it('has a manifest that the browser reads without a login and finds no fault with', async () => {
    const debug = await page.context().newCDPSession(page);
    const { url, errors, data } = await debug.send('Page.getAppManifest');
    expect(url).to.equal(`${kernel.url}/ui/app.webmanifest`);
    expect(errors).to.deep.equal([]);
    expect(JSON.parse(data ?? '')).to.deep.equal(await manifest());
    expect(await manifest()).to.include({ start_url: '/', scope: '/', display: 'standalone' });
    const { headers } = await kernel.http.get('/ui/app.webmanifest');
    expect(headers.get('content-type')).to.equal('application/manifest+json');
  });

  it('has icons of the sizes they are said to have, small, and drawn from its logo', async () => {
    const { icons } = await manifest();
    expect(icons.map(({ sizes, purpose }) => [sizes, purpose ?? 'any'].join(' '))).to.include.members(['192x192 any', '512x512 any', '512x512 maskable']);
    for (const { src, sizes, type, purpose } of icons.filter((icon) => icon.sizes !== 'any')) {
      const answer = await kernel.http.raw('GET', src, undefined, { 'accept-encoding': 'identity' });
      expect(answer.headers.get('content-type'), src).to.equal(type);
      expect((await answer.arrayBuffer()).byteLength, src).to.be.below(MAX_ICON_BYTES);
      const seen = await page.evaluate(
        async ([icon, isMaskable]) => {
          const logo = await (await fetch('/ui/icon.svg')).text();
          const drawn = async (source: string): Promise<Uint8ClampedArray> => {
            const image = new Image(512, 512);
            image.src = source;
            await image.decode();
            const context = Object.assign(document.createElement('canvas'), { width: 512, height: 512 }).getContext('2d');
            context?.drawImage(image, 0, 0, 512, 512);
            return context?.getImageData(0, 0, 512, 512).data ?? new Uint8ClampedArray();
          };
          const image = new Image();
          image.src = icon;
          await image.decode();
          const [one, other] = await Promise.all([drawn(icon), drawn(`data:image/svg+xml,${encodeURIComponent(isMaskable ? logo.replace(/ rx="\d+"/, '') : logo)}`)]);
          const difference = one.reduce((sum, value, index) => sum + Math.abs(value - (other[index] ?? 0)), 0) / one.length;
          return { size: `${image.naturalWidth}x${image.naturalHeight}`, difference, corner: one[3] };
        },
        [src, purpose === 'maskable'] as const,
      );
      expect(seen.size, src).to.equal(sizes);
      expect(seen.difference, src).to.be.below(ALIKE);
      expect(seen.corner, `${src}: a maskable one reaches into its corners`).to.equal(purpose === 'maskable' ? 255 : 0);
    }
  });

  it('colours what is around it as its own bar, in the theme of the system and in the chosen one', async () => {
    const shown = () =>
      page.evaluate(() => {
        const [colour] = [...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')].filter(({ media }) => matchMedia(media).matches);
        return [colour?.content, getComputedStyle(document.documentElement).getPropertyValue('--surface').trim(), document.documentElement.dataset['theme']];
      });
    const seen = new Set<string | undefined>();
    for (const [chosen, system] of [
      [undefined, 'light'],
      [undefined, 'dark'],
      ['dark', 'light'],
      ['light', 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme: system });
      await page.evaluate((theme) => (theme === undefined ? localStorage.removeItem('svc.theme') : localStorage.setItem('svc.theme', theme)), chosen);
      await page.reload();
      await page.getByLabel('API key').waitFor();
      const [around, bar, theme] = await shown();
      expect(theme).to.equal(chosen ?? system);
      expect(around, `${chosen} over ${system}`).to.equal(bar);
      seen.add(around);
    }
    expect(seen.size).to.equal(2);
    expect((await manifest()).theme_color).to.be.oneOf([...seen]);
  });

  it('reaches to the edges of a screen, and keeps clear of what lies over them', async () => {
    const debug = await page.context().newCDPSession(page);
    expect(await page.locator('meta[name="viewport"]').getAttribute('content')).to.contain('viewport-fit=cover');
    await debug.send('Emulation.setSafeAreaInsetsOverride', { insets: { top: 40, bottom: 30, left: 0, right: 0 } });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('API key').fill('sk-of-the-owner-0123456789');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    const [bar, composer] = await Promise.all(['.bar', '.composer'].map((part) => page.locator(part).boundingBox()));
    expect(bar?.y).to.be.at.least(40);
    expect((composer?.y ?? 0) + (composer?.height ?? 0)).to.be.within(700, 844 - 30);
    await page.getByRole('button', { name: 'Menu' }).click();
    const brand = await page.locator('.nav-brand').boundingBox();
    expect(brand?.y).to.be.at.least(40);
  });

  it('offers on a touch screen all that a mouse finds by pointing at it', async () => {
    ({ page } = await chromium.open('about:blank', { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } }));
    await page.goto(kernel.url);
    await page.getByLabel('API key').waitFor();
    // What only appears under a mouse is written within a query for one that can hover.
    const hidden = await page.evaluate(() => {
      const found: string[] = [];
      const read = (rules: CSSRuleList, around: string): void => {
        for (const rule of rules) {
          if (rule instanceof CSSMediaRule) read(rule.cssRules, `${around} ${rule.conditionText}`);
          else if (rule instanceof CSSStyleRule && /:hover/.test(rule.selectorText) && /opacity|visibility|display/.test(rule.style.cssText) && !/hover: ?hover/.test(around)) found.push(rule.cssText);
        }
      };
      for (const sheet of document.styleSheets) read(sheet.cssRules, '');
      return { found, hovers: matchMedia('(hover: hover)').matches };
    });
    expect(hidden).to.deep.equal({ found: [], hovers: false });
  });
});
