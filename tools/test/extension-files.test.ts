/** What the build makes of an extension beside its code: static files, and scripts of pages. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import * as esbuild from 'esbuild';
import { writeAssets } from '../build/assets.mjs';
import { bundlePanels, panelFiles } from '../build/browser.mjs';
import { pageScripts } from '../build/page-scripts.mjs';
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

  it('is the text of a script with all that it imports, for browsers, and the build knows the files it read', async () => {
    await writeFile(path.join(dir, 'page/words.ts'), "export const word: string = 'said by the page';\n");
    await writeFile(path.join(dir, 'page/board.client.ts'), "import { word } from './words.js';\ndocument.title = word;\n");
    await writeFile(path.join(dir, 'index.ts'), "import script from 'page:./page/board.client.ts';\nexport const text: string = script;\n");
    const pages = pageScripts();
    const built = await esbuild.build({ entryPoints: [path.join(dir, 'index.ts')], bundle: true, write: false, format: 'cjs', platform: 'node', plugins: [pages.plugin], logLevel: 'silent' });
    const module: { exports: { text?: string } } = { exports: {} };
    new Function('module', 'exports', built.outputFiles[0]?.text ?? '')(module, module.exports);
    expect(module.exports.text).to.contain('document.title=').and.contain('said by the page').and.not.contain('import');
    expect(pages.inputs.sort()).to.deep.equal(['board.client.ts', 'words.ts'].map((name) => `${fromRoot(dir)}/page/${name}`));
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
