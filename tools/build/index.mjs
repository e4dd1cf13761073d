/**
 * Builds what is stale.
 *
 * `staleTargets` loads nothing heavy: `npm start` asks it when it cannot tell at a glance (standing.mjs). The bundler comes in by
 * dynamic import, only when there is work. A target that fails leaves the others alone: it is reported,
 * and (an extension) left out of release.json.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isFresh, readRecord, stampInputs, toolFingerprint, writeRecord } from './freshness.mjs';
import { withBuildLock } from './lock.mjs';
import { DIST, inRoot } from './paths.mjs';
import { buildProgress } from './progress.mjs';
import { fixtureTargets, readManifest, runtimeTargets, testTargets } from './targets.mjs';

const RELEASE = { name: 'release', entries: [] };
const API = { name: 'api', entries: [] };
const API_FILE = path.join(DIST, '.build-api.cjs');
const INSTALLER = { name: 'installer', entries: [] };
const INSTALLER_FILE = path.join(DIST, '.build-installer.cjs');

/** `tests` is false, or says which groups are wanted; `only` names single targets. */
const plan = ({ tests = false, only } = {}) => {
  const { targets, notes } = runtimeTargets();
  const groups = tests ? [...fixtureTargets(), ...testTargets().filter((target) => tests(target.group))] : [];
  const wanted = [...targets, ...groups].filter((target) => !only || only.includes(target.name));
  const unknown = only?.find((name) => !wanted.some((target) => target.name === name));
  if (unknown) throw new Error(`there is nothing to build called "${unknown}"; known: ${targets.map((target) => target.name).join(', ')}`);
  return { wanted, all: targets, notes };
};

const isReleaseFresh = (record, all) => isFresh(record, { ...RELEASE, entries: all.filter((target) => target.kind === 'extension' && record.targets[target.name]).map((target) => target.id) });

/** What would be built now. Cheap: a few hundred file times. */
export const staleTargets = (options) => {
  const { wanted, all } = plan(options);
  const record = readRecord(toolFingerprint());
  const stale = wanted.filter((target) => !isFresh(record, target)).map((target) => target.name);
  return stale.length || isReleaseFresh(record, all) ? stale : ['release'];
};

/** Every file on which the answer of `staleTargets` rests, as far as something was built. */
export const recordedFiles = () => {
  const { targets } = readRecord(toolFingerprint());
  return [...plan().wanted, RELEASE].flatMap(({ name }) => (targets[name] ? [...Object.keys(targets[name].inputs), ...targets[name].products] : []));
};

/** Parts of our own that the build runs; `bundle` makes the file when it is stale. */
const ownPart = async (record, target, file, bundle) => {
  if (!isFresh(record, target)) {
    const startedAt = Date.now();
    const { inputs } = await bundle(file);
    record.targets[target.name] = { entries: '', inputs: stampInputs(inputs, startedAt), products: [path.relative(inRoot(), file)], outputs: [] };
  }
  return createRequire(import.meta.url)(file);
};

const buildExtension = async (target, bundler, tools) => {
  const manifest = tools.checkedManifest(target, tools.validate, tools.installer);
  const { inputs, outputs } = await bundler.bundleExtension(target, manifest);
  const { version } = createRequire(import.meta.url)(inRoot(target.dir, 'package.json'));
  const derived = await tools.deriveContributions(inRoot(target.outdir, 'index.js'), manifest, version, tools).catch((error) => {
    throw new Error(`${target.dir}: ${error.stack?.includes(target.outdir) ? error.stack.split('\n').slice(0, 3).join('\n') : error.message}`);
  });
  tools.writeIfChanged(inRoot(target.dir, 'contributions.json'), derived);
  const own = ['extension.json', 'package.json', 'contributions.json'].map((file) => `${target.dir}/${file}`);
  // What is derived of its code holds schemas of the API: they are not in its bundle.
  return { inputs: [...inputs, ...own, ...tools.ownInputs], outputs };
};

const buildOne = (target, bundler, tools) => {
  if (target.kind === 'extension') return buildExtension(target, bundler, tools);
  return target.kind === 'test' ? bundler.bundleTests(target) : bundler.bundleProgram(target);
};

const assetsOf = (target) => {
  const { assets, page, frames } = createRequire(import.meta.url)(inRoot(target.dir, 'package.json'));
  return Object.keys({ ...assets, ...page, ...frames });
};

