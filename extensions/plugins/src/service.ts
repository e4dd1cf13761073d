/** What can be asked about plugins and done with them. Routes only put it into bodies. */
import type { Actor, Clock, Db, Dir, ExtensionContext, Ids, Logger } from '@svc/api';
import type { ContextEngine } from './config.js';
import type { InstallRow, TraceRow } from './contract.js';
import { pluginErrors } from './errors.js';
import { type Engine, isHook, type Ran } from './hooks/engine.js';
import type { Breaker } from './hooks/breaker.js';
import { SAMPLE, sampleOf } from './hooks/samples.js';
import type { Traces } from './hooks/traces.js';
import type { Registries } from './install/registry.js';
import { fromFolder, fromGit } from './install/sources.js';
import { staged, wantsOf, writeAll } from './install/staging.js';
import type { Found, Finder } from './launchers/found.js';
import type { Launcher } from './launchers/launcher.js';
import { LAUNCHERS, launcherOf } from './launchers/launchers.js';
import { type Linted, lint } from './manifest/lint.js';
import { isPluginName } from './manifest/manifest.js';
import { sha256Of, sign, type Signed, withTables } from './manifest/signing.js';
import { CACHE, filesOf, MANIFEST, parsedToml, type Plugin, type PluginFolders, reasonOf, scriptFault } from './plugin-folder.js';
import { scaffold } from './scaffold.js';

const COMPILE_MS = 300_000;
const DEPENDENCIES_MS = 300_000;
const LOOK_MS = 5_000;
const MAX_OUTPUT = 200_000;

export type WallWord = 'network' | 'filesystem';

export interface InstallRequest {
  readonly source?: 'registry' | 'local' | 'git' | undefined;
  readonly name?: string | undefined;
  readonly registry?: string | undefined;
  readonly path?: string | undefined;
  readonly url?: string | undefined;
  readonly branch?: string | undefined;
  readonly grant?: readonly WallWord[] | undefined;
  readonly force?: boolean | undefined;
}

export interface ServiceDeps {
  readonly exec: ExtensionContext['exec'];
  readonly secrets: ExtensionContext['secrets'];
  sandbox: ExtensionContext['sandbox'];
  readonly cache: Dir;
  readonly home: string;
  readonly db: Db;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly folders: PluginFolders;
  readonly finder: Finder;
  readonly engine: Engine;
  readonly traces: Traces;
  readonly breaker: Breaker;
  readonly registries: Registries;
  /** As config.toml has it now. */
  settings(): ContextEngine;
  readonly started: ContextEngine;
  changed(name: string): Promise<void>;
}

export type Plugins = ReturnType<typeof createPlugins>;

export const createPlugins = (deps: ServiceDeps) => ({
  list: () => deps.folders.list(),
  get: (name: string) => deps.folders.get(name),
  installOf: (name: string) => installOf(deps, name),
  isValid: (plugin: Plugin) => isValid(plugin),
  sizeOf: async (plugin: Plugin): Promise<number> => (await filesOf(plugin.dir)).reduce((all, { sizeBytes, kind }) => all + (kind === 'file' ? sizeBytes : 0), 0),
  isActive: (plugin: Plugin): boolean => plugin.enabled && deps.engine.loaded.includes(plugin.name) && deps.engine.fault(plugin) === undefined,
  faultOf: (plugin: Plugin) => deps.engine.fault(plugin),
  restartRequired: (): boolean => JSON.stringify(namedIn(deps.settings())) !== JSON.stringify(namedIn(deps.started)),
  position: (name: string): number | null => (deps.started.plugin_stack.length > 1 ? indexOrNull(deps.started.plugin_stack, name) : null),
  lowered: (plugin: Plugin) => deps.engine.lowered(plugin),
  sandbox: () => sandboxOf(deps),
  runtimes: () => deps.finder.all(),
  registries: () => deps.registries.list(),
  install: (request: InstallRequest) => install(deps, request),
  uninstall: (name: string) => uninstall(deps, name),
  create: (name: string, description: string, author: string, runtime: string) => create(deps, { name, description, author, runtime }),
  setEnabled: async (name: string, enabled: boolean): Promise<Plugin> => {
    const plugin = await deps.folders.get(name);
    await deps.folders.setEnabled(plugin, enabled);
    deps.engine.forget(name);
    if (enabled) void compile(deps, plugin);
    await deps.changed(name);
    return { ...plugin, enabled };
  },
  reload: async (name: string): Promise<{ plugin: Plugin; evicted: number }> => {
    const plugin = await deps.folders.get(name);
    deps.breaker.forget(`${name} `);
    deps.finder.forget();
    const evicted = deps.engine.forget(name);
    await deps.changed(name);
    return { plugin, evicted };
  },
  prewarm: async (names: readonly string[] | undefined) => {
    const all = names === undefined ? (await deps.folders.list()).filter(({ enabled }) => enabled).map(({ name }) => name) : names;
    const results: Record<string, { ok: boolean; message: string }> = {};
    for (const name of all) {
      const plugin = await deps.folders.find(name);
      results[name] = plugin ? await compile(deps, plugin) : { ok: false, message: 'There is no such plugin.' };
    }
    return results;
  },
  lint: async (name: string): Promise<Linted> => {
    const plugin = await deps.folders.get(name);
    return lint(plugin, {
      runtimes: () => deps.finder.all(),
      missing: (programs) => missing(deps, programs),
      names: async () => (await deps.folders.list()).map((one) => one.name),
      sandboxed: (await sandboxOf(deps)).isOn,
    });
  },
  sign: (name: string) => signed(deps, name),
  installDependencies: (name: string) => installDependencies(deps, name),
  envPresent: (name: string) => envPresent(deps, name),
  test: (actor: Actor, name: string, hook: string, input: Readonly<Record<string, unknown>>) => test(deps, actor, name, hook, input),
  traces: (actor: Actor, query: Parameters<Traces['list']>[1]): Promise<readonly TraceRow[]> => deps.traces.list(actor, query),
});

