import { type AnyTool, type Capabilities, defineTool, type ExecOptions, type ExecResult, type ExtensionContext, Type } from '@svc/api';
import { grantedReach, type ReachOf, sandboxNote, startOf, variablesOf } from './command-start.js';
import { commandPreview } from './previews.js';
import type { Workspaces } from './workspace.js';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;
/** The adapter ends the process at the call's own limit; this one only catches an adapter that does not. */
const GRACE_MS = 10_000;
const MAX_OUTPUT_BYTES = 48 * 1024;

export const shellTool = (workspaces: Workspaces, exec: ExtensionContext['exec'], reachOf: ReachOf = grantedReach): AnyTool =>
  defineTool({
    name: 'shell_exec',
    description:
      'Runs a command in your workspace and answers with its exit code and output. Unless you were granted a shell it is one program with its arguments: quotes work; pipes, redirections, variables, wildcards and several commands do not.',
    params: Type.Object({
      command: Type.String({ minLength: 1, maxLength: 100_000 }),
      timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SECONDS, description: `Default ${DEFAULT_SECONDS}` })),
    }),
    risk: 'exec',
    needs: ({ command }) => [{ capability: 'shell', target: command }],
    writes: 'unknown',
    replay: 'never',
    parallel: false,
    timeoutMs: MAX_SECONDS * 1000 + GRACE_MS,
    preview: ({ command }) => commandPreview(command),
    run: async ({ command, timeout_seconds = DEFAULT_SECONDS }, call) => {
      const { capabilities } = call;
      const seconds = Math.min(timeout_seconds, capabilities.exec?.timeout_secs ?? MAX_SECONDS);
      const [program, args, options] = startOf('shell_exec', command, capabilities);
      const dir = await workspaces.made(call);
      const done = await exec(program, args, {
        ...options,
        ...variablesOf(capabilities),
        ...limitsOf(capabilities),
        cwd: dir.path,
        timeoutMs: seconds * 1000,
        signal: call.signal,
        // So that a child which outlived the daemon is found and ended before the run goes on.
        ownerKey: call.callId,
        agent: await reachOf(call, command),
      });
      return { content: describe(done, seconds), isError: done.timedOut || done.exceeded !== undefined || done.exitCode !== 0 };
    },
  });

const limitsOf = ({ exec }: Capabilities): Pick<ExecOptions, 'maxOutputBytes' | 'idleTimeoutMs'> => ({
  maxOutputBytes: Math.min(MAX_OUTPUT_BYTES, exec?.max_output_bytes ?? MAX_OUTPUT_BYTES),
  ...(exec?.no_output_timeout_secs ? { idleTimeoutMs: exec.no_output_timeout_secs * 1000 } : {}),
});

const describe = (done: ExecResult, seconds: number): string => {
  const end =
    done.exceeded !== undefined
      ? `stopped: it used ${done.exceeded}`
      : done.timedOut
        ? `stopped after ${Math.min(seconds, Math.floor(done.durationMs / 1000))} s`
        : done.exitCode === null
          ? `ended by signal ${done.signal ?? 'unknown'}`
          : `exit code ${done.exitCode}`;
  const parts = [`[${end}, ${Math.round(done.durationMs)} ms]`];
  if (done.stdout !== '') parts.push(done.stdout);
  if (done.stderr !== '') parts.push(`[stderr]\n${done.stderr}`);
  const note = sandboxNote(done.sandbox);
  if (note !== undefined) parts.push(note);
  if (done.truncated) parts.push('[the output was longer; only its beginning is shown]');
  return parts.join('\n');
};
