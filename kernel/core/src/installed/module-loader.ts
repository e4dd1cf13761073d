/**
 * Loads the one CommonJS file of an extension so that dropping it frees its code.
 * An ES module cannot be unloaded (nodejs/node#49442); a Module instance of our
 * own that no cache knows can. This is the only file that touches Node's loader.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { ExtensionDefinition } from '@svc/api';
import type { CodeCache } from './code-cache.js';

export interface LoaderOptions {
  /** The kernel's own instance of @svc/api, shared by all. */
  readonly api: unknown;
  /** npm packages that the manifest takes from the host. */
  readonly hostDependencies: readonly string[];
  /** Without one Node compiles, and where source maps are on its stacks name the lines that were written. */
  readonly code?: CodeCache | undefined;
}

/** Node's own Module, with the two members that its types leave out. */
interface CompilableModule {
  exports: unknown;
  filename: string;
  paths: string[];
  require: (name: string) => unknown;
  _compile(source: string, filename: string): void;
}

export async function loadDefinition(file: string, options: LoaderOptions): Promise<ExtensionDefinition> {
  // Module's constructor is public; _compile is not in its types.
  const module = new Module(file) as unknown as CompilableModule;
  module.filename = file;
  module.paths = [];
  const hostRequire = createRequire(file);
  module.require = (name) => {
    if (name === '@svc/api') return options.api;
    // Whatever a manifest says: the rest of ours is no extension's.
    if (name.startsWith('@svc/')) throw new Error(`${dirname(file)} asks for "${name}"; of svc's own packages extensions use @svc/api alone`);
    if (name.startsWith('node:') || Module.isBuiltin(name)) return hostRequire(name);
    if (options.hostDependencies.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))) return hostRequire(name);
    throw new Error(`${dirname(file)} requires "${name}", which is neither in its bundle nor in its hostDependencies`);
  };
  if (options.code) options.code.compile(file)(module.exports, module.require, module, file, dirname(file));
  else module._compile(readFileSync(file, 'utf8'), file);
  const exported = module.exports as { default?: Partial<ExtensionDefinition> };
  if (typeof exported.default?.activate !== 'function') throw new Error(`${file} has no default export made with defineExtension`);
  // `activate` is the only member an extension must have, and it was just checked.
  return exported.default as ExtensionDefinition;
}
