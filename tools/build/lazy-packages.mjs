/**
 * Packages that lie outside of an extension's bundle are loaded when the first of their names is used: a start needs none of
 * them. What they export is asked of the package at hand, as it is at run time. One whose default export is called, not
 * read, cannot be loaded this way.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRoot, ROOT } from './paths.mjs';

const NAME = /^[A-Za-z_$][\w$]*$/;
const NAMESPACE = 'lazy-package';

const moduleOf = (name, names) =>
  [
    `const loaded = () => require(${JSON.stringify(name)});`,
    `for (const name of ${JSON.stringify(names)}) Object.defineProperty(module.exports, name, { enumerable: true, get: () => loaded()[name] });`,
  ].join('\n');

export const lazyPackages = (dir, packages) => ({
  name: 'lazy-packages',
  setup(build) {
    const required = createRequire(path.join(inRoot(dir), 'package.json'));
    build.onResolve({ filter: /^[^./]/ }, ({ kind, path: name }) => (kind === 'import-statement' && packages.includes(name) ? { path: name, namespace: NAMESPACE } : undefined));
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path: name }) => {
      const exported = await import(pathToFileURL(required.resolve(name)).href);
      const names = [...new Set([...Object.keys(exported), ...Object.keys(exported.default ?? {})])].filter((one) => NAME.test(one) && one !== 'default');
      return { contents: moduleOf(name, names), resolveDir: ROOT, loader: 'js' };
    });
  },
});
