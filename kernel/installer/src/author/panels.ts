/** One module for each panel, with all that it needs in it: it runs in a frame that loads nothing else. A style sheet comes beside it where it imports one. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@svc/api/internal';
import { type Bundler, explained } from './bundle.js';
import { authorErrors } from './errors.js';

const PANELS = 'dist/panels';
const ENDS = ['ts', 'tsx', 'js', 'jsx'];

/** Resolves with the source files that went in. Rejects with `author_no_extension` where the source of a panel is missing, and with `author_bundle`. */
export const bundlePanels = async (dir: string, { panels = [] }: Pick<Manifest, 'panels'>, bundler: Bundler): Promise<readonly string[]> => {
  await rm(join(dir, PANELS), { recursive: true, force: true });
  // The page draws those of collections itself.
  const sources = await Promise.all(panels.filter(({ collection }) => collection === undefined).map(({ id }) => bundlePanel(dir, id, bundler)));
  return sources.flat();
};

const bundlePanel = async (dir: string, id: string, bundler: Bundler): Promise<string[]> => {
  const files = ENDS.map((end) => `panels/${id}.panel.${end}`);
  const entry = files.find((file) => existsSync(join(dir, file)));
  if (entry === undefined) throw authorErrors.no_extension(dir, `panels/${id}.panel.ts`);
  try {
    const { metafile } = await bundler.build({
      absWorkingDir: dir,
      entryPoints: [entry],
      outfile: `${PANELS}/${id}.js`,
      bundle: true,
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      charset: 'utf8',
      // What it draws with may be large; pictures come along.
      minify: true,
      loader: { '.svg': 'dataurl', '.png': 'dataurl', '.woff2': 'dataurl' },
      legalComments: 'inline',
      metafile: true,
      logLevel: 'silent',
    });
    return Object.keys(metafile?.inputs ?? {}).filter((file) => !file.includes('node_modules'));
  } catch (error) {
    throw explained(error);
  }
};
