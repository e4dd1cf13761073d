/** How plugins look over HTTP. */
import { Nullable, OneOf, type Plain, Type } from '@svc/api';
import { RUNTIMES } from '../launchers/launcher.js';

const Hooks = Type.Record(Type.String(), Type.String(), { description: 'Path of its script, by the name of the hook' });

export const Item = Type.Object(
  {
    name: Type.String(),
    display_name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    author: Type.String(),
    runtime: Type.String({ description: 'As plugin.toml has it' }),
    hooks: Hooks,
    hooks_valid: Type.Boolean({ description: 'False when a script is missing, was changed after it was signed, or lies outside of the folder' }),
    enabled: Type.Boolean(),
    active: Type.Boolean({ description: 'Its hooks run: config.toml named it at the start, it is enabled and can be loaded' }),
    fault: Nullable(Type.String({ description: 'Why it cannot be loaded' })),
    size_bytes: Type.Integer(),
    path: Type.String(),
  },
  { 'x-name': 'Plugin' },
);
export type Item = Plain<typeof Item>;

export const Detail = Type.Object(
  {
    ...Item.properties,
    requirements: Type.String(),
    plugin_depends: Type.Array(Type.String()),
    integrity_count: Type.Integer({ description: 'How many hooks have a SHA-256' }),
    signed_by: Nullable(Type.String({ description: 'Public key of its signature, in base64' })),
    i18n: Type.Record(Type.String(), Type.Object({ name: Type.Optional(Type.String()), description: Type.Optional(Type.String()) })),
    source: Nullable(Type.String({ description: 'Where it was installed from; null for one that was written here' })),
    digest: Nullable(Type.String({ description: 'SHA-256 over its files, as they were installed' })),
  },
  { 'x-name': 'PluginDetail' },
);

export const Wall = OneOf(['enforced', 'lowered', 'not enforced'], { description: '`lowered`: its manifest asks for it, and whoever installed it agreed. `not enforced`: there is no sandbox here' });

export const Status = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    path: Type.String(),
    size_bytes: Type.Integer(),
    enabled: Type.Boolean(),
    active: Type.Boolean(),
    active_as_single: Type.Boolean(),
    stack_position: Nullable(Type.Integer({ description: 'From 0' })),
    hooks_valid: Type.Boolean(),
    fault: Nullable(Type.String()),
    min_version_required: Nullable(Type.String()),
    restart_required: Type.Boolean({ description: 'config.toml names other plugins than it did at the start' }),
    walls: Type.Object({ network: Wall, filesystem: Wall }),
    sandbox: Nullable(Type.String({ description: 'Why the sandbox does not work; null where it does' })),
  },
  { 'x-name': 'PluginStatus' },
);

export const Trace = Type.Object(
  {
    trace_id: Type.String(),
    correlation_id: Nullable(Type.String({ description: 'The run that it was called in' })),
    plugin: Type.String(),
    hook: Type.String(),
    agent_id: Nullable(Type.String()),
    session_id: Nullable(Type.String()),
    started_at: Type.String(),
    elapsed_ms: Type.Integer(),
    success: Type.Boolean(),
    error: Nullable(Type.String({ description: 'Kind of the failure, such as Timeout or LauncherNotFound' })),
    message: Nullable(Type.String({ description: 'What went wrong' })),
    note: Nullable(Type.String({ description: 'Why nothing came of the response, or of a part of it' })),
    exit_code: Nullable(Type.Integer()),
    line: Nullable(Type.Integer({ description: 'Which line of its output was taken, from 1' })),
    walls: Wall,
    input_preview: Type.String(),
    output_preview: Type.String(),
    stderr_preview: Type.String(),
  },
  { 'x-name': 'PluginTrace' },
);
export type Trace = Plain<typeof Trace>;

export const HookStats = Type.Record(Type.String(), Type.Object({ calls: Type.Integer(), errors: Type.Integer(), error_rate_pct: Type.Number(), avg_elapsed_ms: Type.Integer() }));

export const Health = Type.Object(
  {
    plugin: Type.String(),
    status: OneOf(['loaded', 'disabled', 'not loaded']),
    active: Type.Boolean(),
    version: Type.String(),
    hooks_valid: Type.Boolean(),
    hook_stats: HookStats,
    recent_traces: Type.Array(Trace),
    circuit_breaker: Type.Object({ configured: Type.Boolean(), max_failures: Nullable(Type.Integer()), reset_secs: Nullable(Type.Integer()) }),
  },
  { 'x-name': 'PluginHealth' },
);

export const RuntimeState = Type.Object({
  runtime: OneOf(RUNTIMES),
  launcher: Nullable(Type.String({ description: 'Where it was found' })),
  available: Type.Boolean(),
  version: Nullable(Type.String()),
  install_hint: Type.String(),
});

export const Doctor = Type.Object(
  {
    runtimes: Type.Array(RuntimeState),
    plugins: Type.Array(Type.Object({ name: Type.String(), runtime: Type.String(), runtime_available: Type.Boolean(), hooks_valid: Type.Boolean(), install_hint: Type.String() })),
    sandbox: Type.Object({ enforced: Type.Boolean(), cause: Nullable(Type.String()), fix: Nullable(Type.String()) }),
  },
  { 'x-name': 'PluginDoctor' },
);

export const HookResult = Type.Object(
  {
    hook: Type.String(),
    plugin: Type.String(),
    success: Type.Boolean(),
    elapsed_ms: Type.Integer(),
    output: Type.Unknown({ description: 'The response; null where there was none' }),
    error: Nullable(Type.String()),
    message: Nullable(Type.String()),
    note: Nullable(Type.String()),
    line: Nullable(Type.Integer()),
    exit_code: Nullable(Type.Integer()),
    walls: Wall,
    stdout: Type.String(),
    stderr: Type.String(),
  },
  { 'x-name': 'PluginHookResult' },
);
