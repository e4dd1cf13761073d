/**
 * Programs of skills among the tools of agents.
 *
 * R1  They are offered while their skill is on; an update or an uninstall takes them away, and a call that runs ends by itself.
 * R2  A program gets one JSON on its input, sees its folder for reading only, and reaches the hosts that its agent was granted.
 * R3  Arguments are checked against its schema before it starts. It has a deadline, and at most 1 MiB of output.
 * R4  Where no sandbox works it is refused for an agent without a shell.
 * R5  Of variables it gets those that its skill names and somebody stored a value for, out of the vault; never those that change how its interpreter starts.
 */
import { type AnyTool, type Disposable, type ExtensionContext, mayUseShell, type Plain, type ToolCall, toolNames, type ToolOutput, Type } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import type { Assigned } from '../assigned.js';
import type { ScriptTool } from '../format/skill-toml.js';
import type { Entry, Library } from '../library.js';
import { runWasmTool } from './wasm-tools.js';

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
const SPARE_MS = 10_000;
const NEVER_PASSED = /^(?:LD_|DYLD_|PYTHON(?:PATH|HOME|STARTUP)$|NODE_(?:OPTIONS|PATH)$|BASH_ENV$|ENV$|IFS$|PATH$|HOME$|SHELL$|PERL5|RUBY(?:OPT|LIB)$|SVC_)/;
const INTERPRETERS: Readonly<Record<string, string>> = { Python: 'python3', Node: 'node', Shell: 'bash' };

export interface ScriptDeps {
  readonly ctx: Pick<ExtensionContext, 'spawn' | 'sandbox' | 'secrets' | 'schemas' | 'tools' | 'workers' | 'clock' | 'log'>;
  readonly library: Library;
  readonly assigned: Assigned;
  readonly agents: Pick<AgentsService, 'get'>;
}

export interface ScriptOffer {
  /** Makes what is offered what is installed and on now. */
  refresh(): Promise<void>;
}

interface Offered {
  readonly key: string;
  readonly handle: Disposable;
}

export const secretName = (skill: string, variable: string): string => `skill.${skill}.${variable}`;

export const createScriptOffer = (deps: ScriptDeps): ScriptOffer => {
  let offered = new Map<string, Offered>();
  let turn: Promise<void> = Promise.resolve();
  const apply = async (): Promise<void> => {
    const all = deps.library
      .list()
      .filter((entry) => deps.assigned.isOn(entry) && (INTERPRETERS[entry.skill?.runtime ?? ''] !== undefined || entry.skill?.runtime === 'Wasm'))
      .flatMap((entry) => (entry.skill?.program?.tools ?? []).map((tool) => ({ entry, tool })));
    const names = await toolNames(
      'skill',
      all.map(({ entry, tool }) => ({ owner: entry.name, tool: tool.name })),
    );
    const next = new Map<string, Offered>();
    const wanted = all.map((one, index) => ({ ...one, name: names[index] ?? '', key: `${one.entry.folder} ${one.tool.name}` }));
    const staying = new Set(wanted.filter(({ name, key }) => offered.get(name)?.key === key).map(({ name }) => name));
    for (const [name, { handle }] of offered) if (!staying.has(name)) await handle.dispose();
    for (const { name, key, entry, tool } of wanted) {
      if (next.has(name)) continue;
      next.set(name, (staying.has(name) ? offered.get(name) : undefined) ?? { key, handle: deps.ctx.tools.add(asTool(deps, name, entry, tool)) });
    }
    offered = next;
  };
  return { refresh: () => (turn = turn.then(apply)) };
};

const asTool = (deps: ScriptDeps, name: string, entry: Entry, tool: ScriptTool): AnyTool => ({
  name,
  description: tool.description === '' ? `The program ${tool.name} of the skill ${entry.name}.` : tool.description,
  // A schema of somebody else: values are checked by it, whatever its form.
  params: { ...Type.Object({}), ...tool.schema } as AnyTool['params'],
  risk: 'write',
  replay: 'never',
  parallel: false,
  openWorld: true,
  source: { kind: 'skill', name: entry.name },
  timeoutMs: (entry.skill?.program?.timeoutSecs ?? 0) * 1_000 + SPARE_MS,
  run: async (args, call) => {
    const manifest: Plain<typeof AgentManifest> | undefined = call.agentId === '' ? undefined : (await deps.agents.get(call.actor, call.agentId)).manifest;
    const now = deps.library.find(entry.name);
    if (!now || now.folder !== entry.folder) return { content: `The skill ${entry.name} was uninstalled or updated. Read it again.`, isError: true };
    if (manifest && !deps.assigned.has(manifest, entry.name)) return { content: `You have no skill "${entry.name}".`, isError: true };
    if (entry.skill?.runtime === 'Wasm') return runWasmTool(deps, entry, tool, args as Readonly<Record<string, unknown>>, call);
    return runScript(deps, entry, tool, args as Readonly<Record<string, unknown>>, call);
  },
});

