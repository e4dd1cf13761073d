/** How each kind of target becomes files: esbuild's options, and the few rules that are ours. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { writeAssets } from './assets.mjs';
import { bundlePage, bundlePanels } from './browser.mjs';
import { directImports } from './direct-imports.mjs';
import { lazyPackages } from './lazy-packages.mjs';
import { fromRoot, inRoot, ROOT } from './paths.mjs';
import { buildModules, outputOf } from './test-modules.mjs';
import { unusedContracts } from './unused-contracts.mjs';

/** Files of an earlier build may still be read by a process that runs from them; after this long nobody does. */
const KEEP_OLD_MS = 10 * 60_000;

const COMMON = { absWorkingDir: ROOT, bundle: true, platform: 'node', target: 'node20', sourcemap: 'linked', legalComments: 'none', metafile: true, logLevel: 'silent', charset: 'utf8' };

/** CommonJS packages inside an ES module bundle call `require` for Node's own modules. */
const REQUIRE = "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

/** Native, or started as a file of its own, or a database driver that is not part of the release. */
const LEFT_OUTSIDE = ['sqlite3', 'piscina', 'better-sqlite3', 'mysql', 'mysql2', 'mariadb', 'oracledb', 'tedious', 'pg', 'pg-native', 'pg-query-stream', 'playwright-core'];

/** knex names its dialects by a computed path, so the bundler takes all of them along. These are never reached. */
const DIALECTS_NOT_SHIPPED = /[\\/]knex[\\/]lib[\\/]dialects[\\/](better-sqlite3|cockroachdb|mssql|mysql|mysql2|mariadb|oracle|oracledb|pgnative|redshift)[\\/]index\.js$/;

const withoutDialects = {
  name: 'without-dialects',
  setup(build) {
    build.onLoad({ filter: DIALECTS_NOT_SHIPPED }, (args) => ({
      contents: `module.exports = class { constructor() { throw new Error('The database dialect ${path.basename(path.dirname(args.path))} is not part of this release.'); } };`,
      loader: 'js',
    }));
  },
};

/**
 * koa takes along a table of all MIME types, twice, for questions that our pipeline never asks; building it is a tenth
 * of a start. Here the packages behind it are loaded when the first such question comes.
 */
const MIME_QUESTION = /^const (\w+) = require\('(accepts|type-is|mime-types)'\)(\.\w+)?$/gm;
const withoutMimeTables = {
  name: 'without-mime-tables',
  setup(build) {
    build.onLoad({ filter: /[\\/]koa[\\/]lib[\\/](request|response)\.js$/ }, (args) => {
      const source = readFileSync(args.path, 'utf8');
      const contents = source.replaceAll(MIME_QUESTION, (_, name, required, member = '') => `const ${name} = (...args) => require('${required}')${member}(...args)`);
      if (contents === source) throw new Error(`${args.path} has changed: the way it loads its MIME tables was not found`);
      return { contents, loader: 'js' };
    });
  },
};

/**
 * undici's index loads all it has, and what of it is web (fetch, cookies, sockets, mocks) loads Node's own copy of it
 * too: two thirds of its start. The fetch adapter asks for `Agent` and `buildConnector`; the rest is left out.
 */
const NOT_ASKED_FOR = /^\.\/lib\/(web|mock)\//;
const withoutWebOfUndici = {
  name: 'without-web-of-undici',
  setup(build) {
    build.onResolve({ filter: NOT_ASKED_FOR }, ({ importer, path: name }) => (/[\\/]undici[\\/]index\.js$/.test(importer) ? { path: name, namespace: 'left-out' } : undefined));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = new Proxy({}, { get: () => class LeftOutOfTheBuild {} });', loader: 'js' }));
  },
};

/** Packages that stand in files of their own beside the program are required from there. */
const packagesApart = (names) => ({
  name: 'packages-apart',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path: name }) => ({ path: `./${name}.cjs`, external: true }));
  },
});

const isEsModule = (file) => file.endsWith('.mjs') || /^\s*export\s*(?:[{*]|\s\w)/m.test(readFileSync(file, 'utf8'));

/**
 * `const { Ajv } = await import('ajv')` works in Node, which reads the names of a CommonJS package; the bundler
 * gives such a chunk a default export only. So each CommonJS package imported this way gets a module that names them.
 */
const namedDynamicImports = {
  name: 'named-dynamic-imports',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async (args) => {
      if (args.kind !== 'dynamic-import' || isBuiltin(args.path) || args.path.startsWith('@svc/') || LEFT_OUTSIDE.includes(args.path)) return undefined;
      const found = await build.resolve(args.path, { kind: 'import-statement', resolveDir: args.resolveDir, importer: args.importer });
      return found.errors.length || found.external || isEsModule(found.path) ? found : { path: fromRoot(found.path), namespace: 'named' };
    });
    // The bundle names its modules: not where this checkout lies.
    build.onLoad({ filter: /.*/, namespace: 'named' }, async ({ path: relative }) => {
      const file = inRoot(relative);
      const names = Object.keys(await import(pathToFileURL(file).href)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
      return { contents: `export { ${names.join(', ')} } from ${JSON.stringify(file)};`, resolveDir: path.dirname(file), loader: 'js' };
    });
  },
};

