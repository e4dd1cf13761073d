/** dist/client: @svc/client as a package of plain ES modules with their types, for whoever is not in this checkout. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { inRoot } from '../build/paths.mjs';

const OUT = inRoot('dist/client');
export const ENTRIES = ['index', 'stream', 'chat', 'live', 'node-http'];

export const packClient = async () => {
  rmSync(OUT, { recursive: true, force: true });
  const { dependencies, description, license, version } = JSON.parse(readFileSync(inRoot('kernel/client/package.json'), 'utf8'));
  await esbuild.build({
    absWorkingDir: inRoot(),
    entryPoints: ENTRIES.map((name) => `kernel/client/src/${name}.ts`),
    outdir: OUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    external: ['node:*', ...Object.keys(dependencies)],
    logLevel: 'silent',
  });
  await promisify(execFile)(process.execPath, [inRoot('node_modules/typescript/bin/tsc'), ...['-p', inRoot('kernel/client/tsconfig.pack.json'), '--outDir', OUT]]);
  const exports = Object.fromEntries(ENTRIES.map((name) => [name === 'index' ? '.' : `./${name}`, { types: `./${name}.d.ts`, default: `./${name}.js` }]));
  const manifest = { name: '@svc/client', version, description, license, type: 'module', sideEffects: false, engines: { node: '>=20.19' }, exports, dependencies };
  writeFileSync(`${OUT}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(inRoot('kernel/client/README.md'), `${OUT}/README.md`);
  return 'dist/client';
};
