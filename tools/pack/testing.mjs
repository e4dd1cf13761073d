/** @svc/testing: the daemon of @svc/cli inside a test, and the contract suite. Its types name nothing of the kernel. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleLibrary } from '../build/bundler.mjs';
import { OUTSIDE } from './cli.mjs';
import { rangeOf, versionOf } from './dependencies.mjs';
import { writeTypes } from './declarations.mjs';

/** Of the declarations that the compiler writes, those that a program outside sees. */
const DECLARATIONS = ['outside/index', 'outside/contract', 'outside/kernel', 'outside/model', 'test-http'];

const copyTypes = async (folder) => {
  const all = mkdtempSync(path.join(tmpdir(), 'svc-types-'));
  try {
    await writeTypes('kernel/testing/tsconfig.pack.json', all);
    for (const name of DECLARATIONS) {
      const file = path.join(all, 'kernel/testing/src', `${name}.d.ts`);
      const orphan = /from '(\.[^']+)\.js'|import\("([^"]+)"\)/g;
      for (const [, relative, other] of readFileSync(file, 'utf8').matchAll(orphan)) {
        const target = other ?? path.posix.join(path.posix.dirname(name), relative);
        if (!DECLARATIONS.includes(target)) throw new Error(`the types of @svc/testing name ${target}, which is not packed: write the type out in kernel/testing/src/outside`);
      }
      cpSync(file, path.join(folder, 'types', `${name}.d.ts`));
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
};

export const fillTesting = async (folder) => {
  await bundleLibrary({
    entries: { index: 'kernel/testing/src/outside/index.ts', contract: 'kernel/testing/src/outside/contract-of-folder.ts' },
    outdir: path.join(folder, 'dist'),
    format: 'esm',
    external: ['mocha', '@svc/cli', 'esbuild'],
  });
  await copyTypes(folder);
  return {
    type: 'module',
    exports: { '.': { types: './types/outside/index.d.ts', default: './dist/index.js' }, './contract': './dist/contract.js', './package.json': './package.json' },
    files: ['dist', 'types'],
    dependencies: Object.fromEntries([
      ['@svc/api', versionOf('api')],
      ['@svc/cli', versionOf('cli')],
      ['esbuild', rangeOf('esbuild', ['.'])],
      ...['@types/mocha', '@types/node'].map((name) => [name, rangeOf(name, ['.'])]),
      ['mocha', rangeOf('mocha', ['kernel/testing'])],
      ...OUTSIDE.map((name) => [name, rangeOf(name, ['kernel/platform'])]),
    ]),
  };
};