/** Tests take their npm packages from node_modules as they are, and the workspaces as source. */
const packagesOutside = {
  name: 'packages-outside',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, (args) => (args.kind === 'entry-point' || path.isAbsolute(args.path) || args.path.startsWith('@svc/') ? undefined : { path: args.path, external: true }));
  },
};

/** What is not there need not be read at each start; the source maps know the rest. */
const SMALLER = { minifyWhitespace: true, minifySyntax: true };
const PROGRAM_PLUGINS = [withoutDialects, withoutMimeTables, withoutWebOfUndici, namedDynamicImports];

/** `extensions/agents/cli/agent.ts` becomes `areas/agents/agent.js` beside the program. */
const areaFile = (entry) => `areas/${entry.split('/')[1]}/${path.basename(entry, '.ts')}`;

/** The program, and what areas add to it: in one build, so that both share what they load. */
const moduleOptions = (target, entry) => ({
  ...COMMON,
  ...SMALLER,
  entryPoints: [{ in: entry, out: path.basename(entry, path.extname(entry)) }, ...(entry === target.entry ? (target.entries ?? []).map((own) => ({ in: own, out: areaFile(own) })) : [])],
  outdir: target.outdir,
  format: 'esm',
  splitting: true,
  chunkNames: '[name]-[hash]',
  external: [...LEFT_OUTSIDE, ...(target.alone ?? []).map((other) => `./${path.basename(other, '.ts')}.js`)],
  plugins: [directImports, ...PROGRAM_PLUGINS],
  banner: { js: REQUIRE },
});

/** Code that is compiled once and kept cannot import: it requires, which all that is left outside can answer. */
const REQUIRES = { supported: { 'dynamic-import': false } };

/** One CommonJS file: compiled code of that kind can be kept between starts, also on Node 20. Text of one byte a letter is read fastest. */
const wholeOptions = (target) => ({
  ...COMMON,
  ...REQUIRES,
  ...SMALLER,
  charset: 'ascii',
  entryPoints: [target.whole],
  outfile: `${target.outdir}/${path.basename(target.whole, '.ts')}.cjs`,
  format: 'cjs',
  external: LEFT_OUTSIDE,
  plugins: [packagesApart(target.apart), ...PROGRAM_PLUGINS],
});

/** One file that needs no other: a process that may read nothing else runs it. */
const singleOptions = (target) => ({
  ...COMMON,
  ...REQUIRES,
  ...SMALLER,
  sourcemap: false,
  entryPoints: [target.entry],
  outfile: `${target.outdir}/program.cjs`,
  format: 'cjs',
});

const apartOptions = (target, name) => ({
  ...wholeOptions(target),
  entryPoints: undefined,
  stdin: { contents: `module.exports = require('${name}');`, resolveDir: ROOT },
  outfile: `${target.outdir}/${name}.cjs`,
  plugins: PROGRAM_PLUGINS,
});

const extensionOptions = (target, manifest) => ({
  ...COMMON,
  ...REQUIRES,
  ...SMALLER,
  charset: 'ascii',
  entryPoints: [target.entry],
  outdir: target.outdir,
  format: 'cjs',
  external: ['@svc/api', ...(manifest.hostDependencies ?? [])],
  plugins: [unusedContracts(target.dir), lazyPackages(target.dir, manifest.hostDependencies ?? [])],
});

/** A worker file is its function, whichever way the pool imports it. */
const WORKER_FOOTER = 'module.exports = Object.assign(module.exports.default, module.exports);';

const workerOptions = (target, entries) => ({
  ...COMMON,
  entryPoints: entries,
  outdir: `${target.outdir}/workers`,
  format: 'cjs',
  external: [],
  footer: { js: WORKER_FOOTER },
});

/** Beside the sources that tests load: each lies in the folder of its own name. */
const beside = (target) => ({ ...COMMON, outdir: target.outdir, outbase: '.', format: 'esm' });

const testProgramOptions = (target, entries) => ({
  ...beside(target),
  entryPoints: entries,
  splitting: true,
  chunkNames: `chunks/${target.group.replaceAll('/', '-')}/[name]-[hash]`,
  plugins: [packagesOutside],
});

