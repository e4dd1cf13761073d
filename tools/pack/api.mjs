/** @svc/api: one CommonJS file, which the bundle of an extension requires, and a module that names what is in it: one instance for both. */
import { cpSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundleLibrary } from '../build/bundler.mjs';
import { inRoot } from '../build/paths.mjs';
import { dependenciesOf } from './dependencies.mjs';
import { writeTypes } from './declarations.mjs';

const PAGES = ['REFERENCE.md', 'VERSIONS.md'];

export const fillApi = async (folder) => {
  const dependencies = dependenciesOf('api');
  const file = path.join(folder, 'dist/index.cjs');
  await bundleLibrary({ entries: { index: 'kernel/api/src/index.ts' }, outdir: path.dirname(file), format: 'cjs', external: Object.keys(dependencies) });
  const names = Object.keys(createRequire(inRoot('package.json'))(file)).sort();
  writeFileSync(path.join(folder, 'dist/index.mjs'), `import api from './index.cjs';\n\nexport const { ${names.join(', ')} } = api;\n`);
  await writeTypes('kernel/api/tsconfig.pack.json', path.join(folder, 'types'));
  // A module that imports it gets the same declarations: there is one instance.
  writeFileSync(path.join(folder, 'types/index.d.mts'), "export * from './index.js';\n");
  for (const page of PAGES) cpSync(inRoot('kernel/api', page), path.join(folder, page));
  return {
    type: 'commonjs',
    sideEffects: false,
    main: './dist/index.cjs',
    types: './types/index.d.ts',
    exports: {
      '.': { import: { types: './types/index.d.mts', default: './dist/index.mjs' }, require: { types: './types/index.d.ts', default: './dist/index.cjs' } },
      './package.json': './package.json',
    },
    files: ['dist', 'types', ...PAGES],
    dependencies,
  };
};
