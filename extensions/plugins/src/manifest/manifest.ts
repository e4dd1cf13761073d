/** plugin.toml: read leniently, because plugins of the field write keys in several places. What is odd is named by lint (lint.ts). */
import { isTable, tableOf } from '@svc/api';
import { PLUGIN_NAME } from '../config.js';
import type { Runtime } from '../launchers/launcher.js';
import { launcherOf } from '../launchers/launchers.js';

export const HOOKS = ['ingest', 'after_turn', 'bootstrap', 'assemble', 'compact', 'transform_tool_result', 'prepare_subagent', 'merge_subagent', 'on_event'] as const;
export type HookName = (typeof HOOKS)[number];
export const MAX_TIMEOUT_SECS = 30;
/** Keys that belong under [hooks], and that many plugins have at the top. */
export const HOOK_KEYS = [
  'runtime',
  'hook_timeout_secs',
  'on_hook_failure',
  'max_retries',
  'retry_delay_ms',
  'ingest_filter',
  'ingest_regex',
  'hook_protocol_version',
  'max_memory_mb',
  'allow_network',
  'allow_filesystem',
  'only_for_agent_ids',
  'hook_schemas',
  'hook_cache_ttl_secs',
  'assemble_cache_ttl_secs',
  'compact_cache_ttl_secs',
  'persistent_subprocess',
  'prewarm_subprocesses',
  'priority',
  'env_schema',
  'enable_shared_state',
  'circuit_breaker',
  'after_turn_queue_depth',
  'otel_endpoint',
  'allowed_secrets',
] as const;
/** They are for the whole plugin, and often follow [hooks]. */
const TOP_KEYS = ['requirements', 'plugin_depends', 'needs'] as const;

export interface Manifest {
  /** As it was written. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly minVersion: string | null;
  readonly requirements: string;
  readonly dependsOn: readonly string[];
  readonly needs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly envSchema: Readonly<Record<string, string>>;
  readonly integrity: Readonly<Record<string, string>> | undefined;
  readonly requires: ReadonlyArray<{ readonly binary: string; readonly install_hint: string }>;
  readonly i18n: Readonly<Record<string, { readonly name?: string; readonly description?: string }>>;
  readonly hooks: Readonly<Partial<Record<HookName, string>>>;
  /** As it was written. */
  readonly runtimeName: string;
  /** Undefined for an unknown one. */
  readonly runtime: Runtime | undefined;
  readonly timeoutSecs: number;
  readonly onFailure: 'warn' | 'abort' | 'skip';
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly ingestFilter: string;
  readonly ingestRegex: string;
  readonly allowNetwork: boolean;
  readonly allowFilesystem: boolean;
  readonly onlyFor: readonly string[];
  readonly priority: number;
  readonly breaker: { readonly maxFailures: number; readonly resetSecs: number } | undefined;
  readonly queueDepth: number;
  readonly sharedState: boolean;
  /** One process for many calls. */
  readonly isPersistent: boolean;
  /** It is started before its first call. */
  readonly isPrewarmed: boolean;
  /** For how long a response to the same input is used again. */
  readonly cacheSecs: Readonly<Partial<Record<HookName, number>>>;
  /** JSON Schemas; what does not fit is named in the trace. */
  readonly schemas: Readonly<Partial<Record<HookName, { readonly input?: object; readonly output?: object }>>>;
  /** 0: no limit of its own. */
  readonly maxMemoryMb: number;
  /** Values of `[config]`; undefined where it has none. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** Keys below [hooks], those at the top included. */
  readonly hookKeys: Readonly<Record<string, unknown>>;
}

const TTL_KEYS: Readonly<Partial<Record<HookName, string>>> = { ingest: 'hook_cache_ttl_secs', assemble: 'assemble_cache_ttl_secs', compact: 'compact_cache_ttl_secs' };
const DEFAULT_RUNTIME = 'python';
const QUEUE = 16;
const MAX_RETRIES = 5;

