/**
 * Derives contributions.json from the code: loads a freshly built bundle, activates it
 * against recording registries and writes down what it registered, sorted.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import vm from 'node:vm';
import { inRoot } from './paths.mjs';
import { recordingContext } from './recording-context.mjs';

const rootRequire = createRequire(inRoot('package.json'));

/** Runs a CommonJS bundle with exactly what an extension may require: the API, Node's modules, declared host packages. */
const load = (file, manifest, api) => {
  const allowed = new Set(manifest.hostDependencies ?? []);
  const requireFor = (name) => {
    if (name === '@svc/api') return api;
    if (isBuiltin(name) || allowed.has(name)) return rootRequire(name);
    throw new Error(`requires "${name}", which is neither bundled nor named in hostDependencies`);
  };
  const module = { exports: {} };
  vm.compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], { filename: file })(module, module.exports, requireFor, file, inRoot());
  const definition = module.exports.default;
  if (typeof definition?.activate !== 'function') throw new Error('its default export has no activate(); use `export default defineExtension({ … })`');
  return definition;
};

const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const sorted = (list) => [...list].sort(byText);
const sortedKeys = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => byText(a, b)));
const plain = (value) => JSON.parse(JSON.stringify(value));

const sectionName = (claim) => claim.section ?? claim.setting ?? claim.key.slice(1);

/** A claimed section without a schema, or the other way round, would be refused at activation: say so now. */
const checkClaims = (manifest, config) => {
  const claimed = (manifest.config ?? []).map(sectionName);
  const given = Object.keys(config).map((name) => name.replace(/^\//, ''));
  const bare = claimed.find((name) => !given.includes(name));
  if (bare) throw new Error(`extension.json claims the config section "${bare}", but the code gives no schema for it`);
  const stray = given.find((name) => !claimed.includes(name));
  if (stray) throw new Error(`the code gives a schema for the config section "${stray}", which extension.json does not claim`);
};

const twice = (list) => list.find((item, index) => list.indexOf(item) !== index);

export const deriveContributions = async (file, manifest, version, api) => {
  const definition = load(file, manifest, api);
  const config = definition.config ?? {};
  checkClaims(manifest, config);
  const { ctx, seen } = recordingContext({ id: manifest.id, version, config });
  await definition.activate(ctx);
  const routes = sorted(seen.routes.map((route) => `${route.method} ${route.path}`));
  const doubled = twice(routes);
  if (doubled) throw new Error(`declares the route ${doubled} twice`);
  const timerTwice = twice(seen.timers.map(({ name }) => name));
  if (timerTwice) throw new Error(`has two timers called ${timerTwice}`);
  return {
    routes,
    sockets: sorted(seen.sockets.map((socket) => socket.path)),
    tools: seen.tools.map(({ name, risk, replay }) => ({ name, risk, replay })).sort((a, b) => byText(a.name, b.name)),
    timers: seen.timers.sort((a, b) => byText(a.name, b.name)),
    migrations: (definition.migrations ?? []).map(({ name }) => name),
    config: sortedKeys(plain(config)),
  };
};

/** Writes the file only when it says something else. True when it was rewritten. */
export const writeIfChanged = (file, value) => {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return false;
  writeFileSync(file, text);
  return true;
};
