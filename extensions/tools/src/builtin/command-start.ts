/** From a command that a model wrote to the program that is started, with or without a shell. */
import { type AgentReach, type Capabilities, type ExecOptions, mayUseShell, type OwnHook, parseCommandLine, type SandboxState, type ToolCall } from '@svc/api';
import type { CommandFolders } from '../contract.js';
import { toolErrors } from '../errors.js';

/** What a program run without a shell reads of how it was called: nobody sits at a terminal, and git starts nothing else on its own. */
const UNATTENDED: Readonly<Record<string, string>> = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_TERMINAL_PROMPT: '0',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  // Stands above what a repository's own configuration says.
  ...gitConfig({ 'core.hooksPath': '/dev/null', 'core.fsmonitor': 'false', 'protocol.ext.allow': 'never', 'safe.bareRepository': 'explicit' }),
};

type Start = readonly [program: string, args: readonly string[], options: Pick<ExecOptions, 'env' | 'guardsOwnFiles'>];

/** A shell for whoever was granted one; for others the program itself, whose arguments no shell has touched. */
export const startOf = (tool: string, command: string, capabilities: Capabilities): Start => {
  if (mayUseShell(capabilities)) return ['/bin/sh', ['-c', command], {}];
  const line = parseCommandLine(command);
  // Validated before; what was granted may have been taken away since.
  if (capabilities.shell.length === 0 || capabilities.exec?.mode === 'deny') throw toolErrors.not_offered(tool, 'it is granted no command');
  if ('problem' in line) throw toolErrors.bad_arguments(tool, line.problem);
  const [program = '', ...args] = line.words;
  return [program, args, { env: UNATTENDED, guardsOwnFiles: true }];
};

/** Of the variables that the operator lets through, those that the manifest names. */
export const variablesOf = ({ exec }: Capabilities): Pick<ExecOptions, 'envNames'> => (exec?.env ? { envNames: exec.env } : {});

/** What a command reaches in the sandbox, beside its workspace. */
export type ReachOf = (call: Pick<ToolCall, 'actor' | 'agentId' | 'capabilities'>, command: string) => Promise<AgentReach>;

/** What its capabilities say. */
export const grantedReach: ReachOf = async ({ capabilities: { network, mounts = [] } }) => ({
  hosts: network,
  mounts: mounts.map((mount) => ({ path: mount.replace(/:rw$/, ''), isWritable: mount.endsWith(':rw') })),
});

/** With the folders that areas add. */
export const createReach =
  (folders: Pick<OwnHook<typeof CommandFolders>, 'call' | 'isEmpty'>): ReachOf =>
  async (call, command) => {
    const granted = await grantedReach(call, command);
    if (folders.isEmpty()) return granted;
    const more = await folders.call({ actor: call.actor, agentId: call.agentId, command });
    return { ...granted, mounts: [...granted.mounts, ...more.flatMap(({ value = [] }) => value.map((path) => ({ path, isWritable: false })))] };
  };

/** Undefined where it was kept apart. */
export const sandboxNote = (sandbox: SandboxState | undefined): string | undefined =>
  sandbox === undefined || sandbox.isOn ? undefined : `[no sandbox: ${sandbox.cause}. This command ran as the user of the daemon, and could reach what that user can.]`;

/** What whoever grants commands should know of this machine. */
export const consentOf = (sandbox: SandboxState): string[] =>
  sandbox.isOn ? [] : [`[capabilities] shell: commands run without a sandbox here, as the user of the daemon, and reach what that user can: ${sandbox.cause}. ${sandbox.fix}`];

/** One line that is read as just these words, by a shell and by `parseCommandLine`. */
export const lineOf = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

/** Configuration that git takes from the environment. */
function gitConfig(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length / 2), ...Object.fromEntries(entries) };
}