const namedIn = ({ plugin, plugin_stack: stack, hooks }: ContextEngine) => ({ plugin: plugin ?? '', stack, hooks: hooks ?? null });

const indexOrNull = (list: readonly string[], name: string): number | null => (list.includes(name) ? list.indexOf(name) : null);

const installOf = (deps: Pick<ServiceDeps, 'db'>, name: string): Promise<InstallRow | undefined> => deps.db.system('an installed plugin').first<InstallRow>({ from: 'installs', where: { name } });

/** What somebody agreed to; undefined for a plugin that was written here. */
export const grantedOf = async (deps: Pick<ServiceDeps, 'db'>, name: string): Promise<readonly string[] | undefined> => {
  const row = await installOf(deps, name);
  return row && (JSON.parse(row.granted) as string[]);
};

const isValid = async (plugin: Plugin): Promise<boolean> => {
  if (plugin.fault !== undefined || plugin.manifest.runtime === undefined) return false;
  const faults = await Promise.all(Object.values(plugin.manifest.hooks).map((path) => scriptFault(plugin, path)));
  return faults.every((fault) => fault === undefined);
};

/** `[exec_policy] mode = "deny"` starts nothing, and tells nothing. */
const sandboxOf = async (deps: Pick<ServiceDeps, 'sandbox'>): ReturnType<ExtensionContext['sandbox']> =>
  deps.sandbox().catch((error: unknown) => ({ isOn: false as const, cause: reasonOf(error), fix: 'See [exec_policy] and [tools] sandbox in config.toml.' }));

const create = async (deps: ServiceDeps, { name, description, author, runtime }: { name: string; description: string; author: string; runtime: string }): Promise<Plugin> => {
  if (!isPluginName(name)) throw pluginErrors.bad_name(name);
  const launcher = launcherOf(runtime);
  if (!launcher) throw pluginErrors.bad_runtime(runtime);
  if (await deps.folders.find(name)) throw pluginErrors.exists(name);
  await scaffold(deps.folders, { name, description, author, launcher });
  const plugin = await deps.folders.get(name);
  void compile(deps, plugin);
  await deps.changed(name);
  return plugin;
};

const install = async (deps: ServiceDeps, request: InstallRequest): Promise<{ readonly plugin: Plugin; readonly digest: string; readonly granted: readonly string[] }> => {
  const { files, from, name } = await filesFor(deps, request);
  const found = await staged(files, name);
  const { manifest, digest, suspicions } = found;
  if (await deps.folders.find(manifest.name)) throw pluginErrors.exists(manifest.name);
  if (suspicions.length > 0 && request.force !== true) throw pluginErrors.unsafe(suspicions.join(', '));
  const granted = wantsOf(manifest).filter((wall) => request.grant?.some((one) => one === wall) ?? false);
  const lacking = wantsOf(manifest).filter((wall) => !granted.includes(wall));
  if (lacking.length > 0) throw pluginErrors.needs_consent(manifest.name, lacking.join(' and '));
  const row: InstallRow = { name: manifest.name, source: from, digest, granted: JSON.stringify(granted), installed_at: deps.clock.iso() };
  // First: a plugin that is there without its row would have what it asks for.
  await deps.db.commit([deps.db.upsert('installs', ['name'], [row])]);
  try {
    await writeAll(deps.folders.dirOf(manifest.name), files);
  } catch (error) {
    await deps.folders.remove(manifest.name);
    throw error;
  }
  const plugin = await deps.folders.get(manifest.name);
  void compile(deps, plugin);
  await deps.changed(manifest.name);
  return { plugin, digest, granted };
};

