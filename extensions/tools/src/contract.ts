/** What tools declares to other areas: list, validate and execute, for runs, direct calls and MCP alike. */
import {
  ToolRequest,
  ToolOutput,
  definePipe,
  Actor,
  CallFacts,
  Need,
  OneOf,
  Origin,
  type Plain,
  SealedWrites,
  type Service,
  ToolFacts,
  ToolFile,
  ToolSource,
  ToolPreview,
  ToolStatus,
  Type,
  defineGather,
  defineService,
  defineWork,
  method,
} from '@svc/api';
import { AgentManifest } from '@svc/ext-agents/contract';

export const READ_ARTIFACT = 'read_artifact';
export const TOOL_SEARCH = 'tool_search';
export const TOOL_LOAD = 'tool_load';

/** They show an agent what it may use and what its calls gave, and nothing else: who may use a tool may use them. */
export const TOOLS_OF_OTHERS: ReadonlySet<string> = new Set([READ_ARTIFACT, TOOL_SEARCH, TOOL_LOAD]);

const Replay = OneOf(['safe', 'keyed', 'never']);

export const ToolInfo = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: Type.Unknown(),
  source: Type.String(),
  from: Type.Optional(ToolSource),
  risk: ToolFacts.properties.risk,
  replay: Replay,
  parallel: Type.Boolean(),
  deferred: Type.Optional(Type.Boolean({ description: 'True where a model is sent it only after it has loaded it' })),
});
export type ToolInfo = Plain<typeof ToolInfo>;

export const CallRequest = Type.Object({
  name: Type.String(),
  args: Type.Unknown(),
  argsError: Type.Optional(Type.String()),
  call: CallFacts,
  earlier: Type.Array(Type.Object({ digest: Type.String(), status: Type.String(), missed: Type.Optional(Type.Boolean()) })),
  isProvisional: Type.Optional(Type.Boolean({ description: 'As in the subject of tool.before' })),
});
export type CallRequest = Plain<typeof CallRequest>;

export const CallDecision = Type.Object({
  verdict: OneOf(['run', 'deny', 'suspend']),
  digest: Type.String(),
  replay: Replay,
  parallel: Type.Boolean(),
  reason: Type.Optional(Type.String({ description: 'deny: the text for the model' })),
  code: Type.Optional(Type.String()),
  missed: Type.Optional(Type.Boolean({ description: 'deny: the call reaches no tool' })),
  missing: Type.Optional(Type.Array(Need, { description: 'deny: what a person can grant, as in `[capabilities]`' })),
  suspend: Type.Optional(Type.Object({ reason: Type.String(), wakeKey: Type.String(), until: Type.Optional(Type.String()), data: Type.Optional(Type.Unknown()) })),
});
export type CallDecision = Plain<typeof CallDecision>;

export const ToolResult = Type.Object({ content: Type.String(), isError: Type.Boolean(), status: ToolStatus, origin: Type.Optional(Origin), files: Type.Optional(Type.Array(ToolFile)) });
export type ToolResult = Plain<typeof ToolResult>;

/**
 * The result of a tool, right after it ran, for taps that take their time: only its text and where that came from can be changed. The guards of
 * `tool.after` read what is made of it.
 */
export const ToolTransform = definePipe('tool.transform', '1.0.0', { policy: 'open', budgetMs: 35_000, remote: true, value: ToolOutput, context: ToolRequest });

export const Tools = defineService('tools', '1.4.0', {
  all: method([], Type.Array(ToolInfo), { what: 'sees which tools there are' }),
  /** Those an agent with this manifest may call. */
  list: method([Actor, Type.String({ description: 'Agent id' }), AgentManifest], Type.Array(ToolInfo), { what: 'sees which tools there are' }),
  /** Validates arguments and runs the veto chain. */
  decide: method([CallRequest], CallDecision),
  /** What the call would do, for a person who decides about it. Rejects for nothing that is wrong with the arguments: then it shows them. */
  preview: method([CallRequest], ToolPreview),
  /** Runs a validated call until it ends or is cancelled; never throws for what the tool did wrong. */
  execute: method([CallRequest], ToolResult),
  /** A call without a model, by the rules of `[tool_invoke]`, or of `allow` in its place. Entered in the audit log. Throws for what is refused. */
  invoke: method([Actor, Type.Object({ name: Type.String(), args: Type.Unknown(), allow: Type.Optional(Type.Array(Type.String(), { description: 'Patterns of tools' })) })], ToolResult),
  /** Which tools may be called so; none while it is off. */
  invokable: method([Actor], Type.Object({ allowlist: Type.Array(Type.String()) })),
  /** Writes that delete what is stored of results of a session's calls: they join the commit that discards the session. */
  forget: method([Actor, Type.String({ description: 'Session id' })], SealedWrites),
});
export type ToolsService = Service<typeof Tools>;

/** Folders that a command of an agent may read in its sandbox, beside its workspace and its mounts: of a skill whose program it names. */
export const CommandFolders = defineGather('command.folders', '1.0.0', {
  policy: 'open',
  budgetMs: 2_000,
  subject: Type.Object({ actor: Actor, agentId: Type.String(), command: Type.String() }),
  answer: Type.Array(Type.String({ description: 'Absolute; below `skills` of the home where it lies in the home' })),
});

/** A process of an agent: as long as it runs, its daemon holds the lease. Who finds a run that nobody holds knows that its daemon died. */
export const ProcessWork = defineWork('tools.process', '1.0.0', {
  input: Type.Object({ agentId: Type.String(), callId: Type.String({ description: 'The call that started it: by this name a survivor of a crash is found' }) }),
  result: Type.Object({}),
});
