/** The panel of files, used as a person uses it; what it did is seen at the API. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, keyOf, logInAs, person } from '@svc/test/page/callers';
import { pdfOf, PNG } from '../files-kit.js';

describe('the panel of files', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let agent: string;
  let owl: string;
  before(async () => {
    kernel = await bootTestKernel();
    agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.items[0].id;
    owl = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'owl' } })).body.agent_id;
  });
  after(stopTestKernels);

  const at = (name: string, of = agent): string => `/api/agents/${of}/files/${encodeURIComponent(name)}`;
  const put = async (name: string, content: string | Buffer): Promise<string> =>
    (await kernel.http.expect(200, 'PUT', at(name), typeof content === 'string' ? { content } : { content: content.toString('base64'), encoding: 'base64' })).body.rev;
  const contentOf = async (name: string): Promise<string> => (await kernel.http.expect(200, 'GET', at(name))).body.content;
  const open = async (path = ''): Promise<Page> => (await chromium.open(`${kernel.url}/#/files${path}`)).page;
  const save = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  };

  it('leads from the agents to a folder and the folders in it, each with an address, and says when there is nothing', async () => {
    await put('docs/deep/plan.md', '# Plan\n');
    await put('docs/notes 100%.txt', 'x');
    await put('SOUL.md', 'Calm.');
    await put(`${'long-name-'.repeat(20)}.txt`, 'x');
    const page = await open();
    await expectWellMade(page, 'files agents');
    await page.getByRole('searchbox').fill('owl');
    await page.getByRole('link', { name: 'owl', exact: true }).click();
    await page.getByRole('heading', { name: 'No files yet' }).waitFor();
    await expectWellMade(page, 'files empty');

    await page.goto(`${kernel.url}/#/files/${agent}`);
    await page.getByRole('row', { name: /docs\s+2 files/ }).waitFor();
    await page.getByText('identity file', { exact: true }).waitFor();
    await expectWellMade(page, 'files folder');
    await page.getByRole('link', { name: 'docs', exact: true }).click();
    await page.getByRole('link', { name: 'notes 100%.txt' }).click();
    await page.getByRole('textbox', { name: 'Text of docs/notes 100%.txt' }).waitFor();
    await page.reload();
    await page.getByRole('textbox', { name: 'Text of docs/notes 100%.txt' }).waitFor();
    await page.getByRole('navigation', { name: 'Current folder' }).getByRole('link', { name: 'docs' }).click();
    await page.getByRole('link', { name: 'deep', exact: true }).waitFor();
  });

  it('colours code while one types it, under the very letters that are typed, and leaves alone what it does not know', async () => {
    const line = `const tea = "green"; // ${'long '.repeat(60)}\n`;
    await put('src/tea.ts', line.repeat(80));
    await put('odd.xyz', 'const tea = 1;\n');
    await put('huge.ts', line.repeat(200));
    const page = await open(`/${agent}/src/tea.ts`);
    const text = page.getByRole('textbox', { name: 'Text of src/tea.ts' });
    const colours = page.locator('.coloured-code');
    await colours.locator('.hljs-keyword').first().waitFor();
    await expectWellMade(page, 'files in colours');
    for (const end of [0, 1]) {
      await text.evaluate((field, to) => field.scrollTo({ top: to * field.scrollHeight, left: to * field.scrollWidth }), end);
      const places = await page.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return ['.coloured textarea', '.coloured-code'].map((one) => [document.querySelector(one)?.scrollTop, document.querySelector(one)?.scrollLeft]);
      });
      expect(places[0]).to.deep.equal(places[1]);
      if (end === 1) expect(Math.min(...places.flat().map(Number))).to.be.above(100);
    }
    await text.fill('let cup = 1;\nif (cup) {}\n');
    expect(await colours.innerText()).to.contain('if (cup)');
    expect(await colours.locator('.hljs-keyword').allInnerTexts()).to.deep.equal(['let', 'if']);
    for (const name of ['odd.xyz', 'huge.ts']) {
      await page.goto(`${kernel.url}/#/files/${agent}/${name}`);
      const field = page.getByRole('textbox', { name: `Text of ${name}` });
      await field.waitFor();
      expect(await field.evaluate((one) => getComputedStyle(one).webkitTextFillColor), name).to.not.equal('rgba(0, 0, 0, 0)');
      expect(await colours.count(), name).to.equal(0);
    }
  });

  it('saves a text after showing the difference, in the lines that it had', async () => {
    await put('windows.ini', '[a]\r\nb=1\r\n');
    const page = await open(`/${agent}/windows.ini`);
    const text = page.getByRole('textbox', { name: 'Text of windows.ini' });
    await text.fill('[a]\nb=2\n');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('region', { name: 'Diff' }).getByText('b=2').waitFor();
    await expectWellMade(page, 'files review');
    expect(await contentOf('windows.ini')).to.equal('[a]\r\nb=1\r\n');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('windows.ini was saved.').waitFor();
    expect(await contentOf('windows.ini')).to.equal('[a]\r\nb=2\r\n');
  });

  it('tells the second of two who edit one file, shows what was changed, and loses neither', async () => {
    await put('shared.md', 'one\n');
    const one = await open(`/${agent}/shared.md`);
    const two = await one.context().newPage();
    await two.goto(one.url());
    await two.getByRole('textbox', { name: /shared/ }).fill('one\nof the second\n');
    await one.getByRole('textbox', { name: /shared/ }).fill('of the first\n');
    await save(one);
    await one.getByText('shared.md was saved.').waitFor();
    const elsewhere = two.getByRole('region', { name: 'Their changes' });
    // It hears of it by itself, mostly; where it did not, its saving is refused.
    const isReported = await elsewhere.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    if (!isReported) await save(two);
    await elsewhere.getByText('of the first').waitFor();
    await expectWellMade(two, 'files conflict');
    expect(await contentOf('shared.md')).to.equal('of the first\n');
    await two.getByRole('button', { name: 'Keep mine and merge' }).click();
    await save(two);
    await two.getByText('shared.md was saved.').waitFor();
    expect(await contentOf('shared.md')).to.equal('one\nof the second\n');
  });

  it('keeps what was typed into a file that was deleted meanwhile, and makes it anew when it is saved', async () => {
    await put('fleeting.txt', 'old');
    const page = await open(`/${agent}/fleeting.txt`);
    await page.getByRole('textbox', { name: /fleeting/ }).fill('mine');
    await kernel.http.expect(200, 'DELETE', at('fleeting.txt'));
    await page.getByText('This file was deleted elsewhere').waitFor();
    await save(page);
    await page.getByText('fleeting.txt was saved.').waitFor();
    expect(await contentOf('fleeting.txt')).to.equal('mine');
  });

  it('draws pictures, and says plainly what it cannot show', async () => {
    await put('dot.png', PNG);
    await put('broken.png', 'no picture');
    await put('paper.pdf', pdfOf('hello'));
    await put('raw.bin', Buffer.from([0, 1, 2, 255]));
    const page = await open(`/${agent}/dot.png`);
    const picture = page.getByRole('img', { name: 'Image dot.png' });
    await picture.waitFor();
    expect(await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth))).to.equal(1);
    await expectWellMade(page, 'files picture');
    for (const [name, why] of [
      ['broken.png', 'cannot display this image'],
      ['paper.pdf', 'PDFs cannot be displayed'],
      ['raw.bin', 'is neither text nor an image'],
    ] as const) {
      await page.goto(`${kernel.url}/#/files/${agent}/${name}`);
      await page.getByText(why).waitFor();
    }
    await expectWellMade(page, 'files cannot');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).to.equal('raw.bin');
    await page.goto(`${kernel.url}/#/files/${agent}/nothing.txt`);
    await page.getByRole('heading', { name: 'File not found' }).waitFor();
  });

  it('makes a new file, where there is none of that name, and deletes one only when that was confirmed', async () => {
    await put('taken.txt', 'mine');
    const page = await open(`/${agent}`);
    await page.getByRole('button', { name: 'New file' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('taken.txt');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('A file with this name already exists.').waitFor();
    await name.fill('../escape');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('leads out of the workspace').waitFor();
    await expectWellMade(page, 'files new');
    await name.fill('fresh/start.md');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('textbox', { name: 'Text of fresh/start.md' }).waitFor();
    expect([await contentOf('taken.txt'), await contentOf('fresh/start.md')]).to.deep.equal(['mine', '']);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await contentOf('fresh/start.md')).to.equal('');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete start.md' }).click();
    await page.getByText('fresh/start.md was deleted.').waitFor();
    await page.getByRole('link', { name: 'taken.txt' }).waitFor();
    expect((await kernel.http.get(at('fresh/start.md'))).status).to.equal(404);
  });

  it('uploads by button and by drop, and replaces nothing that it was not told to', async () => {
    await put('box/there.txt', 'first');
    const page = await open(`/${agent}/box`);
    const chosen = [
      { name: 'there.txt', mimeType: 'text/plain', buffer: Buffer.from('second') },
      { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
      { name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_048_577) },
    ];
    const files = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload' }).click();
    await (await files).setFiles(chosen);
    await page.getByRole('button', { name: 'Cancel' }).click();
    const list = page.getByRole('region', { name: 'Uploads' });
    await list.getByText('the limit here is').waitFor();
    expect(await list.getByRole('listitem').allTextContents()).to.satisfy((texts: string[]) => /skipped/.test(texts[0] ?? '') && /uploaded/.test(texts[1] ?? '') && /huge/.test(texts[2] ?? ''));
    await expectWellMade(page, 'files uploads');
    expect([await contentOf('box/there.txt'), await contentOf('box/dot.png')]).to.deep.equal(['first', PNG.toString('base64')]);

    const dropped = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['third'], 'there.txt'));
      return data;
    });
    await page.locator('.folder').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByRole('button', { name: 'Replace' }).click();
    await list.getByText('there.txt uploaded').waitFor();
    expect(await contentOf('box/there.txt')).to.equal('third');
  });

  it('says that its area was switched off, and keeps what was typed', async () => {
    await put('kept.txt', 'old');
    const page = await open(`/${agent}/kept.txt`);
    await page.getByRole('textbox', { name: /kept/ }).fill('typed');
    await kernel.http.expect(200, 'POST', '/api/extensions/files/disable');
    await page.getByText('Panel not available').waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/files/enable');
    await page.getByRole('textbox', { name: /kept/ }).waitFor();
    expect(await page.getByRole('textbox', { name: /kept/ }).inputValue()).to.equal('typed');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('kept.txt was saved.').waitFor();
    expect(await contentOf('kept.txt')).to.equal('typed');
  });

  it('opens a file that a long list leaves out, by its path', async () => {
    const folder = join(kernel.home, 'workspaces', owl, 'many');
    await mkdir(folder, { recursive: true });
    await Promise.all(Array.from({ length: 1_100 }, (_, index) => writeFile(join(folder, `${index}.txt`), 'x')));
    const page = await open(`/${owl}`);
    await page.getByText('Only the first').waitFor();
    const { files } = (await kernel.http.expect(200, 'GET', `/api/agents/${owl}/files`)).body;
    const listed = new Set(files.map(({ name }: { name: string }) => name));
    const left = Array.from({ length: 1_100 }, (_, index) => `many/${index}.txt`).find((name) => !listed.has(name)) ?? '';
    await page.getByRole('textbox', { name: 'File path' }).fill(left);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('textbox', { name: `Text of ${left}` }).waitFor();
  });

  it('shows everything to who may only look, and changes nothing', async () => {
    // Without a browser it is skipped here, before anybody needs a key.
    chromium.browser();
    await configure(kernel, OPEN_RATE + person('vera', 'user'));
    const vera = kernel.as(keyOf('vera'));
    const { agent_id: id } = (await vera.expect(201, 'POST', '/api/agents', { manifest: { name: 'eagle' } })).body;
    await vera.expect(200, 'PUT', `/api/agents/${id}/files/note.txt`, { content: 'read me' });
    await configure(kernel, OPEN_RATE + person('vera', 'viewer'));
    const page = await open();
    await logInAs(page, 'vera');
    for (const name of ['New file', 'Upload']) expect(await page.getByRole('button', { name }).isDisabled(), name).to.equal(true);
    expect(await page.getByRole('button', { name: 'Upload' }).getAttribute('title')).to.equal('Your role (viewer) does not allow this.');
    await page.getByRole('link', { name: 'note.txt' }).click();
    const text = page.getByRole('textbox', { name: 'Text of note.txt' });
    expect([await text.inputValue(), await text.isEditable()]).to.deep.equal(['read me', false]);
    expect(await page.getByRole('button', { name: 'Delete' }).isDisabled()).to.equal(true);
    await expectWellMade(page, 'files of a viewer');
    await configure(kernel);
  });
});
