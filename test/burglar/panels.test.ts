/** A panel from elsewhere, in a real browser, against the page around it. What else it tries in vain: extensions/webchat/test/framed.test.ts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { useBrowser } from '../page/browser.js';

const ID = 'acme-garden';

describe('a panel from elsewhere', function () {
  this.timeout(120_000);
  const chromium = useBrowser();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-panels-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  const boot = async (id: string, code: string): Promise<TestKernel> => {
    await writeFile(join(folder, 'garden.js'), code);
    const panel = { id, title: { en: 'Garden', zh: '花园' }, icon: 'leaf', place: 'talk', order: 0, permission: 'acme_garden.read' } as const;
    const garden = {
      ...fixtureExtension({ id: ID, manifest: { panels: [panel] }, definition: { activate: () => undefined } }),
      bundled: false,
      panels: { folder, files: { [id]: { script: 'garden.js' } } },
    };
    return bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`, extra: [garden] });
  };

  it('takes no place of a panel of svc by its id', async () => {
    const kernel = await boot('overview', 'document.title = "mine";');
    const { panels } = (await kernel.http.expect(200, 'GET', '/api/panels')).body;
    expect(panels.filter(({ id }: { id: string }) => id === 'overview').map(({ extension }: { extension: string }) => extension)).to.deep.equal(['system']);
  });

  for (const [what, code] of [
    [
      'sends to the page itself, past its channel, without end',
      'const more = () => { for (let n = 0; n < 1_000; n++) parent.postMessage({ svc: "panel", type: "go", path: ["x"], n }, "*"); setTimeout(more, 0); }; more();',
    ],
    ['takes its processor for itself', 'setTimeout(() => { for (;;); }, 500);'],
    [
      'registers a worker, frames the page, and asks for what a person must allow',
      'try { void navigator.serviceWorker.register("/ui/shell.js"); } catch {} const f = document.createElement("iframe"); f.src = "/"; document.body.append(f); void Notification?.requestPermission?.(); try { void document.body.requestFullscreen(); } catch {}',
    ],
  ] as const)
    it(`${what}: the page goes on`, async () => {
      const kernel = await boot('garden', code);
      const { page } = await chromium.open(`${kernel.url}/#/garden`);
      await page.locator('iframe.panel-frame').waitFor();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await page.evaluate('location.hash')).to.equal('#/garden');
      await page.evaluate('location.hash = "#/chat"');
      await page.locator('iframe.panel-frame').waitFor({ state: 'detached', timeout: 60_000 });
      expect(await page.evaluate('navigator.serviceWorker.getRegistrations().then((all) => all.length)')).to.equal(0);
      expect(page.context().pages()).to.have.length(1);
      const inner = page.frames().map((frame) => frame.url());
      expect(inner.filter((url) => url === `${kernel.url}/`)).to.deep.equal([]);
    });
});