const productsOf = (target) => {
  if (target.kind === 'extension') return [`${target.outdir}/index.js`, ...assetsOf(target).map((name) => `${target.outdir}/assets/${name}`)];
  if (target.isSingle) return [`${target.outdir}/program.cjs`];
  if (target.kind === 'program')
    return [
      ...[target.entry, ...(target.alone ?? [])].map((entry) => `${target.outdir}/${path.basename(entry, '.ts')}.js`),
      ...(target.entries ?? []).map((entry) => `${target.outdir}/areas/${entry.split('/')[1]}/${path.basename(entry, '.ts')}.js`),
      ...(target.whole ? ['program', ...target.apart].map((name) => `${target.outdir}/${name}.cjs`) : []),
    ];
  return target.entries.map((entry) => `dist/test/${entry.replace(/\.ts$/, '.js')}`);
};

/** Builds one target into the record; a failure is told and the target forgotten. */
const settle = async (target, record, bundler, tools, failures) => {
  const startedAt = Date.now();
  const before = record.targets[target.name]?.outputs ?? [];
  try {
    const { inputs, outputs } = await buildOne(target, bundler, tools);
    // contributions.json may have been written just now, by us: its time is no sign of an edit.
    const inputStamps = {
      ...stampInputs(inputs, startedAt),
      ...stampInputs(
        inputs.filter((file) => file.endsWith('contributions.json')),
        Number.POSITIVE_INFINITY,
      ),
    };
    record.targets[target.name] = { entries: (target.entries ?? []).join(), inputs: inputStamps, products: productsOf(target), outputs: bundler.sweep(before, outputs) };
  } catch (error) {
    delete record.targets[target.name];
    failures.push({ target: target.name, lines: bundler.explain(error).flatMap((line) => line.split('\n')) });
  }
};

const loadTools = async (record, bundler, rewritten) => {
  const [{ checkedManifest, manifestValidator }, { deriveContributions, writeIfChanged }, { writeManifestSchema }] = await Promise.all([
    import('./manifest-check.mjs'),
    import('./contributions.mjs'),
    import('./release.mjs'),
  ]);
  const api = await ownPart(record, API, API_FILE, bundler.bundleApi);
  const installer = await ownPart(record, INSTALLER, INSTALLER_FILE, bundler.bundleInstaller);
  if (writeManifestSchema(installer.Manifest)) rewritten.push('schemas/extension.schema.json');
  const ownInputs = [API, INSTALLER].flatMap(({ name }) => Object.keys(record.targets[name].inputs));
  return { api, installer, ownInputs, checkedManifest, deriveContributions, writeIfChanged, rewritten, validate: manifestValidator(installer.Manifest) };
};

const refreshRelease = async (record, all) => {
  if (isReleaseFresh(record, all)) return false;
  const { releaseInputs, writeRelease } = await import('./release.mjs');
  const good = all.filter((target) => target.kind === 'extension' && record.targets[target.name]);
  writeRelease(good, createRequire(import.meta.url)(INSTALLER_FILE));
  record.targets.release = {
    entries: good.map((target) => target.id).join(),
    inputs: stampInputs(releaseInputs(good), Number.POSITIVE_INFINITY),
    products: ['dist/release.json', 'dist/commands.json'],
    outputs: [],
  };
  return true;
};

/** Says what was built, what failed, which committed files were rewritten, and how long it took. */
export const build = (options) =>
  withBuildLock(async () => {
    const startedAt = Date.now();
    const { wanted, all, notes } = plan(options);
    const record = readRecord(toolFingerprint());
    const stale = wanted.filter((target) => !isFresh(record, target));
    const failures = [];
    const rewritten = [];
    const progress = buildProgress();
    if (stale.length) {
      progress.begin(stale.length);
      const bundler = await import('./bundler.mjs');
      const tools = await loadTools(record, bundler, rewritten);
      let done = 0;
      const settled = async (target) => {
        await settle(target, record, bundler, tools, failures);
        done += 1;
        progress.step(done, stale.length);
      };
      await Promise.all(stale.map(settled));
    }
    progress.end();
    const released = await refreshRelease(record, all);
    for (const name of Object.keys(record.targets)) if (name.startsWith('ext:') && !existsSync(inRoot('extensions', name.slice(4), 'extension.json'))) delete record.targets[name];
    if (stale.length || released) writeRecord(record);
    failures.sort((a, b) => (a.target < b.target ? -1 : 1));
    return { built: stale.map((target) => target.name), failures, notes, rewritten: rewritten.sort(), ms: Date.now() - startedAt };
  });

/** The bundled test files of the groups wanted: what the runner loads. */
export const builtTests = (wanted) =>
  testTargets()
    .filter((target) => wanted(target.group))
    .map((target) => ({ group: target.group, files: productsOf(target).filter((file) => file.endsWith('.test.js') && existsSync(inRoot(file))) }));

export { readManifest };
