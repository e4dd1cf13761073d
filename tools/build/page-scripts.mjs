/**
 * Scripts of pages: `import script from 'page:./page/board.client.ts'` is the text of that file and of what it imports
 * (@svc/client, say), as one script for browsers. What a page runs is never part of what the daemon runs.
 */
import path from 'node:path';
import * as esbuild from 'esbuild';
import { fromRoot, inRoot } from './paths.mjs';

const OPTIONS = {
  absWorkingDir: inRoot(),
  bundle: true,
  write: false,
  metafile: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'silent',
};

/** The plugin, and the files it read: the bundle that takes them in as text does not know of them. */
export const pageScripts = () => {
  const inputs = [];
  const plugin = {
    name: 'page-scripts',
    setup(build) {
      build.onResolve({ filter: /^page:/ }, ({ path: name, resolveDir }) => ({ path: fromRoot(path.resolve(resolveDir, name.slice('page:'.length))), namespace: 'page' }));
      build.onLoad({ filter: /.*/, namespace: 'page' }, async ({ path: file }) => {
        const built = await esbuild.build({ ...OPTIONS, entryPoints: [file] });
        inputs.push(...Object.keys(built.metafile.inputs).filter((input) => !input.includes('node_modules')));
        return { contents: built.outputFiles[0].text, loader: 'text' };
      });
    },
  };
  return { plugin, inputs };
};