const runScript = async ({ ctx, library }: ScriptDeps, entry: Entry, tool: ScriptTool, input: Readonly<Record<string, unknown>>, call: ToolCall): Promise<ToolOutput> => {
  const program = entry.skill?.program;
  if (!program) return { content: `The skill ${entry.name} has no programs.`, isError: true };
  if (call.capabilities.exec?.mode === 'deny') return { content: 'The program was not started: exec_policy of this agent is "deny".', isError: true };
  const sandbox = await ctx.sandbox();
  if (!sandbox.isOn && !mayUseShell(call.capabilities))
    return {
      content: `The program was not started: no sandbox works on this machine (${sandbox.cause}), and this agent was not granted a shell. A person can set [capabilities] shell = ["*"], or make the sandbox work: ${sandbox.fix}`,
      isError: true,
    };
  const child = await ctx.spawn(INTERPRETERS[program.runtime] ?? '', [program.entry], {
    cwd: library.pathOf(entry),
    secretEnv: await variablesOf(ctx, entry),
    timeoutMs: program.timeoutSecs * 1_000,
    signal: call.signal,
    ownerKey: call.callId,
    agent: { hosts: call.capabilities.network, mounts: [], writes: [] },
  });
  // One that reads nothing has closed its input, which is no fault.
  await child.stdin.write(JSON.stringify({ tool: tool.name, input, config: program.config })).catch(() => undefined);
  child.stdin.end();
  const [out, err] = await Promise.all([collected(child.stdout, MAX_OUTPUT_BYTES, () => void child.kill()), collected(child.stderr, MAX_STDERR_BYTES)]);
  const { exitCode, why, exceeded, signal } = await child.exit;
  const source = { origin: { labels: ['ExternalNetwork' as const], source: `the program ${tool.name} of the skill ${entry.name}` } };
  const failed = (reason: string): ToolOutput => ({ content: `The program ${reason}.${err.text === '' ? '' : `\n${err.text}`}`, isError: true, ...source });
  if (out.isCut) return failed(`was ended: it wrote more than ${MAX_OUTPUT_BYTES} bytes`);
  if (why === 'timeout' || why === 'idle') return failed(`was ended after ${program.timeoutSecs} s`);
  if (why === 'exceeded') return failed(`was ended: it used ${exceeded ?? 'too much'}`);
  if (exitCode !== 0) return failed(exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`);
  return { content: resultOf(out.text), ...source };
};

/** An object as it is; plain text as `result`, as other hosts of skills have it. */
const resultOf = (text: string): string => {
  const trimmed = text.trim();
  try {
    const value: unknown = JSON.parse(trimmed);
    if (typeof value === 'object' && value !== null) return trimmed;
  } catch {
    // Plain text.
  }
  return JSON.stringify({ result: trimmed });
};

const collected = async (pieces: AsyncIterable<Uint8Array>, most: number, full?: () => void): Promise<{ text: string; isCut: boolean }> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    if (size <= most) parts.push(piece);
    size += piece.length;
    if (size > most) full?.();
  }
  return { text: Buffer.concat(parts).subarray(0, most).toString('utf8'), isCut: size > most };
};

const variablesOf = async ({ secrets }: Pick<ExtensionContext, 'secrets'>, { name, skill }: Entry): Promise<Record<string, { secret: string }>> => {
  const found: Record<string, { secret: string }> = {};
  for (const variable of skill?.requires.env ?? []) {
    if (NEVER_PASSED.test(variable.toUpperCase())) continue;
    const secret = secretName(name, variable);
    if ((await secrets.where({ secret })) !== undefined) found[variable] = { secret };
  }
  return found;
};
