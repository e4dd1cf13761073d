/**
 * What runs in a browser as modules: the page with its kit, and the panels that extensions bring.
 *
 *   "page": { "shell.js": "page/shell.tsx" }      of package.json: to dist/ext/<id>/assets, under that name
 *   "frames": { "diagrams.js": "page/diagrams.ts" }  the same for a frame without an origin: one file that imports nothing
 *   "panels": [{ "id": "logs", … }]               of extension.json: panels/logs.panel.tsx to dist/ext/<id>/panels
 *
 * A panel is a chunk with a hash in its name, and what it loads later are more of them; the kit is one module for all, at
 * the address KIT, so that they share one state and one set of components.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { writeCompressed } from './compressed.mjs';
import { inRoot, ROOT } from './paths.mjs';

/** Where the page serves it. */
const KIT = '/ui/kit.js';
const KIT_NAME = 'kit.js';

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  jsx: 'automatic',
  jsxImportSource: '@svc/kit',
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'silent',
};

/** What is drawn from schemas comes with the first panel that asks for it. */
const COLLECTION = '/ui/collection.js';

/** Everybody but the kit itself takes it from its address. */
const sharedKit = {
  name: 'shared-kit',
  setup(build) {
    build.onResolve({ filter: /^@svc\/kit(\/jsx-runtime)?$/ }, () => ({ path: KIT, external: true }));
    build.onResolve({ filter: /^@svc\/kit\/collection$/ }, ({ kind }) => (kind === 'entry-point' ? undefined : { path: COLLECTION, external: true }));
  },
};

const ownInputs = (metafile) => Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules') && !file.includes(':'));

const bundle = async (entryPoints, outdir, more) => {
  const built = await esbuild.build({ ...OPTIONS, entryPoints, outdir: inRoot(outdir), chunkNames: 'chunk-[hash]', ...more });
  const outputs = await Promise.all(built.outputFiles.map(({ path: file, contents }) => writeCompressed(outdir, path.basename(file), contents)));
  return { inputs: ownInputs(built.metafile), outputs: outputs.flat(), metafile: built.metafile };
};

/** The modules of a page, under the names that it gives them. */
export const bundlePage = async (target) => {
  const { page = {}, frames = {} } = createRequire(import.meta.url)(inRoot(target.dir, 'package.json'));
  const outdir = `${target.outdir}/assets`;
  const entry = ([name, source]) => ({ out: name.replace(/\.(js|css)$/, ''), in: source.startsWith('@') ? source : inRoot(target.dir, source) });
  const kit = Object.entries(page).filter(([name]) => name === KIT_NAME);
  const rest = Object.entries(page).filter(([name]) => name !== KIT_NAME);
  const alone = [...kit, ...Object.entries(frames)];
  // A page by itself has what it uses of the kit in its own script: the address of the kit is that of another extension.
  const shared = kit.length ? { plugins: [sharedKit] } : {};
  const parts = await Promise.all([...(alone.length ? [bundle(alone.map(entry), outdir, { splitting: false })] : []), ...(rest.length ? [bundle(rest.map(entry), outdir, shared)] : [])]);
  return { inputs: parts.flatMap((part) => part.inputs), outputs: parts.flatMap((part) => part.outputs) };
};

export const panelSource = (target, { id }) => `${target.dir}/panels/${id}.panel.tsx`;

const INDEX = 'index.json';

/** The names of each panel's files, by its id: written beside them. */
export const bundlePanels = async (target, manifest) => {
  // The page draws those of collections itself; a file beside says what is drawn by hand in one.
  const panels = (manifest.panels ?? []).filter((panel) => panel.collection === undefined || existsSync(inRoot(panelSource(target, panel))));
  if (panels.length === 0) return { inputs: [], outputs: [] };
  const sources = panels.map((panel) => panelSource(target, panel));
  const outdir = `${target.outdir}/panels`;
  const { inputs, outputs, metafile } = await bundle(sources, outdir, { entryNames: '[name]-[hash]', plugins: [sharedKit] });
  const files = Object.fromEntries(
    panels.map(({ id }, index) => {
      const [script, { cssBundle }] = Object.entries(metafile.outputs).find(([, made]) => made.entryPoint === sources[index]);
      return [id, { script: path.basename(script), ...(cssBundle ? { style: path.basename(cssBundle) } : {}) }];
    }),
  );
  mkdirSync(inRoot(outdir), { recursive: true });
  writeFileSync(inRoot(outdir, INDEX), JSON.stringify(files));
  return { inputs, outputs: [...outputs, `${outdir}/${INDEX}`] };
};

/** What bundlePanels wrote; undefined where the extension has none. */
export const panelFiles = (target) => {
  const file = inRoot(target.outdir, 'panels', INDEX);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
};
