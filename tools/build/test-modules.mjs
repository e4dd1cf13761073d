/**
 * Tests, and the sources that they import, file by file: a process that runs many tests has each source once, compiled and
 * warm. As bundles each package had a kernel of its own, which loaded and ran cold.
 */
import path from 'node:path';
import * as esbuild from 'esbuild';
import { fromRoot, inRoot } from './paths.mjs';

const IS_OURS = /^(\.|@svc\/)/;

/** `kernel/core/src/a.ts` becomes `dist/test/kernel/core/src/a.js`. */
export const outputOf = (outdir, source) => `${outdir}/${source.replace(/\.ts$/, '.js')}`;

/** What a source imports of ours stays an import, of the file that is built of it; `imported` is given each of them. Texts are taken in. */
const importsStay = (outdir, imported) => ({
  name: 'imports-stay',
  setup(build) {
    build.onResolve({ filter: /.*/ }, async (args) => {
      if (args.kind === 'entry-point' || args.pluginData === importsStay) return undefined;
      if (!IS_OURS.test(args.path)) return { path: args.path, external: true };
      // What is taken in brings along what it imports.
      if (!args.importer.endsWith('.ts')) return undefined;
      const found = await build.resolve(args.path, { kind: args.kind, importer: args.importer, resolveDir: args.resolveDir, with: args.with, pluginData: importsStay });
      if (found.errors.length || !found.path.endsWith('.ts')) return found;
      const [importer, source] = [fromRoot(args.importer), fromRoot(found.path)];
      imported(importer, source);
      const relative = path.posix.relative(path.posix.dirname(outputOf(outdir, importer)), outputOf(outdir, source));
      return { path: relative.startsWith('.') ? relative : `./${relative}`, external: true };
    });
  },
});

/** Resolves with what each of the files imports of ours. */
const buildFiles = async (files, options) => {
  const imports = new Map(files.map((file) => [file, new Set()]));
  const plugins = [importsStay(options.outdir, (importer, source) => imports.get(importer)?.add(source))];
  const { metafile } = await esbuild.build({ ...options, entryPoints: files.map((file) => inRoot(file)), plugins });
  for (const { entryPoint, inputs } of Object.values(metafile.outputs))
    for (const input of Object.keys(inputs)) if (entryPoint !== undefined && input !== entryPoint) imports.get(entryPoint)?.add(input);
  return imports;
};

/** One that does not build stops only those that import it. */
const buildEach = async (files, options) => {
  try {
    return await buildFiles(files, options);
  } catch (error) {
    if (files.length === 1) throw error;
    const each = await Promise.allSettled(files.map((file) => buildFiles([file], options)));
    return new Map(each.map(({ reason, value }, index) => [files[index], value?.get(files[index]) ?? Promise.reject(reason)]));
  }
};

/** Builds `files` and all that they import, each once for all that share `built`; resolves with the sources of all. */
export const buildModules = async (files, { options, built }) => {
  const seen = new Set();
  const visit = async (sources) => {
    const found = sources.filter((file) => !seen.has(file));
    if (found.length === 0) return;
    for (const file of found) seen.add(file);
    const modules = found.filter((file) => file.endsWith('.ts') && !built.has(file));
    if (modules.length > 0) {
      const building = buildEach(modules, options);
      for (const file of modules)
        built.set(
          file,
          building.then((imports) => imports.get(file)),
        );
    }
    const imports = await Promise.all(found.map((file) => built.get(file) ?? []));
    await visit([...new Set(imports.flatMap((each) => [...each]))]);
  };
  await visit(files);
  return [...seen];
};
