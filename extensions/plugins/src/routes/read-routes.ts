/** Plugins over HTTP: what there is, and how it fares. */
import { bytes, Nullable, OneOf, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import { filesAsJson, tarOf } from '../export-tar.js';
import type { TraceRow } from '../contract.js';
import { expandedName } from '../hooks/start.js';
import { LAUNCHERS } from '../launchers/launchers.js';
import { plainOf } from '../manifest/canonical.js';
import type { Plugin } from '../plugin-folder.js';
import type { Plugins } from '../service.js';
import { Params, route, type RouteDeps } from './deps.js';
import { Detail, Doctor, Health, Item, Status, Trace } from './shapes.js';

const RECENT = 20;
const COUNTED = 500;
const SECRET_NAME = /KEY|SECRET|PASSWORD|TOKEN/i;

export const readRoutes = (deps: RouteDeps): RouteDecl[] => [list(deps), registries(deps), doctor(deps), get(deps), status(deps), health(deps), env(deps), exported(deps), linted(deps), traces(deps)];

export const itemOf = async (plugins: Plugins, plugin: Plugin): Promise<Item> => {
  const { manifest } = plugin;
  return {
    name: plugin.name,
    display_name: manifest.i18n.en?.name ?? plugin.name,
    version: manifest.version,
    description: manifest.description,
    author: manifest.author,
    runtime: manifest.runtimeName,
    hooks: { ...manifest.hooks } as Record<string, string>,
    hooks_valid: await plugins.isValid(plugin),
    enabled: plugin.enabled,
    active: plugins.isActive(plugin),
    fault: plugins.faultOf(plugin) ?? null,
    size_bytes: await plugins.sizeOf(plugin),
    path: plugin.dir.path,
  };
};

const list = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'listPlugins',
    method: 'GET',
    path: '/api/plugins',
    summary: 'List plugins',
    description: 'The folders in plugins/ of the home. Those that `[context_engine]` in config.toml names are active.',
    query: Type.Object({ enabled: Type.Optional(Type.Boolean()), has_errors: Type.Optional(Type.Boolean({ description: 'Only those that cannot be loaded, or whose hooks are not valid' })) }),
    responses: { 200: Type.Object({ plugins: Type.Array(Item), total: Type.Integer() }) },
    handler: async ({ query }) => {
      const all = await Promise.all((await plugins.list()).map((one) => itemOf(plugins, one)));
      const shown = all.filter(
        (one) => (query.enabled === undefined || one.enabled === query.enabled) && (query.has_errors === undefined || (one.fault !== null || !one.hooks_valid) === query.has_errors),
      );
      return reply(200, { plugins: shown, total: shown.length });
    },
  });

const Registry = Type.Object(
  {
    name: Type.String(),
    url: Nullable(Type.String()),
    github_repo: Nullable(Type.String()),
    plugins: Type.Array(
      Type.Object({
        name: Type.String(),
        display_name: Type.String(),
        installed: Type.Boolean(),
        version: Type.String(),
        description: Type.String(),
        author: Type.String(),
        hooks: Type.Array(Type.String()),
      }),
    ),
    error: Nullable(Type.String({ description: 'Why its plugins cannot be listed' })),
  },
  { 'x-name': 'PluginRegistry' },
);

const registries = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'listPluginRegistries',
    method: 'GET',
    path: '/api/plugins/registries',
    summary: 'List plugin registries',
    description: 'Those of `[[context_engine.plugin_registries]]`, with their plugins; none is preset. A list is read again after an hour.',
    cost: 5,
    responses: { 200: Type.Object({ registries: Type.Array(Registry), total: Type.Integer() }) },
    handler: async () => {
      const installed = new Set((await plugins.list()).map(({ name }) => name));
      const found = (await plugins.registries()).map(({ registry, plugins: offered, error }) => ({
        name: registry.name,
        url: registry.url ?? null,
        github_repo: registry.github_repo ?? null,
        plugins: offered.map((one) => ({ ...one, hooks: [...one.hooks], installed: installed.has(one.name) })),
        error: error ?? null,
      }));
      return reply(200, { registries: found, total: found.length });
    },
  });

const doctor = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'checkPlugins',
    method: 'GET',
    path: '/api/plugins/doctor',
    summary: 'Check runtimes and plugins',
    description: 'Looks for the launcher of each of the eleven runtimes on PATH, at most 5 s each, and compares installed plugins with them. Also says whether the walls of hooks are enforced here.',
    cost: 5,
    responses: { 200: Doctor },
    handler: async () => {
      const [runtimes, all, sandbox] = await Promise.all([plugins.runtimes(), plugins.list(), plugins.sandbox()]);
      const rows = await Promise.all(
        all.map(async (one) => {
          const { runtime, runtimeName } = one.manifest;
          const isAvailable = runtimes.find((found) => found.runtime === runtime)?.available ?? false;
          return {
            name: one.name,
            runtime: runtimeName,
            runtime_available: isAvailable,
            hooks_valid: await plugins.isValid(one),
            install_hint: runtime ? LAUNCHERS[runtime].hint : `There is no runtime "${runtimeName}".`,
          };
        }),
      );
      return reply(200, {
        runtimes: runtimes.map(({ runtime, launcher, available, version }) => ({ runtime, launcher, available, version, install_hint: LAUNCHERS[runtime].hint })),
        plugins: rows,
        sandbox: sandbox.isOn ? { enforced: true, cause: null, fix: null } : { enforced: false, cause: sandbox.cause, fix: sandbox.fix },
      });
    },
  });