const filesFor = async (deps: ServiceDeps, request: InstallRequest): Promise<{ files: Awaited<ReturnType<typeof fromFolder>>; from: string; name: string | undefined }> => {
  const source = request.source ?? (request.path !== undefined ? 'local' : request.url !== undefined ? 'git' : 'registry');
  if (source === 'local') {
    if (request.path === undefined) throw pluginErrors.bad_source('`path` is missing.');
    return { files: await fromFolder(deps, request.path), from: request.path, name: request.name };
  }
  if (source === 'git') {
    if (request.url === undefined) throw pluginErrors.bad_source('`url` is missing.');
    return { files: await fromGit(deps, request.url, request.branch), from: request.url, name: request.name };
  }
  if (request.name === undefined) throw pluginErrors.bad_source('`name` is missing.');
  if (!isPluginName(request.name)) throw pluginErrors.bad_name(request.name);
  const { files, registry } = await deps.registries.download(request.name, request.registry);
  return { files, from: `registry ${registry}`, name: request.name };
};

const uninstall = async (deps: ServiceDeps, name: string): Promise<void> => {
  if (!isPluginName(name)) throw pluginErrors.bad_name(name);
  await deps.folders.get(name);
  await deps.folders.remove(name);
  await deps.db.commit([deps.db.remove('installs', { name }, { expect: 'any' })]);
  deps.breaker.forget(`${name} `);
  deps.engine.forget(name);
  await deps.changed(name);
};

/** Fills the plugin's own cache: the first message does not wait for a compiler. */
const compile = async (deps: ServiceDeps, { name, dir, manifest }: Plugin): Promise<{ ok: boolean; message: string }> => {
  const launcher = manifest.runtime && LAUNCHERS[manifest.runtime];
  if (!launcher) return { ok: false, message: `There is no runtime "${manifest.runtimeName}".` };
  const found = await deps.finder.of(launcher.runtime);
  if (!found.available) return { ok: false, message: `LauncherNotFound: ${launcher.programs.join(' or ')} is not on PATH. ${launcher.hint}` };
  if (!launcher.compile) return { ok: true, message: 'Ready: this runtime compiles nothing.' };
  try {
    await dir.write(`${CACHE}/.svc`, 'What the hooks of this plugin may write to.\n');
    for (const script of Object.values(manifest.hooks)) {
      const done = await inPlugin(deps, { dir, found, launcher, program: found.program ?? '', args: launcher.compile(script, `${dir.path}/${CACHE}`), network: false, timeoutMs: COMPILE_MS });
      if (done.exitCode !== 0) return { ok: false, message: `${script} could not be compiled: ${done.stderr.trim().slice(0, 2_000)}` };
    }
    return { ok: true, message: 'Compiled.' };
  } catch (error) {
    deps.log.warn(`the plugin ${name} could not be compiled`, { plugin: name, cause: error });
    return { ok: false, message: reasonOf(error) };
  }
};

interface InPlugin {
  readonly dir: Dir;
  readonly found: Found;
  readonly launcher: Launcher;
  readonly program: string;
  readonly args: readonly string[];
  readonly network: boolean;
  readonly timeoutMs: number;
}

const inPlugin = (deps: ServiceDeps, { dir, found, launcher, program, args, network, timeoutMs }: InPlugin): ReturnType<ExtensionContext['exec']> =>
  deps.exec(program, args, {
    cwd: dir.path,
    env: { ...launcher.env?.(`${dir.path}/${CACHE}`) },
    envNames: [],
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT,
    agent: { hosts: network ? ['*'] : [], mounts: found.folders.map((path) => ({ path, isWritable: false })), ...(network ? {} : { writes: [CACHE] }) },
  });

