/** Runs the bundle of an extension with what it may require: the API, and those of Node's modules that reach nothing outside. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import vm from 'node:vm';
import type { ExtensionDefinition } from '@svc/api';
import { isolationErrors } from '../errors.js';

/** Modules that compute. Not here: whatever opens sockets, starts processes and threads, loads code, or looks into the engine. */
const MODULES = new Set([
  ...['assert', 'assert/strict', 'buffer', 'constants', 'crypto', 'events', 'fs', 'fs/promises', 'os', 'path', 'path/posix', 'path/win32', 'perf_hooks'],
  ...['process', 'punycode', 'querystring', 'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'string_decoder', 'sys', 'timers', 'timers/promises', 'url', 'util', 'util/types', 'zlib'],
]);

/** The one instance of @svc/api that the extension sees is this program's. Throws `isolation_require_refused`, and what its code throws. */
export const loadBundle = (file: string, api: unknown, sha256?: string): ExtensionDefinition => {
  const own = createRequire(file);
  const requireFor = (name: string): unknown => {
    if (name === '@svc/api') return api;
    // The rest of it shows handles of this process.
    if (name === 'async_hooks' || name === 'node:async_hooks') return { AsyncLocalStorage, AsyncResource };
    if (typeof name === 'string' && isBuiltin(name) && MODULES.has(name.replace(/^node:/, ''))) return own(name);
    throw isolationErrors.require_refused(String(name));
  };
  const module: { exports: { default?: unknown } } = { exports: {} };
  // Without a callback for it, `import()` in this code fails: it could bring in what `require` refuses.
  const code = readFileSync(file);
  // These very bytes are run: nobody can exchange them in between.
  if (sha256 !== undefined && createHash('sha256').update(code).digest('hex') !== sha256) throw isolationErrors.modified(file);
  const run = vm.compileFunction(code.toString('utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], { filename: file });
  run(module, module.exports, requireFor, file, dirname(file));
  const definition = module.exports.default;
  if (!isDefinition(definition)) throw isolationErrors.no_definition(file);
  return definition;
};

const isDefinition = (value: unknown): value is ExtensionDefinition => typeof value === 'object' && value !== null && 'activate' in value && typeof value.activate === 'function';
