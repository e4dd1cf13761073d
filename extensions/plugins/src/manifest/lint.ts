/** What is wrong in a plugin, and what is odd. Nothing of it is run. */
import { nearest } from '@svc/api';
import { RE2JS } from 're2js';
import type { Found } from '../launchers/found.js';
import { RUNTIMES } from '../launchers/launcher.js';
import { LAUNCHERS, launcherOf } from '../launchers/launchers.js';
import { type Plugin, scriptFault } from '../plugin-folder.js';
import { expandedName, isEnvName } from '../hooks/start.js';
import { HOOK_KEYS, HOOKS, isInside, MAX_TIMEOUT_SECS } from './manifest.js';
import { signatureFault } from './signing.js';

const NEEDS = ['network', 'filesystem', 'env', 'subprocess', 'gpu'];
const TOP = ['name', 'version', 'description', 'author', 'svc_min_version', 'requirements', 'plugin_depends', 'needs', 'env', 'integrity', 'signature', 'config', 'requires', 'i18n', 'hooks'];
const UNKEPT: Readonly<Record<string, string>> = {
  allowed_secrets: 'svc gives secrets to no script: use [env] with a variable of [exec_policy] allowed_env_vars',
  otel_endpoint: 'svc sends nothing there: see its traces',
};

export interface Linted {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

export interface LintDeps {
  runtimes(): Promise<readonly Found[]>;
  /** Which of these programs are not on PATH. */
  missing(programs: readonly string[]): Promise<readonly string[]>;
  names(): Promise<readonly string[]>;
  readonly sandboxed: boolean;
}

export const lint = async (plugin: Plugin, deps: LintDeps): Promise<Linted> => {
  if (plugin.fault !== undefined) return { errors: [`plugin.toml cannot be read: ${plugin.fault}`], warnings: [] };
  const [scripts, needs] = await Promise.all([scriptLines(plugin), needLines(plugin, deps)]);
  return {
    errors: [...nameErrors(plugin), ...keyErrors(plugin), ...scripts.errors],
    warnings: [...textWarnings(plugin), ...placeWarnings(plugin), ...scripts.warnings, ...needs, ...wallWarnings(plugin, deps.sandboxed)],
  };
};

const nameErrors = ({ name, manifest, enabled: _enabled }: Plugin): string[] => {
  const signature = signatureFault(manifest.raw);
  return [
    ...(manifest.name === '' ? ['name is missing'] : manifest.name === name ? [] : [`name is "${manifest.name}", but the folder is "${name}"`]),
    ...(manifest.runtime === undefined ? [`runtime "${manifest.runtimeName}" does not exist: ${RUNTIMES.join(', ')}`] : []),
    ...(signature === undefined ? [] : [signature]),
  ];
};

const keyErrors = ({ manifest }: Plugin): string[] => {
  const { hookKeys } = manifest;
  const seconds = hookKeys.hook_timeout_secs;
  return [
    ...(typeof seconds === 'number' && (seconds > MAX_TIMEOUT_SECS || seconds < 1)
      ? [`hook_timeout_secs is ${seconds}; it counts as ${manifest.timeoutSecs}, because a hook has 1 to ${MAX_TIMEOUT_SECS} seconds`]
      : []),
    ...Object.entries(UNKEPT).flatMap(([key, instead]) => (hookKeys[key] === undefined ? [] : [`${key} is not supported: ${instead}`])),
    ...(hookKeys.on_hook_failure !== undefined && !['warn', 'abort', 'skip'].includes(String(hookKeys.on_hook_failure))
      ? [`on_hook_failure is "${String(hookKeys.on_hook_failure)}"; use warn, abort or skip`]
      : []),
    ...(hookKeys.hook_protocol_version === undefined || hookKeys.hook_protocol_version === 1 ? [] : ['hook_protocol_version is not 1: svc speaks no other version']),
    ...Object.keys(manifest.schemas).flatMap((hook) => (HOOKS.some((one) => one === hook) ? [] : [`hook_schemas.${hook} is for a hook that does not exist: ${HOOKS.join(', ')}`])),
    ...(manifest.isPrewarmed && !manifest.isPersistent ? ['prewarm_subprocesses needs persistent_subprocess = true: other processes begin with their call'] : []),
    ...Object.keys(manifest.env).flatMap((name) => (isEnvName(name) ? [] : [`[env] ${name} is refused: no plugin sets this variable`])),
    ...(manifest.ingestRegex === '' || isPattern(manifest.ingestRegex) ? [] : ['ingest_regex cannot be read as a pattern of RE2']),
  ];
};

const isPattern = (text: string): boolean => {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
};

const scriptLines = async (plugin: Plugin): Promise<Linted> => {
  const { manifest, dir } = plugin;
  const errors: string[] = [];
  const warnings: string[] = [];
  const launcher = launcherOf(manifest.runtimeName);
  for (const [hook, path] of Object.entries(manifest.hooks)) {
    const fault = await scriptFault(plugin, path);
    if (fault) errors.push(`${hook}: ${fault.message}`);
    if (launcher && launcher.extension !== '' && !path.endsWith(launcher.extension) && !(launcher.runtime === 'node' && /\.[cm]js$/.test(path)))
      warnings.push(`${hook}: ${path} does not end with ${launcher.extension}, as ${launcher.runtime} has it`);
    if (manifest.runtime === 'native' && !fault && isInside(path) && !(await isProgram(dir, path))) errors.push(`${hook}: ${path} is no program: it begins neither as a binary nor with #!`);
  }
  if (Object.keys(manifest.hooks).length === 0) warnings.push('it has no hooks');
  if (manifest.integrity === undefined) warnings.push('it is not signed: svc plugins sign');
  return { errors, warnings };
};

const MAGIC = ['#!', '\u007fELF', '\u00cf\u00fa\u00ed\u00fe', '\u00ca\u00fe\u00ba\u00be', '\u00fe\u00ed\u00fa\u00cf'];

const isProgram = async (dir: Plugin['dir'], path: string): Promise<boolean> => {
  let head = '';
  for await (const piece of dir.readStream(path, { end: 4 })) head += Buffer.from(piece).toString('latin1');
  return MAGIC.some((magic) => head.startsWith(magic));
};

const textWarnings = ({ manifest, enabled }: Plugin): string[] => [
  ...(['version', 'description', 'author'] as const).flatMap((key) => (manifest[key] === '' ? [`${key} is empty`] : [])),
  ...(enabled ? [] : ['it is disabled: svc plugins enable']),
];

const placeWarnings = ({ manifest: { raw, hookKeys } }: Plugin): string[] => [
  ...HOOK_KEYS.flatMap((key) => (raw[key] === undefined ? [] : [`${key} stands at the top; it belongs under [hooks], and is read there`])),
  ...['requirements', 'plugin_depends', 'needs'].flatMap((key) => (hookKeys[key] === undefined ? [] : [`${key} stands under [hooks]; it belongs at the top, before [hooks]`])),
  ...Object.keys(raw).flatMap((key) => ([...TOP, ...HOOK_KEYS].includes(key) ? [] : [unknown(key, TOP)])),
  ...Object.keys(hookKeys).flatMap((key) => ([...HOOKS, ...HOOK_KEYS, 'requirements', 'plugin_depends', 'needs'].includes(key) ? [] : [unknown(`hooks.${key}`, HOOK_KEYS)])),
];

const unknown = (key: string, known: readonly string[]): string => {
  const close = nearest(key.replace(/^hooks\./, ''), known);
  return `${key} is not a key of plugin.toml${close === undefined ? '' : `; did you mean ${close}?`}`;
};

const needLines = async ({ manifest }: Plugin, deps: LintDeps): Promise<string[]> => {
  const binaries = manifest.requires.map(({ binary }) => binary).filter((one) => /^[A-Za-z0-9._+-]+$/.test(one));
  const [missing, names, runtimes] = await Promise.all([deps.missing(binaries), deps.names(), deps.runtimes()]);
  const found = runtimes.find(({ runtime }) => runtime === manifest.runtime);
  return [
    ...(found?.available === false ? [`the launcher of ${found.runtime} is not on PATH. ${LAUNCHERS[found.runtime].hint}`] : []),
    ...missing.map((one) => `the program ${one} is not on PATH. ${manifest.requires.find(({ binary }) => binary === one)?.install_hint ?? ''}`.trim()),
    ...manifest.dependsOn.flatMap((one) => (names.includes(one.replace(/[<>=].*$/, '').trim()) ? [] : [`it depends on the plugin ${one}, which is not there`])),
    ...manifest.needs.flatMap((need) => (NEEDS.includes(need) ? [] : [`needs: "${need}" is none of ${NEEDS.join(', ')}`])),
    ...Object.entries(manifest.env).flatMap(([name, value]) =>
      value.includes('${') && expandedName(value) === undefined ? [`[env] ${name}: only a whole value such as \${NAME} is taken from the environment`] : [],
    ),
  ];
};

const wallWarnings = ({ manifest }: Plugin, sandboxed: boolean): string[] => [
  ...(manifest.allowFilesystem && !manifest.allowNetwork ? ['allow_filesystem runs its hooks without a sandbox: the network cannot be kept from them either'] : []),
  ...(sandboxed || manifest.allowFilesystem ? [] : ['its walls are not enforced here: the sandbox does not work']),
];
