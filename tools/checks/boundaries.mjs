/**
 * Who may import whom.
 *
 * B1  A package imports only from the packages its row names; an extension at run time only @svc/api, and of that nothing below it.
 * B2  Of another area an extension sees the contract, which holds declarations and nothing that acts.
 * B3  A relative import stays inside its package and ends in `.js`.
 * B4  An npm package stands in the package.json of who imports it. The API knows TypeBox and nothing else.
 * B5  Commands of an area, in its folder `cli`, see the command line through @svc/cli/area, and of the area's own src its `format` alone: pure code over files that both sides read.
 * B6  What a panel shows of another area it has from that area's `page` and its style sheet.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { inRoot } from '../build/paths.mjs';
import { packageName } from './imports.mjs';
import { isOfCommandLine } from './sources.mjs';

const RULE = 'boundary';

/** Workspace packages each room of the kernel may import. */
const MAY_IMPORT = {
  'kernel/api': [],
  'kernel/core': ['@svc/api'],
  // In files alone: its rules of what stands beside what are the wiring's, and its files are written as others are.
  'kernel/installer': ['@svc/api', '@svc/core', '@svc/platform/adapters/files', '@svc/platform/adapters/address-policy', '@svc/platform/http/routes', '@svc/platform/schema'],
  'kernel/sandbox': ['@svc/core', '@svc/api'],
  'kernel/platform': ['@svc/core', '@svc/sandbox', '@svc/api'],
  // Pages are made from it too.
  'kernel/client': [],
  // What stands beside the kit takes it by its name, so that the page has it once.
  'kernel/kit': ['@svc/client', '@svc/kit', '@svc/api/collection-view'],
  // Types of contributions.json, no code.
  'kernel/isolation': ['@svc/core', '@svc/sandbox', '@svc/installer/contributions', '@svc/api'],
  'kernel/context': ['@svc/core', '@svc/platform', '@svc/api'],
  'kernel/third-party': ['@svc/core', '@svc/platform', '@svc/isolation', '@svc/installer', '@svc/api'],
  'kernel/daemon': ['@svc/context', '@svc/third-party', '@svc/core', '@svc/platform', '@svc/isolation', '@svc/installer', '@svc/api'],
  // Where the home is and what its config.toml says must be one answer for daemon and command line.
  'kernel/cli': ['@svc/client', '@svc/daemon', '@svc/installer', '@svc/api', '@svc/platform/config', '@svc/platform/choices/switched-off'],
};
/** Tests and what helps them reach everything. */
const isFree = (source) => source.isTest || ['kernel/testing', 'test', 'tools', 'bench'].includes(source.package);

const declared = new Map();
const dependenciesOf = (dir) => {
  if (!declared.has(dir)) {
    const json = JSON.parse(readFileSync(inRoot(dir, 'package.json'), 'utf8'));
    declared.set(dir, new Set(Object.keys({ ...json.dependencies, ...json.devDependencies, ...json.optionalDependencies, ...json.peerDependencies })));
  }
  return declared.get(dir);
};

const relative = (source, entry) => {
  // A plain module that is bundled names the source itself: what it is compiled to has another place.
  const isPlain = source.file.endsWith('.mjs');
  if ((/\.tsx?$/.test(entry.to) && !isPlain) || path.posix.extname(entry.to) === '') return `"${entry.to}" must end in .js`;
  const target = path.posix.join(path.posix.dirname(source.file), entry.to);
  if (isOfCommandLine(source) && !target.startsWith(`${source.package}/cli/`)) return `"${entry.to}" leaves ${source.package}/cli; the daemon's part of the area is not the command line's`;
  if (!isFree(source) && !target.startsWith(`${source.package}/`)) return `"${entry.to}" leaves ${source.package}; import the package by its name`;
  return undefined;
};

/** What runs in a browser speaks with the daemon as others do. */
const OF_PAGES = ['@svc/client', '@svc/kit'];
/** What an area draws for the panels of others, as it has `cli` for their commands. */
const isPartForPages = (entry, name) => name.startsWith('@svc/ext-') && [`${name}/page`, `${name}/page.css`].includes(entry.to);

/** B5. */
const ofCommandLine = (entry, name) => {
  if (entry.to === '@svc/cli/area' || ['@svc/api', '@svc/client'].includes(name)) return undefined;
  if (name.startsWith('@svc/ext-') && [`${name}/contract`, `${name}/cli`, `${name}/format`].includes(entry.to)) return undefined;
  return `a command of an area imports @svc/cli/area, @svc/client, @svc/api, and contract, cli or format of areas, not "${entry.to}"`;
};

const workspace = (source, entry) => {
  const name = packageName(entry.to);
  if (isFree(source) || (source.isPage && (OF_PAGES.includes(name) || isPartForPages(entry, name)))) return undefined;
  if (isOfCommandLine(source)) return ofCommandLine(entry, name);
  if (/^(extensions|fixtures\/areas)\//.test(source.package)) {
    if (entry.to === '@svc/api' || (source.isPage && entry.to === '@svc/api/collection-view')) return undefined;
    if (name.startsWith('@svc/ext-') && entry.to === `${name}/contract`) return undefined;
    return `an extension imports @svc/api and the contracts of other areas, not "${entry.to}"`;
  }
  const allowed = source.package.startsWith('runtimes/') ? ['@svc/api', '@svc/schemas'] : (MAY_IMPORT[source.package] ?? []);
  return allowed.some((one) => name === one || entry.to === one || entry.to.startsWith(`${one}/`))
    ? undefined
    : `${source.package} may import ${allowed.join(', ') || 'no other package of ours'}, not "${entry.to}"`;
};

const outside = (source, entry) => {
  if (source.package === 'kernel/api' && !isFree(source)) return packageName(entry.to) === '@sinclair/typebox' ? undefined : `the API imports TypeBox and nothing else, not "${entry.to}"`;
  if (isBuiltin(entry.to) || isFree(source)) return undefined;
  const name = packageName(entry.to);
  return dependenciesOf(source.package).has(name) ? undefined : `"${name}" is not in ${source.package}/package.json`;
};

const validate = (source, entry) => {
  if (/^\.\.?\//.test(entry.to)) return relative(source, entry);
  return entry.to.startsWith('@svc/') ? workspace(source, entry) : outside(source, entry);
};

export const checkBoundaries = (sources) =>
  sources.flatMap((source) =>
    source.imports.flatMap((entry) => {
      const message = validate(source, entry);
      return message ? [{ file: source.file, line: entry.line, rule: RULE, message }] : [];
    }),
  );