const installDependencies = async (deps: ServiceDeps, name: string): Promise<{ success: boolean; output: string }> => {
  const { dir, manifest } = await deps.folders.get(name);
  const launcher = manifest.runtime && LAUNCHERS[manifest.runtime];
  if (!launcher) throw pluginErrors.bad_runtime(manifest.runtimeName);
  const { dependencies } = launcher;
  if (!dependencies) throw pluginErrors.no_dependencies(name, `${launcher.runtime} has no file for them.`);
  if ((await dir.stat(dependencies.file))?.kind !== 'file') throw pluginErrors.no_dependencies(name, `it has no ${dependencies.file}.`);
  const found = await deps.finder.of(launcher.runtime);
  if (!found.available) return { success: false, output: `LauncherNotFound: ${launcher.programs.join(' or ')} is not on PATH. ${launcher.hint}` };
  await dir.write(`${CACHE}/.svc`, 'What the hooks of this plugin may write to.\n');
  const program = launcher.programs.includes(dependencies.program) ? (found.program ?? '') : dependencies.program;
  const done = await inPlugin(deps, { dir, found, launcher, program, args: dependencies.args(`${dir.path}/${CACHE}`), network: true, timeoutMs: DEPENDENCIES_MS }).catch((error: unknown) => ({
    exitCode: null,
    stdout: '',
    stderr: reasonOf(error),
    timedOut: false,
  }));
  return { success: done.exitCode === 0, output: `${done.stdout}${done.stderr}${done.timedOut ? '\nIt did not end within five minutes.' : ''}`.trim() };
};

const missing = async ({ exec }: ServiceDeps, programs: readonly string[]): Promise<string[]> => {
  if (programs.length === 0) return [];
  const done = await exec('sh', ['-c', 'for p in "$@"; do command -v "$p" >/dev/null 2>&1 || echo "$p"; done', 'sh', ...programs], { cwd: '/', envNames: [], timeoutMs: LOOK_MS });
  return done.stdout.split('\n').filter((line) => line !== '');
};

/** Whether a variable would have a value for a plugin. Its value is not looked at. */
const envPresent = async ({ exec }: ServiceDeps, name: string): Promise<boolean> => {
  const done = await exec('sh', ['-c', `[ -n "\${${name}+x}" ]`], { cwd: '/', envNames: [name], timeoutMs: LOOK_MS }).catch(() => undefined); // nothing may be started: nothing is there
  return done?.exitCode === 0;
};

const signed = async (deps: ServiceDeps, name: string): Promise<Signed & { readonly hashes: Record<string, string> }> => {
  const plugin = await deps.folders.get(name);
  if (plugin.fault !== undefined) throw pluginErrors.unsignable(name, plugin.fault);
  const hooks = [...new Set(Object.values(plugin.manifest.hooks))].sort();
  if (hooks.length === 0) throw pluginErrors.no_hooks(name);
  const hashes: Record<string, string> = {};
  for (const path of hooks) {
    const fault = await scriptFault({ dir: plugin.dir, manifest: { ...plugin.manifest, integrity: undefined } }, path);
    if (fault) throw pluginErrors.unsignable(name, `${fault.message}.`);
    hashes[path] = sha256Of(await plugin.dir.read(path, { maxBytes: 32 * 1024 * 1024 }));
  }
  const text = withTables(plugin.text, { integrity: hashes, signature: {} }).replace(/\n\[signature\]\n*$/, '\n');
  const made = await sign(deps.secrets, await parsedToml(text).catch((error: unknown) => Promise.reject(pluginErrors.unsignable(name, reasonOf(error)))));
  const whole = withTables(text, { signature: { algorithm: 'ed25519', public_key: made.publicKey, value: made.signature, signed_at: deps.clock.iso() } });
  await plugin.dir.write(MANIFEST, whole);
  await deps.changed(name);
  return { ...made, hashes };
};

const test = async (deps: ServiceDeps, actor: Actor, name: string, hook: string, input: Readonly<Record<string, unknown>>): Promise<Ran> => {
  const plugin = await deps.folders.get(name);
  if (!isHook(hook) || plugin.manifest.hooks[hook] === undefined) throw pluginErrors.no_such_hook(name, hook);
  const { type: _type, agent_id: agent, message, peer_id: peer, ...more } = input;
  return deps.engine.run(await deps.engine.homeOf(plugin), hook, {
    ownerId: actor.ownerId,
    agentId: typeof agent === 'string' ? agent : '',
    sessionId: null,
    runId: null,
    message: typeof message === 'string' ? message : SAMPLE,
    peerId: typeof peer === 'string' ? peer : null,
    more: { ...sampleOf(hook), ...more },
  });
};
