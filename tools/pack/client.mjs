/** @svc/client: plain ES modules with their types. Node from 20.19 on also requires them. */
import path from 'node:path';
import * as esbuild from 'esbuild';
import { inRoot } from '../build/paths.mjs';
import { writeGenerated } from '../client/generated.mjs';
import { dependenciesOf } from './dependencies.mjs';
import { writeTypes } from './declarations.mjs';

const ENTRIES = ['index', 'stream', 'chat', 'live', 'frame', 'node-http'];

export const fillClient = async (folder) => {
  await writeGenerated();
  const dependencies = dependenciesOf('client');
  const outdir = path.join(folder, 'dist');
  await esbuild.build({
    absWorkingDir: inRoot(),
    entryPoints: ENTRIES.map((name) => `kernel/client/src/${name}.ts`),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    external: ['node:*', ...Object.keys(dependencies)],
    logLevel: 'silent',
  });
  await writeTypes('kernel/client/tsconfig.pack.json', outdir);
  const exports = Object.fromEntries(ENTRIES.map((name) => [name === 'index' ? '.' : `./${name}`, { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }]));
  return { type: 'module', sideEffects: false, exports: { ...exports, './package.json': './package.json' }, files: ['dist'], dependencies };
};
