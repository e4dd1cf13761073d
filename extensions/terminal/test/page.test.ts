/** The terminal of the page, in a real browser: a full-screen editor runs in it, and it follows the size of the window. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useBrowser } from '@svc/test/page/browser';
import { until } from '@svc/test/clients/model-kernel';
import { logInAs, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';

const EDITOR = ['/usr/bin/vim', '/usr/bin/vi'].find((path) => existsSync(path));
const config = (more: string): string => `${OPEN_RATE}${person('root', 'owner')}${person('ada', 'admin')}[terminal]\nshell = "/bin/bash"\n${more}`;

describe('the terminal of the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-terminal-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  /** The frame of the screen stands in the document that runs apart from the page. */
  const screenOf = (page: Page) => page.frameLocator('iframe[title="Terminal"]').frameLocator('iframe');
  const shown = async (page: Page): Promise<string> => (await screenOf(page).locator('.xterm-accessibility-tree').innerText({ timeout: 20_000 })).replaceAll('\u00a0', ' ');
  const sees = (page: Page, pattern: RegExp): Promise<void> => until(async () => pattern.test(await shown(page)));
  const type = async (page: Page, text: string): Promise<void> => {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };

  it('runs an editor, and stty follows the size of the window', async function () {
    if (EDITOR === undefined) {
      Object.assign(this.test ?? {}, { skipReason: 'no vim here' });
      this.skip();
    }
    const kernel = await bootTestKernel({ config: config('enabled = true\n'), env: { HOME: folder } });
    const { page, mistakes } = await chromium.open(`${kernel.url}/#/terminal`);
    await logInAs(page, 'root');
    await page.getByRole('button', { name: 'Open a shell' }).click();
    await page.getByText('/bin/bash (process').waitFor();
    await screenOf(page).locator('.xterm-helper-textarea').focus();

    await type(page, `${EDITOR} -u NONE -N note.txt`);
    await sees(page, /~[\s\S]*~[\s\S]*note\.txt/);
    await page.keyboard.type('iwritten in the page');
    await page.keyboard.press('Escape');
    await type(page, ':wq');
    // What is typed before the shell has its terminal back goes to the editor, which throws it away.
    await sees(page, /-N note\.txt\s*\n[^\n]*[#$]/);
    expect(await readFile(join(folder, 'note.txt'), 'utf8')).to.equal('written in the page\n');

    const size = async (name: string): Promise<[number, number]> => {
      await type(page, `clear; echo ${name}=$(stty size)=`);
      const pattern = new RegExp(`${name}=(\\d+) (\\d+)=`);
      await sees(page, pattern);
      const [, rows, cols] = pattern.exec(await shown(page)) ?? [];
      return [Number(rows), Number(cols)];
    };
    const wide = await size('wide');
    await page.setViewportSize({ width: 700, height: 800 });
    let narrow: [number, number] = wide;
    for (let tries = 0; narrow[1] === wide[1] && tries < 20; tries += 1) narrow = await size(`narrow${tries}`);
    expect(narrow[1]).to.be.below(wide[1]).and.above(20);
    expect(mistakes.filter((text) => !/401|Unauthorized/.test(text))).to.deep.equal([]);
  });

  it('says that it is off, and opens no socket', async () => {
    const kernel = await bootTestKernel({ config: config('') });
    const { page } = await chromium.open(`${kernel.url}/#/terminal`);
    await logInAs(page, 'root');
    await page.getByText('The terminal is switched off.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Open a shell' }).count()).to.equal(0);
    const answers = await page.evaluate(async () => [
      (await fetch('/api/terminal/health')).status,
      await new Promise((resolve) => (new WebSocket('/api/terminal/ws').onclose = ({ code }) => resolve(code))),
    ]);
    expect(answers).to.deep.equal([403, 1006]);
  });
});
