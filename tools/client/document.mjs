/** The OpenAPI document of a preset as the areas declare it, made without a daemon: contributions.json holds every declaration. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import * as esbuild from 'esbuild';
import { inRoot } from '../build/paths.mjs';

const readJson = (...parts) => JSON.parse(readFileSync(inRoot(...parts), 'utf8'));

/** The daemon's own code that describes: the document has one author. */
const loadDescriber = async () => {
  const contents = "export { describeApi } from './kernel/platform/src/http/routes/openapi.ts'; export { parsePath } from './kernel/platform/src/http/routes/path-pattern.ts';";
  const built = await esbuild.build({
    absWorkingDir: inRoot(),
    stdin: { contents, resolveDir: inRoot(), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    logLevel: 'silent',
  });
  const module = { exports: {} };
  vm.runInThisContext(`(module, exports, require) => {${built.outputFiles[0].text}\n}`)(module, module.exports, process.getBuiltinModule);
  return module.exports;
};

export const apiDocument = async (preset = 'full') => {
  const { describeApi, parsePath } = await loadDescriber();
  const ids = readdirSync(inRoot('extensions')).filter((id) => existsSync(inRoot('extensions', id, 'extension.json')) && readJson('extensions', id, 'extension.json').presets?.includes(preset));
  const rowsOf = (kind) =>
    ids.flatMap((id) => readJson('extensions', id, 'contributions.json')[kind].map((decl) => ({ owner: { id }, decl, method: decl.method ?? 'GET', pattern: parsePath(decl.path) })));
  const info = {
    title: 'svc API',
    version: readJson('package.json').version,
    description: 'Hosts autonomous, LLM-driven agents.',
    serverUrl: 'http://127.0.0.1:4545',
    license: 'MIT',
    areas: Object.fromEntries(ids.map((id) => [id, readJson('extensions', id, 'package.json').description])),
  };
  return describeApi(info, rowsOf('routes'), rowsOf('sockets'));
};