const get = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'getPlugin',
    method: 'GET',
    path: '/api/plugins/{name}',
    summary: 'Get a plugin',
    description: 'Its manifest in short, who signed it and where it came from.',
    params: Params,
    errors: [404],
    responses: { 200: Detail },
    handler: async ({ params }) => {
      const plugin = await plugins.get(params.name);
      const { manifest } = plugin;
      const [item, install] = await Promise.all([itemOf(plugins, plugin), plugins.installOf(plugin.name)]);
      const signature = manifest.raw.signature as { public_key?: unknown } | undefined;
      return reply(200, {
        ...item,
        requirements: manifest.requirements,
        plugin_depends: [...manifest.dependsOn],
        integrity_count: Object.keys(manifest.integrity ?? {}).length,
        signed_by: typeof signature?.public_key === 'string' ? signature.public_key : null,
        i18n: { ...manifest.i18n },
        source: install?.source ?? null,
        digest: install?.digest ?? null,
      });
    },
  });

const wallOf = (isLowered: boolean, isOn: boolean): 'lowered' | 'enforced' | 'not enforced' => (isLowered ? 'lowered' : isOn ? 'enforced' : 'not enforced');

const status = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'getPluginStatus',
    method: 'GET',
    path: '/api/plugins/{name}/status',
    summary: 'Show the status of a plugin',
    description: 'Whether its hooks run, in which order, and which walls stand around them.',
    params: Params,
    errors: [404],
    responses: { 200: Status },
    handler: async ({ params }) => {
      const plugin = await plugins.get(params.name);
      const [item, lowered, sandbox] = await Promise.all([itemOf(plugins, plugin), plugins.lowered(plugin), plugins.sandbox()]);
      const position = plugins.position(plugin.name);
      // Without its filesystem wall there is no sandbox.
      const isOn = sandbox.isOn && !lowered.filesystem;
      return reply(200, {
        name: item.name,
        version: item.version,
        description: item.description,
        path: item.path,
        size_bytes: item.size_bytes,
        enabled: item.enabled,
        active: item.active,
        active_as_single: item.active && position === null,
        stack_position: position,
        hooks_valid: item.hooks_valid,
        fault: item.fault,
        min_version_required: plugin.manifest.minVersion,
        restart_required: plugins.restartRequired(),
        walls: { network: wallOf(lowered.network, isOn), filesystem: wallOf(lowered.filesystem, isOn) },
        sandbox: sandbox.isOn ? null : sandbox.cause,
      });
    },
  });

export const traceOf = (row: TraceRow): Trace => ({
  trace_id: row.id,
  correlation_id: row.run_id,
  plugin: row.plugin,
  hook: row.hook,
  agent_id: row.agent_id,
  session_id: row.session_id,
  started_at: row.at,
  elapsed_ms: row.elapsed_ms,
  success: row.error === null,
  error: row.error,
  message: row.message,
  note: row.note,
  exit_code: row.exit_code,
  line: row.line,
  walls: row.walls as Trace['walls'], // hooks/traces.ts writes no other
  input_preview: row.input,
  output_preview: row.output,
  stderr_preview: row.stderr,
});

const statsOf = (rows: readonly TraceRow[]): Record<string, { calls: number; errors: number; error_rate_pct: number; avg_elapsed_ms: number }> => {
  const stats: Record<string, { calls: number; errors: number; error_rate_pct: number; avg_elapsed_ms: number }> = {};
  for (const hook of new Set(rows.map((row) => row.hook))) {
    const own = rows.filter((row) => row.hook === hook);
    const errors = own.filter(({ error }) => error !== null).length;
    stats[hook] = {
      calls: own.length,
      errors,
      error_rate_pct: Math.round((errors * 1_000) / own.length) / 10,
      avg_elapsed_ms: Math.round(own.reduce((all, { elapsed_ms: ms }) => all + ms, 0) / own.length),
    };
  }
  return stats;
};

const health = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'getPluginHealth',
    method: 'GET',
    path: '/api/plugins/{name}/health',
    summary: 'Show the health of a plugin',
    description: 'Counts and the newest calls of its hooks, of the agents that you may see. The counts are over the newest 500 calls.',
    params: Params,
    errors: [404],
    responses: { 200: Health },
    handler: async ({ params, actor }) => {
      const plugin = await plugins.get(params.name);
      const rows = await plugins.traces(actor, { plugin: plugin.name, limit: COUNTED });
      const { breaker } = plugin.manifest;
      return reply(200, {
        plugin: plugin.name,
        status: !plugin.enabled ? ('disabled' as const) : plugins.isActive(plugin) ? ('loaded' as const) : ('not loaded' as const),
        active: plugins.isActive(plugin),
        version: plugin.manifest.version,
        hooks_valid: await plugins.isValid(plugin),
        hook_stats: statsOf(rows),
        recent_traces: rows.slice(0, RECENT).map(traceOf),
        circuit_breaker: { configured: breaker !== undefined, max_failures: breaker?.maxFailures ?? null, reset_secs: breaker?.resetSecs ?? null },
      });
    },
  });

