/** The tools service over plain parts: a list of tools, hooks that a test fills, and time that a test moves. */
import { type AnyTool, type Capabilities, type CheckpointTake, defineTool, type Logger, type Plain, type ToolFacts, type ToolOutput, type ToolRequest, Type, type Verdict, actorFrom } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { virtualClock } from '@svc/platform/clock/clock';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import type { Spilling } from '../src/artifacts/spilling.js';
import { createWorkspaces } from '../src/builtin/workspace.js';
import type { CallRequest } from '../src/contract.js';
import { createDirectTools, createToolsService, type ToolsDeps } from '../src/service.js';
import type { TimeSettings } from '../src/time-limits.js';
import { createToolRegistry } from '../src/tool-registry.js';

export const AGENT = '11111111-1111-4111-8111-111111111111';

export const ALL: Capabilities = {
  tools: ['*'],
  network: ['*'],
  memory_read: [],
  memory_write: [],
  shell: ['*'],
  agent_spawn: false,
  agent_message: [],
  file_system: true,
  max_llm_tokens_per_hour: null,
};

export const echo = defineTool({
  name: 'echo',
  description: 'Says it back.',
  params: Type.Object({ text: Type.String(), times: Type.Optional(Type.Integer({ minimum: 1 })) }),
  risk: 'read',
  replay: 'safe',
  parallel: true,
  run: async ({ text }) => text,
});

export const toolThat = (name: string, run: AnyTool['run'], more: Partial<AnyTool> = {}): AnyTool => ({ ...echo, name, run, ...more });

export const call = (name: string, args: unknown, more: Partial<CallRequest> = {}): CallRequest => ({
  name,
  args,
  earlier: [],
  call: { callId: 'c1', runId: 'r1', agentId: AGENT, sessionId: 's1', actor: actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' }), depth: 0, capabilities: ALL },
  ...more,
});

const unused = async (): Promise<never> => Promise.reject(new Error('the kit has no read_artifact, so nothing is stored'));
export const noSpilling: Spilling = { artifacts: { idOf: () => '', store: unused, read: unused, forget: () => [], prune: unused }, threshold: () => 16_384 };

export const openTools = (tools: readonly AnyTool[]) => {
  const clock = virtualClock(0);
  const logged: Array<Record<string, unknown>> = [];
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (_message, fields) => void logged.push(fields ?? {}) };
  const taps: {
    before?: (request: ToolRequest) => Verdict | undefined;
    transform?: (output: ToolOutput) => ToolOutput;
    after?: (output: ToolOutput, request: ToolRequest) => ToolOutput;
    grants?: (capabilities: Capabilities) => Capabilities;
    checkpoint?: (taking: Plain<(typeof CheckpointTake)['subject']>) => Promise<void>;
    list?: (tools: readonly ToolFacts[]) => readonly ToolFacts[];
    manifest: Partial<AgentManifest>;
    time?: TimeSettings;
  } = { manifest: {} };
  const manifest = () => ({ tools_disabled: false, tool_allowlist: [], tool_blocklist: [], capabilities: ALL, ...taps.manifest });
  const deps: ToolsDeps = {
    registry: createToolRegistry({ tools: () => tools.map((tool) => ({ owner: 'test', bundled: true, tool })) }, { isEmpty: () => !taps.list, call: async (all) => taps.list?.(all) ?? all }),
    // The one method of agents that tools calls.
    agents: { get: async () => ({ id: AGENT, manifest: manifest() }) } as unknown as AgentsService,
    before: { isEmpty: () => !taps.before, call: async (request) => taps.before?.(request) },
    missed: { isEmpty: () => true, call: async () => undefined },
    grants: { isEmpty: () => !taps.grants, call: async (capabilities) => taps.grants?.(capabilities) ?? capabilities },
    checkpoint: { isEmpty: () => !taps.checkpoint, call: async (taking) => taps.checkpoint?.(taking) },
    workspaces: createWorkspaces(openDir('/nowhere')),
    start: { isEmpty: () => true, call: async () => undefined },
    transform: { isEmpty: () => !taps.transform, call: async (output) => taps.transform?.(output) ?? output },
    after: { isEmpty: () => !taps.after, call: async (output, request) => taps.after?.(output, request) ?? output },
    schemas: createValueChecks(),
    clock,
    spilling: noSpilling,
    lazyAbove: () => 40,
    timeSettings: () => taps.time ?? { defaultSecs: 120, byName: {} },
    log,
  };
  return { service: createToolsService(deps), direct: createDirectTools(deps), clock, taps, logged, manifest: () => manifest() as AgentManifest };
};
