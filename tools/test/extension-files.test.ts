/** What the build makes of an extension beside its code: static files, pages and panels. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { writeAssets } from '../build/assets.mjs';
import { bundlePage, bundlePanels, panelFiles } from '../build/browser.mjs';
import { DIST, fromRoot, inRoot } from '../build/paths.mjs';

describe('what the build makes beside the code of an extension', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(DIST, '.beside-'));
    await mkdir(path.join(dir, 'page'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('are the files that package.json names, as they are and compressed', async () => {
    const text = 'const it = 1;\n'.repeat(100);
    await writeFile(path.join(dir, 'source.js'), text);
    await writeFile(path.join(dir, 'package.json'), JSON.stringify({ assets: { 'named.js': './source.js' } }));
    const { outputs } = await writeAssets({ dir: fromRoot(dir), outdir: fromRoot(dir) });
    expect(outputs.map((file: string) => path.basename(file))).to.deep.equal(['named.js', 'named.js.gz', 'named.js.br']);
    const [plain, gz, br] = await Promise.all(outputs.map((file: string) => readFile(inRoot(file))));
    expect([plain, gunzipSync(gz), brotliDecompressSync(br)].map(String)).to.deep.equal([text, text, text]);
    expect(gz.length).to.be.below(plain.length);
  });

  it('is nothing where none are named, and a name that leads nowhere is an error', async () => {
    await writeFile(path.join(dir, 'package.json'), '{}');
    expect((await writeAssets({ dir: fromRoot(dir), outdir: fromRoot(dir) })).outputs).to.deep.equal([]);
    await writeFile(path.join(dir, 'package.json'), JSON.stringify({ assets: { 'a.js': 'no-such-package/a.js' } }));
    const failed = await writeAssets({ dir: fromRoot(dir), outdir: fromRoot(dir) }).catch((error: Error) => error);
    expect(String(failed)).to.contain('no-such-package/a.js');
  });

  it('is a file of the extension itself, which the build then knows', async () => {
    await writeFile(path.join(dir, 'page/app.webmanifest'), '{"name":"board"}');
    await writeFile(path.join(dir, 'package.json'), JSON.stringify({ assets: { 'app.webmanifest': './page/app.webmanifest' } }));
    const { inputs, outputs } = await writeAssets({ dir: fromRoot(dir), outdir: fromRoot(dir) });
    expect(inputs).to.deep.equal([`${fromRoot(dir)}/page/app.webmanifest`]);
    expect(outputs.map((file: string) => path.basename(file))).to.include('app.webmanifest');
    expect(await readFile(path.join(dir, 'assets/app.webmanifest'), 'utf8')).to.equal('{"name":"board"}');
  });

  it('is a page whose script has what it uses of the kit in it, where the kit is not of the same extension', async () => {
    await writeFile(path.join(dir, 'page/board.tsx'), "import { render } from '@svc/kit';\nrender(<p>said by the page</p>, document.body);\n");
    await writeFile(path.join(dir, 'package.json'), JSON.stringify({ page: { 'board.js': 'page/board.tsx' } }));
    const { inputs } = await bundlePage({ dir: fromRoot(dir), outdir: fromRoot(dir) });
    const text = await readFile(path.join(dir, 'assets/board.js'), 'utf8');
    expect(text)
      .to.contain('said by the page')
      .and.not.contain('/ui/kit.js')
      .and.not.match(/\bfrom ?"/);
    expect(inputs)
      .to.include(`${fromRoot(dir)}/page/board.tsx`)
      .and.to.include('kernel/kit/src/index.ts');
  });

  it('is each panel as a chunk of its own with a hash in its name, which takes the kit from its address', async () => {
    await mkdir(path.join(dir, 'panels'));
    await writeFile(path.join(dir, 'panels/board.panel.tsx'), "import './board.css';\nimport { definePanel } from '@svc/kit';\nexport const panel = definePanel({ view: () => <p>a board</p> });\n");
    await writeFile(path.join(dir, 'panels/board.css'), '.board { color: red; }\n');
    const target = { dir: fromRoot(dir), outdir: fromRoot(dir) };
    await bundlePanels(target, { panels: [{ id: 'board' }] });
    const first = panelFiles(target).board;
    expect(first.script).to.match(/^board\.panel-[A-Z0-9]{8}\.js$/);
    expect(first.style).to.match(/^board\.panel-[A-Z0-9]{8}\.css$/);
    const text = await readFile(path.join(dir, 'panels', first.script), 'utf8');
    expect(text).to.contain('"/ui/kit.js"').and.contain('a board').and.contain('as panel').and.not.contain('@svc/kit');
    expect(String(brotliDecompressSync(await readFile(path.join(dir, 'panels', `${first.script}.br`))))).to.equal(text);
    await writeFile(path.join(dir, 'panels/board.panel.tsx'), "import { definePanel } from '@svc/kit';\nexport const panel = definePanel({ view: () => <p>another board</p> });\n");
    await bundlePanels(target, { panels: [{ id: 'board' }] });
    expect(panelFiles(target).board.script).to.not.equal(first.script);
    expect(panelFiles(target).board.style).to.equal(undefined);
  });
});
