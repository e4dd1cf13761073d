/**
 * From a plugin to the process of one of its hooks.
 *
 * W1  Unless its walls were lowered, a hook sees its own folder, read-only, its cache and its launcher, and has no network. Lowering them takes the manifest, and for
 *     a plugin that came from elsewhere the consent of whoever installed it.
 * W2  Where the sandbox does not work, the trace and the status say "not enforced"; with `[tools] sandbox = "required"` the hook does not run.
 * W3  A hook gets no variable of the daemon but those that `[exec_policy] allowed_env_vars` lets through and its [env] asks for.
 */
import type { Dir, SpawnOptions } from '@svc/api';
import type { Found, Finder } from '../launchers/found.js';
import type { Runtime } from '../launchers/launcher.js';
import { LAUNCHERS } from '../launchers/launchers.js';
import type { Manifest } from '../manifest/manifest.js';
import { CACHE, type Plugin } from '../plugin-folder.js';
import type { Fault, Start } from './hook-process.js';

const KB_PER_MB = 1_024;
const MAX_MESSAGE_BYTES = 32_768;
const EXPANDED = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
/** They would make another program load code of their choice, or are the daemon's own. */
const REFUSED = /^(LD_|DYLD_|SVC_)|^(NODE_OPTIONS|BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT|PATH|HOME|IFS)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Walls {
  readonly network: boolean;
  readonly filesystem: boolean;
}

/** What a hook belongs to: a plugin, or a line of config.toml. */
export interface HookHome {
  readonly name: string;
  readonly manifest: Manifest;
  /** Where it starts. */
  readonly cwd: string;
  /** Where svc may write for it; undefined outside of plugins/. */
  readonly dir: Dir | undefined;
  /** Which walls are lowered. */
  readonly lowered: Walls;
}

export interface StartDeps {
  readonly finder: Pick<Finder, 'of' | 'forget'>;
}

export interface StartQuestion {
  readonly hook: string;
  /** As the manifest has it; an absolute path for a line of config.toml. */
  readonly script: string;
  readonly agentId: string;
  readonly message: string;
  readonly limitMs: number;
}

export const isEnvName = (name: string): boolean => NAME.test(name) && !REFUSED.test(name);

/** The variable that a value is taken from. */
export const expandedName = (value: string): string | undefined => EXPANDED.exec(value)?.[1];

export const homeOf = (plugin: Plugin, lowered: Walls): HookHome => ({ name: plugin.name, manifest: plugin.manifest, cwd: plugin.dir.path, dir: plugin.dir, lowered });

export const startOf = async (deps: StartDeps, home: HookHome, question: StartQuestion): Promise<Start | Fault> => {
  const { manifest } = home;
  if (manifest.runtime === undefined) return { kind: 'ManifestError', message: `there is no runtime "${manifest.runtimeName}"` };
  const launcher = LAUNCHERS[manifest.runtime];
  const found = await deps.finder.of(manifest.runtime);
  if (!found.available) return { kind: 'LauncherNotFound', message: `LauncherNotFound: ${launcher.programs.join(' or ')} for the hook ${question.hook} is not on PATH. ${launcher.hint}` };
  await home.dir?.write(`${CACHE}/.svc`, 'What the hooks of this plugin may write to.\n');
  if (manifest.config) await home.dir?.write(`${CACHE}/config.json`, JSON.stringify(manifest.config));
  const words = found.program === null ? [scriptPath(home, question.script)] : [found.program, ...launcher.args, scriptPath(home, question.script)];
  const { command, args, options } = withEnv(words, home, envOf(home, manifest.runtime, question));
  return {
    hook: question.hook,
    launcher: launcher.programs[0] ?? question.script,
    command,
    args,
    limitMs: question.limitMs,
    walls: home.lowered.filesystem ? 'lowered' : 'enforced',
    options: { ...options, ...reachOf(home, found), ownerKey: `plugins.${home.name}` },
  };
};

const scriptPath = ({ cwd }: HookHome, script: string): string => (script.startsWith('/') ? script : `${cwd}/${script}`);

/** Without its filesystem wall there is no sandbox, and so no wall around the network either. */
const reachOf = (home: HookHome, { folders }: Found): Pick<SpawnOptions, 'agent' | 'isUnconfined' | 'cwd'> =>
  home.lowered.filesystem
    ? { cwd: home.cwd, isUnconfined: true }
    : {
        cwd: home.cwd,
        agent: { hosts: home.lowered.network ? ['*'] : [], mounts: folders.map((path) => ({ path, isWritable: false })), writes: home.dir ? [CACHE] : [] },
      };

const envOf = (home: HookHome, runtime: Runtime, { agentId, message }: StartQuestion): Record<string, string> => ({
  ...LAUNCHERS[runtime].env?.(`${home.cwd}/${CACHE}`),
  SVC_AGENT_ID: agentId,
  SVC_MESSAGE: cut(message),
  SVC_RUNTIME: runtime,
  SVC_PLUGIN_DIR: home.cwd,
  ...(home.lowered.filesystem ? {} : { SVC_READONLY_FS: '1' }),
  ...(home.manifest.sharedState && home.dir ? { SVC_STATE_FILE: `${home.cwd}/${CACHE}/state.json` } : {}),
  ...(home.manifest.config && home.dir ? { SVC_PLUGIN_CONFIG: `${home.cwd}/${CACHE}/config.json` } : {}),
});

/** No NUL, and no half of a character. */
const cut = (message: string): string => {
  const bytes = Buffer.from(message.replaceAll('\0', ''));
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes.toString('utf8');
  return bytes
    .subarray(0, MAX_MESSAGE_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
};

/** What `[env]` takes from the daemon's environment is put in by a shell: nobody here needs to know the values. */
const withEnv = (words: readonly string[], { manifest }: HookHome, own: Record<string, string>): { command: string; args: readonly string[]; options: Pick<SpawnOptions, 'env' | 'envNames'> } => {
  const [command = '', ...args] = words;
  const wanted = Object.entries(manifest.env).filter(([name]) => isEnvName(name));
  const given = Object.fromEntries(wanted.filter(([, value]) => expandedName(value) === undefined && !value.includes('\0')));
  const taken = wanted.flatMap(([name, value]) => {
    const from = expandedName(value);
    return from === undefined ? [] : [{ name, from }];
  });
  const env = { ...given, ...own };
  const limit = manifest.maxMemoryMb === 0 ? '' : `ulimit -d ${manifest.maxMemoryMb * KB_PER_MB}; `;
  if (taken.length === 0 && limit === '') return { command, args, options: { env, envNames: [] } };
  const script = `${limit}${taken.map(({ name, from }) => `${name}="\${${from}-}"; export ${name};`).join(' ')} exec "$0" "$@"`;
  return { command: 'sh', args: ['-c', script, command, ...args], options: { env, envNames: [...new Set(taken.map(({ from }) => from))] } };
};