const ownInputs = (metafile) => Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules') && !file.includes(':'));

/** Builds and says what went in and what came out, paths relative to the root. */
const run = async (options) => {
  const { metafile } = await esbuild.build(options);
  return { inputs: ownInputs(metafile), outputs: Object.keys(metafile.outputs), metafile };
};

const joined = (parts) => ({ inputs: parts.flatMap((part) => part.inputs), outputs: parts.flatMap((part) => part.outputs) });

export const bundleProgram = async (target) =>
  joined(
    await Promise.all([
      ...(target.isSingle ? [run(singleOptions(target))] : [target.entry, ...(target.alone ?? [])].map((entry) => run(moduleOptions(target, entry)))),
      ...(target.whole ? [wholeOptions(target), ...target.apart.map((name) => apartOptions(target, name))].map(run) : []),
    ]),
  );

const builtModules = new Map();

/** A process that a test starts is one bundle, as it loads once. Tests load what they import as modules. */
export const bundleTests = async (target) => {
  const [programs, tests] = [true, false].map((isProgram) => target.entries.filter((file) => file.endsWith('.program.ts') === isProgram));
  const inputs = await buildModules(tests, { options: beside(target), built: builtModules });
  const own = tests.flatMap((file) => [outputOf(target.outdir, file), `${outputOf(target.outdir, file)}.map`]);
  return joined([{ inputs, outputs: own }, ...(programs.length ? [await run(testProgramOptions(target, programs))] : [])]);
};

/** Worker functions are named by the manifest; `dist/workers/dedupe.js` there is `src/workers/dedupe.ts` here. */
export const workerSources = (target, manifest) =>
  Object.fromEntries(Object.entries(manifest.workers ?? {}).map(([name, worker]) => [name, `${target.dir}/src/workers/${path.basename(worker.entry, '.js')}.ts`]));

export const bundleExtension = async (target, manifest) => {
  const workers = [...new Set(Object.values(workerSources(target, manifest)))];
  const parts = await Promise.all([
    run(extensionOptions(target, manifest)),
    ...(workers.length ? [run(workerOptions(target, workers))] : []),
    writeAssets(target),
    bundlePage(target),
    bundlePanels(target, manifest),
  ]);
  return joined(parts);
};

/** An extension with other code in it, for measurements of what a part costs. */
export const bundleVariant = async (target, manifest, outdir, plugin) => {
  const options = extensionOptions({ ...target, outdir }, manifest);
  await esbuild.build({ ...options, plugins: [plugin, ...options.plugins] });
};

/** The one instance of @svc/api that recorded extensions see, as CommonJS. */
export const bundleApi = (outfile) => bundleForBuild('kernel/api/src/index.ts', outfile);

/** What the build itself runs of our own, with what it needs of @svc/api. */
export const bundleInstaller = (outfile) => bundleForBuild('kernel/installer/src/index.ts', outfile);

const bundleForBuild = async (entry, outfile) => {
  const { metafile } = await esbuild.build({ ...COMMON, entryPoints: [entry], outfile, format: 'cjs', sourcemap: false });
  return { inputs: ownInputs(metafile), outputs: [fromRoot(outfile)] };
};

/** A package that others install: what is not named as outside stands in it. `entries` are sources by the names of their files. */
export const bundleLibrary = ({ entries, outdir, format, external }) =>
  esbuild.build({
    ...COMMON,
    sourcemap: false,
    entryPoints: Object.entries(entries).map(([out, source]) => ({ in: source, out })),
    outdir,
    format,
    outExtension: format === 'cjs' ? { '.js': '.cjs' } : {},
    external: [...LEFT_OUTSIDE, ...external],
    plugins: PROGRAM_PLUGINS,
    ...(format === 'esm' ? { splitting: true, chunkNames: 'parts/[name]-[hash]', banner: { js: REQUIRE } } : {}),
  });

/** Removes what an earlier build left and this one no longer makes. */
export const sweep = (before, now) => {
  const kept = new Set(now);
  for (const file of before) {
    if (kept.has(file)) continue;
    const stat = statSync(inRoot(file), { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > KEEP_OLD_MS) rmSync(inRoot(file), { force: true });
    else if (stat) kept.add(file);
  }
  return [...kept];
};

/** `file:line message`, one per line; anything that is not esbuild's is shown as it is. */
export const explain = (error) =>
  Array.isArray(error.errors) && error.errors.length ? error.errors.map(({ location, text }) => (location ? `${location.file}:${location.line} ${text}` : text)) : [error.message ?? String(error)];