export const manifestOf = (raw: Readonly<Record<string, unknown>>): Manifest => {
  const hooks = { ...Object.fromEntries(HOOK_KEYS.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]])), ...tableOf(raw.hooks) };
  const top = { ...Object.fromEntries(TOP_KEYS.filter((key) => hooks[key] !== undefined).map((key) => [key, hooks[key]])), ...raw };
  const runtimeName = textOf(hooks.runtime) || DEFAULT_RUNTIME;
  const breaker = hooks.circuit_breaker === undefined ? undefined : tableOf(hooks.circuit_breaker);
  const failure = textOf(hooks.on_hook_failure);
  return {
    raw,
    name: textOf(raw.name),
    version: textOf(raw.version),
    description: textOf(raw.description),
    author: textOf(raw.author),
    minVersion: textOf(raw.svc_min_version) || null,
    requirements: textOf(top.requirements),
    dependsOn: textsOf(top.plugin_depends),
    needs: textsOf(top.needs),
    env: textTable(raw.env),
    envSchema: textTable(hooks.env_schema),
    integrity: raw.integrity === undefined ? undefined : textTable(raw.integrity),
    requires: (Array.isArray(raw.requires) ? raw.requires : []).map(tableOf).map(({ binary, install_hint }) => ({ binary: textOf(binary), install_hint: textOf(install_hint) })),
    i18n: Object.fromEntries(Object.entries(tableOf(raw.i18n)).map(([language, texts]) => [language, textTable(texts)])),
    hooks: Object.fromEntries(HOOKS.flatMap((hook) => (typeof hooks[hook] === 'string' && hooks[hook] !== '' ? [[hook, hooks[hook]]] : []))),
    runtimeName,
    runtime: launcherOf(runtimeName)?.runtime,
    timeoutSecs: Math.min(MAX_TIMEOUT_SECS, Math.max(1, numberOf(hooks.hook_timeout_secs) ?? MAX_TIMEOUT_SECS)),
    onFailure: failure === 'abort' || failure === 'skip' ? failure : 'warn',
    retries: Math.min(MAX_RETRIES, Math.max(0, Math.floor(numberOf(hooks.max_retries) ?? 0))),
    retryDelayMs: Math.max(0, numberOf(hooks.retry_delay_ms) ?? 500),
    ingestFilter: textOf(hooks.ingest_filter),
    ingestRegex: textOf(hooks.ingest_regex),
    allowNetwork: hooks.allow_network === true,
    allowFilesystem: hooks.allow_filesystem === true,
    onlyFor: textsOf(hooks.only_for_agent_ids),
    priority: numberOf(hooks.priority) ?? 0,
    breaker: breaker && { maxFailures: Math.max(1, numberOf(breaker.max_failures) ?? 5), resetSecs: Math.max(1, numberOf(breaker.reset_secs) ?? 60) },
    queueDepth: Math.min(1_000, Math.max(1, numberOf(hooks.after_turn_queue_depth) ?? QUEUE)),
    sharedState: hooks.enable_shared_state === true,
    isPersistent: hooks.persistent_subprocess === true,
    isPrewarmed: hooks.prewarm_subprocesses === true,
    cacheSecs: Object.fromEntries(Object.entries(TTL_KEYS).flatMap(([hook, key]) => (numberOf(hooks[key]) === undefined ? [] : [[hook, Math.max(0, numberOf(hooks[key]) ?? 0)]]))),
    schemas: Object.fromEntries(Object.entries(tableOf(hooks.hook_schemas)).map(([hook, value]) => [hook, schemasOf(tableOf(value))])),
    maxMemoryMb: Math.max(0, Math.floor(numberOf(hooks.max_memory_mb) ?? 0)),
    config: raw.config === undefined ? undefined : Object.fromEntries(Object.entries(tableOf(raw.config)).map(([key, value]) => [key, tableOf(value).default ?? null])),
    hookKeys: hooks,
  };
};

export const isPluginName = (name: string): boolean => new RegExp(PLUGIN_NAME).test(name);

/** A path of a hook that stays in its folder. */
export const isInside = (path: string): boolean => !path.startsWith('/') && !path.includes('\\') && !path.includes('\0') && !path.split('/').some((part) => part === '..' || part === '');

const schemasOf = ({ input, output }: Record<string, unknown>) => ({ ...(isTable(input) ? { input } : {}), ...(isTable(output) ? { output } : {}) });
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []);
const textTable = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(tableOf(value)).flatMap(([key, one]) => (['string', 'number', 'boolean'].includes(typeof one) ? [[key, String(one)]] : [])));
