/** Runs the CommonJS bundle of an extension with exactly what an extension may require: the API, Node's modules, declared host packages. */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import vm from 'node:vm';
import type { ExtensionDefinition } from '@svc/api';
import type { Manifest } from '@svc/api/internal';

export interface BundleHost {
  /** The one instance of @svc/api that the extension sees. */
  readonly api: unknown;
  /** Requires what stands outside: Node's modules and host packages. */
  require(name: string): unknown;
}

/** Throws with the name of what it may not require, and when it has no definition. */
export const loadBundle = (file: string, manifest: Manifest, host: BundleHost): ExtensionDefinition => {
  const allowed = new Set(manifest.hostDependencies ?? []);
  const requireFor = (name: string): unknown => {
    if (name === '@svc/api') return host.api;
    // Whatever a manifest says: the rest of ours is no extension's.
    if (name.startsWith('@svc/')) throw new Error(`requires "${name}"; of svc's own packages extensions use @svc/api alone`);
    if (isBuiltin(name) || allowed.has(name)) return host.require(name);
    throw new Error(`requires "${name}", which is neither bundled nor named in hostDependencies`);
  };
  const module: { exports: { default?: unknown } } = { exports: {} };
  const run = vm.compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], { filename: file });
  run(module, module.exports, requireFor, file, dirname(file));
  const definition = module.exports.default;
  if (!isDefinition(definition)) throw new Error('its default export has no activate(); use `export default defineExtension({ … })`');
  return definition;
};

const isDefinition = (value: unknown): value is ExtensionDefinition => typeof value === 'object' && value !== null && 'activate' in value && typeof value.activate === 'function';
