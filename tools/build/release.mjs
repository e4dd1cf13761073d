/** dist/release.json: what the daemon finds at boot. And the schema files that are made from code. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { panelFiles } from './browser.mjs';
import { workerSources } from './bundler.mjs';
import { writeIfChanged } from './contributions.mjs';
import { DIST, inRoot } from './paths.mjs';

const readJson = (file) => JSON.parse(readFileSync(inRoot(file), 'utf8'));

const presetFiles = () =>
  existsSync(inRoot('schemas/presets'))
    ? readdirSync(inRoot('schemas/presets'))
        .filter((file) => file.endsWith('.json'))
        .sort()
    : [];

const entryOf = (target, namesOf) => {
  const manifest = readJson(`${target.dir}/extension.json`);
  const { version, description } = readJson(`${target.dir}/package.json`);
  const workers = Object.entries(workerSources(target, manifest)).map(([name, source]) => [name, `ext/${target.id}/workers/${path.basename(source, '.ts')}.js`]);
  const contributions = namesOf(readJson(`${target.dir}/contributions.json`));
  const panels = manifest.panels ? { panels: panelFiles(target) } : {};
  return { id: target.id, version, description, bundle: `ext/${target.id}/index.js`, workers: Object.fromEntries(workers), manifest, contributions, ...panels };
};

const contractFiles = (extensions) => {
  const api = readdirSync(inRoot('kernel/api/src'), { recursive: true }).filter((file) => file.endsWith('.ts'));
  return [...api.map((file) => `kernel/api/src/${file}`), ...extensions.map((target) => `${target.dir}/src/contract.ts`)].filter((file) => existsSync(inRoot(file)));
};

/** Names what the extensions were compiled against: the API and every contract. */
const contractHash = (extensions) => {
  const hash = createHash('sha256');
  for (const file of contractFiles(extensions).sort()) hash.update(`${file}\n`).update(readFileSync(inRoot(file)));
  return hash.digest('hex').slice(0, 16);
};

/** Files that release.json repeats: when one changes, it is written anew. */
export const releaseInputs = (extensions) => [
  ...contractFiles(extensions),
  'package.json',
  ...presetFiles().map((file) => `schemas/presets/${file}`),
  ...extensions.flatMap((target) => ['extension.json', 'package.json', 'contributions.json'].map((file) => `${target.dir}/${file}`)),
  ...extensions.map((target) => `${target.outdir}/panels/index.json`).filter((file) => existsSync(inRoot(file))),
];

/** Where a word stands in the help, when it does not say. */
const USUAL_ORDER = 50;

/** dist/commands.json: what the command line has of the areas, without a look at the rest of the release. */
const writeCommands = (extensions, { areaWordsOf, completionsOf }) => {
  const words = extensions.flatMap((target) =>
    areaWordsOf(target.id, readJson(`${target.dir}/package.json`).description, readJson(`${target.dir}/contributions.json`), readJson(`${target.dir}/extension.json`).panels),
  );
  const twice = words.find(({ word }, index) => words.findIndex((one) => one.word === word) !== index);
  if (twice)
    throw new Error(
      `the command word "${twice.word}" is declared by ${words
        .filter(({ word }) => word === twice.word)
        .map(({ area }) => area)
        .join(' and ')}`,
    );
  const bare = words.find(({ area, module }) => module !== undefined && !existsSync(inRoot('extensions', area, 'cli', `${module.slice(area.length + 1)}.ts`)));
  if (bare) throw new Error(`the command word "${bare.word}" needs extensions/${bare.area}/cli/${bare.module.slice(bare.area.length + 1)}.ts, which is not there`);
  const completions = extensions.flatMap((target) => completionsOf(readJson(`${target.dir}/contributions.json`)));
  writeWhole('commands.json', { words: words.sort((a, b) => (a.order ?? USUAL_ORDER) - (b.order ?? USUAL_ORDER) || (a.word < b.word ? -1 : 1)), completions });
};

/** In one step: what runs meanwhile reads the file before or the file after. */
const writeWhole = (name, value) => {
  const draft = path.join(DIST, `.${name}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(value));
  renameSync(draft, path.join(DIST, name));
};

export const writeRelease = (extensions, installer) => {
  const entries = extensions.map((target) => entryOf(target, installer.namesOf));
  // Each extension names its presets in extension.json.
  const presets = Object.fromEntries(
    presetFiles().map((file) => {
      const name = path.basename(file, '.json');
      return [name, { extensions: entries.filter(({ manifest }) => manifest.presets?.includes(name)).map(({ id }) => id), ...readJson(`schemas/presets/${file}`) }];
    }),
  );
  const release = { version: readJson('package.json').version, build: contractHash(extensions), extensions: entries, presets };
  mkdirSync(path.join(DIST, 'ext'), { recursive: true });
  // The root says `type: module`; the bundles of extensions are CommonJS.
  writeFileSync(path.join(DIST, 'ext/package.json'), '{ "type": "commonjs" }\n');
  writeCommands(extensions, installer);
  writeWhole('release.json', release);
};

/** The schema that editors use for extension.json. True when it was rewritten. */
export const writeManifestSchema = (manifestSchema) =>
  writeIfChanged(inRoot('schemas/extension.schema.json'), {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated by tools/build.mjs from kernel/api/src/manifest/manifest.ts; never edited by hand.',
    ...JSON.parse(JSON.stringify({ ...manifestSchema, $id: undefined, title: 'extension.json' })),
  });