const env = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'getPluginEnv',
    method: 'GET',
    path: '/api/plugins/{name}/env',
    summary: 'Show the variables of a plugin',
    description:
      'What its [env] sets; a value whose name looks like a secret is shown as `***`. `$` with a name in braces is taken from the environment of the daemon, if `[exec_policy] allowed_env_vars` lets it through; its value is not shown.',
    params: Params,
    errors: [404],
    responses: {
      200: Type.Object({
        name: Type.String(),
        env: Type.Record(Type.String(), Type.String()),
        env_schema: Type.Record(Type.String(), Type.Object({ description: Type.String(), required: Type.Boolean(), present: Type.Boolean() })),
        enable_shared_state: Type.Boolean(),
      }),
    },
    handler: async ({ params }) => {
      const { name, manifest } = await plugins.get(params.name);
      const shown = Object.fromEntries(Object.entries(manifest.env).map(([key, value]) => [key, expandedName(value) === undefined && SECRET_NAME.test(key) ? '***' : value]));
      const schema = await Promise.all(
        Object.entries(manifest.envSchema).map(async ([key, text]) => {
          const value = manifest.env[key];
          const from = value === undefined ? undefined : expandedName(value);
          return [
            key,
            { description: text.replace(/^!\s*/, ''), required: text.startsWith('!'), present: value !== undefined && (from === undefined ? value !== '' : await plugins.envPresent(from)) },
          ] as const;
        }),
      );
      return reply(200, { name, env: shown, env_schema: Object.fromEntries(schema), enable_shared_state: manifest.sharedState });
    },
  });

const exported = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'exportPlugin',
    method: 'GET',
    path: '/api/plugins/{name}/export',
    summary: 'Export a plugin',
    description:
      'Its manifest as JSON, with its files. `format=tar` gives an archive (application/gzip) instead. The signature holds over the canonical JSON of `manifest` without `signature`: sorted keys, no spaces.',
    permission: 'plugins.admin',
    params: Params,
    query: Type.Object({ format: Type.Optional(OneOf(['json', 'tar'], { default: 'json' })) }),
    errors: [403, 404],
    responses: {
      200: Type.Object(
        {
          name: Type.String(),
          manifest: Type.Record(Type.String(), Type.Unknown(), { description: 'plugin.toml' }),
          files: Type.Array(Type.Object({ path: Type.String(), encoding: OneOf(['utf8', 'base64']), content: Type.String() })),
        },
        { 'x-name': 'PluginExport' },
      ),
    },
    streamed: { description: 'The files of the plugin in a folder of its name', contentType: 'application/gzip' },
    handler: async ({ params, query }) => {
      const { name, dir, manifest } = await plugins.get(params.name);
      if (query.format === 'tar') return bytes(200, 'application/gzip', await tarOf(name, dir), { 'content-disposition': `attachment; filename="${name}.tar.gz"` });
      return reply(200, { name, manifest: plainOf(manifest.raw) as Record<string, unknown>, files: await filesAsJson(dir) });
    },
  });

const linted = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'lintPlugin',
    method: 'GET',
    path: '/api/plugins/{name}/lint',
    summary: 'Lint a plugin',
    description: 'Names what is wrong and what is odd in its manifest and its files. Nothing of it is run.',
    cost: 5,
    params: Params,
    errors: [404],
    responses: { 200: Type.Object({ plugin: Type.String(), ok: Type.Boolean(), errors: Type.Array(Type.String()), warnings: Type.Array(Type.String()) }) },
    handler: async ({ params }) => {
      const { errors, warnings } = await plugins.lint(params.name);
      return reply(200, { plugin: params.name, ok: errors.length === 0, errors: [...errors], warnings: [...warnings] });
    },
  });

const MAX_TRACES = 200;

const traces = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    id: 'listPluginTraces',
    method: 'GET',
    path: '/api/context-engine/traces',
    summary: 'List calls of hooks, newest first',
    description: 'Of your agents. The newest 2,000 are stored. Texts are cut, and what looks like a secret is left out.',
    query: Type.Object({
      plugin: Type.Optional(Type.String({ maxLength: 128, description: 'Only of this plugin' })),
      run_id: Type.Optional(Uuid),
      failed: Type.Optional(Type.Boolean({ description: 'Only failures' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TRACES, default: 50 })),
    }),
    responses: { 200: Type.Object({ traces: Type.Array(Trace), total: Type.Integer() }) },
    handler: async ({ query, actor }) => {
      const rows = await plugins.traces(actor, { plugin: query.plugin, runId: query.run_id, failed: query.failed, limit: query.limit ?? 50 });
      return reply(200, { traces: rows.map(traceOf), total: rows.length });
    },
  });
