/** Tools: what a model may call. A tool lives with the area whose effect it is. */
import { Actor } from './actor.js';
import type { Plain } from './declare/plain.js';
import type { Logger } from './adapters.js';
import type { Replay } from './journal.js';
import { Nullable, OneOf, type Static, type TObject, Type } from './schema/schema.js';

/** `deny`: no process. `allowlist`: single programs, never a shell. `full`: what `shell` grants. */
export const ExecLimits = Type.Object({
  mode: OneOf(['deny', 'allowlist', 'full']),
  programs: Nullable(Type.Array(Type.String()), { description: 'Names of programs, of which the command has to begin with one; null when the manifest names none' }),
  env: Nullable(Type.Array(Type.String()), { description: "Of the variables that the daemon's own `[exec_policy]` lets through, only these; null for all of them" }),
  timeout_secs: Nullable(Type.Number()),
  no_output_timeout_secs: Nullable(Type.Number()),
  max_output_bytes: Nullable(Type.Number()),
});
export type ExecLimits = Plain<typeof ExecLimits>;

/** What an agent may do (manifest section `[capabilities]`). Empty `tools` means every tool that needs no grant. */
export const Capabilities = Type.Object({
  tools: Type.Array(Type.String()),
  network: Type.Array(Type.String()),
  memory_read: Type.Array(Type.String()),
  memory_write: Type.Array(Type.String()),
  shell: Type.Array(Type.String()),
  agent_spawn: Type.Boolean(),
  agent_message: Type.Array(Type.String()),
  file_system: Type.Boolean(),
  max_llm_tokens_per_hour: Nullable(Type.Number()),
  max_tool_calls_per_minute: Type.Optional(Nullable(Type.Number(), { description: 'Calls of tools in any 60 s; none, and 0, mean no limit' })),
  exec: Type.Optional(ExecLimits),
  mounts: Type.Optional(Type.Array(Type.String(), { description: 'Folders that its commands see in their sandbox, for reading; with `:rw` behind it for writing' })),
  declared: Type.Optional(Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Array(Type.String())]), { description: 'Grants of capabilities that areas declare, by name' })),
  sources: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'By kind of source: whose tools the agent is given, whatever `tools` says, and no others of that kind; `*` for all. A kind that is not named goes by `tools`',
    }),
  ),
});
export type Capabilities = Plain<typeof Capabilities>;

/** Who calls a tool, and under which grants. */
export const CallFacts = Type.Object({
  callId: Type.String({ description: 'Unique per call, the same after a restart: the idempotency key of `keyed` tools' }),
  runId: Type.String(),
  agentId: Type.String({ description: 'Empty for a call without an agent' }),
  sessionId: Type.String(),
  actor: Actor,
  depth: Type.Integer({ description: 'Number of agents above this run' }),
  parentRunId: Type.Optional(Type.String({ description: 'The run of the agent that began this run' })),
  capabilities: Capabilities,
});
export type CallFacts = Plain<typeof CallFacts>;

/** What a tool gets beside its arguments. */
export interface ToolCall extends CallFacts {
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export const ToolStatus = OneOf(['completed', 'error', 'waiting_approval', 'denied', 'expired', 'skipped', 'outcome_unknown']);
export type ToolStatus = Plain<typeof ToolStatus>;

export const TaintLabel = OneOf(['ExternalNetwork', 'UserInput', 'Pii', 'Secret', 'UntrustedAgent']);
export type TaintLabel = Plain<typeof TaintLabel>;

/** Where a text came from. It goes with the text into the conversation, so that policies know it later. */
export const Origin = Type.Object({
  labels: Type.Array(TaintLabel, { description: 'None for text that nobody else wrote' }),
  source: Type.String({ description: 'For a person: the tool with its host or file, or who wrote it' }),
  sessionId: Type.Optional(Type.String({ description: 'The conversation that it came from: what was read there counts as read here' })),
});
export type Origin = Plain<typeof Origin>;

/** A file that a call gave: an upload of the call's actor. */
export const ToolFile = Type.Object({ id: Type.String({ description: 'Of the upload' }), name: Type.String(), mediaType: Type.String() });
export type ToolFile = Plain<typeof ToolFile>;

export const ToolOutput = Type.Object({
  content: Type.String({ description: 'The text for the model' }),
  files: Type.Optional(Type.Array(ToolFile, { description: 'Beside the text. Pictures are shown to models that can see them; the text names the others' })),
  origin: Type.Optional(Origin),
  isError: Type.Optional(Type.Boolean()),
  status: Type.Optional(ToolStatus),
});
export type ToolOutput = Plain<typeof ToolOutput>;

const Truncated = Type.Boolean({ description: 'There is more than is shown' });

export const FileChange = Type.Object({
  path: Type.String({ description: 'In the workspace' }),
  change: OneOf(['create', 'update', 'delete']),
  before: Type.Optional(Nullable(Type.String(), { description: 'Hex SHA-256 of the file that this was made of; null where there was none' })),
  diff: Type.String({ description: 'Unified: lines that begin with a space, - or +, in hunks that begin with @@' }),
  added: Type.Integer({ description: 'Lines' }),
  removed: Type.Integer({ description: 'Lines' }),
  truncated: Truncated,
});
export type FileChange = Plain<typeof FileChange>;

/** What a call would do, made from its arguments alone: what a person sees before it runs. */
export const ToolPreview = Type.Union(
  [
    Type.Object({
      kind: Type.Literal('command'),
      line: Type.String(),
      argv: Nullable(Type.Array(Type.String()), { description: 'The program and its arguments; null for a line that only a shell can read' }),
      truncated: Truncated,
    }),
    Type.Object({ kind: Type.Literal('diff'), files: Type.Array(FileChange) }),
    Type.Object({ kind: Type.Literal('request'), method: Type.String(), host: Type.String(), url: Type.String() }),
    Type.Object({
      kind: Type.Literal('arguments'),
      text: Type.String({ description: 'The arguments as JSON' }),
      truncated: Truncated,
      problem: Type.Optional(Type.String({ description: 'Why there is no better preview' })),
    }),
  ],
  { 'x-name': 'ToolPreview' },
);
export type ToolPreview = Plain<typeof ToolPreview>;

/** One thing a call needs of its agent's capabilities. */
export const Need = Type.Object({
  capability: Type.String({ description: 'As `[capabilities]` of a manifest calls it: the interface, or the area that declares it' }),
  target: Type.Optional(Type.String({ description: 'Which of it: the command line, the address, the receiver, the path in the workspace. Without one the call needs all of it' })),
});
export type Need = Plain<typeof Need>;

/** Who brought a tool that comes and goes while its extension runs: a server, a skill. Left out for tools of the extension itself. */
export const ToolSource = Type.Object({ kind: Type.String({ description: 'Such as `mcp`' }), name: Type.String({ description: 'Which of them: the name of the server' }) });
export type ToolSource = Plain<typeof ToolSource>;

/** What a tool is, for whoever validates or lists it: never the thing that runs it. */
export const ToolFacts = Type.Object({
  name: Type.String(),
  description: Type.String(),
  params: Type.Unknown({ description: 'JSON Schema of the arguments' }),
  risk: OneOf(['read', 'write', 'network', 'exec', 'agent']),
  replay: OneOf(['safe', 'keyed', 'never']),
  parallel: Type.Boolean(),
  capabilities: Type.Array(Type.String(), { description: 'Capabilities that every call needs' }),
  openWorld: Type.Optional(Type.Boolean({ description: 'False: its results hold nothing that others wrote' })),
  source: Type.Optional(ToolSource),
});
export type ToolFacts = Plain<typeof ToolFacts>;
export type ToolRisk = ToolFacts['risk'];

/** What the risk alone asks for, whatever a tool says of itself. */
const NEEDED_BY_RISK: Readonly<Partial<Record<ToolRisk, string>>> = { exec: 'shell', network: 'network' };

const capabilitiesOf = ({ capabilities = [], risk }: Pick<AnyTool, 'capabilities' | 'risk'>): readonly string[] => {
  const byRisk = NEEDED_BY_RISK[risk];
  return byRisk === undefined || capabilities.includes(byRisk) ? capabilities : [...capabilities, byRisk];
};

export const factsOf = (tool: AnyTool): ToolFacts => {
  const { name, description, params, risk, replay, parallel, openWorld, source } = tool;
  return { name, description, params, risk, replay, parallel, capabilities: capabilitiesOf(tool), ...(openWorld === undefined ? {} : { openWorld }), ...(source === undefined ? {} : { source }) };
};

/** What one call needs; the arguments have been checked against `params`. What every call needs and `needs` gives no target of is needed as a whole. */
export const needsOf = (tool: AnyTool, args: Readonly<Record<string, unknown>>): readonly Need[] => {
  const named = typeof tool.needs === 'object' ? filled(tool.needs, args) : (tool.needs?.(args) ?? []);
  return [...named, ...capabilitiesOf(tool).flatMap((capability) => (named.some((need) => need.capability === capability) ? [] : [{ capability }]))];
};

/** An argument that is no text stands as its JSON, so that no two values look alike. */
const filled = (needs: readonly Need[], args: Readonly<Record<string, unknown>>): readonly Need[] =>
  needs.map(({ capability, target }) =>
    target === undefined ? { capability } : { capability, target: target.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => textOf(Object.hasOwn(args, name) ? args[name] : undefined)) },
  );

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export interface ToolDecl<P extends TObject = TObject> {
  readonly name: string;
  readonly description: string;
  readonly params: P;
  readonly risk: ToolRisk;
  /**
   * What a restart may do with a call whose outcome is not known: `safe` runs it again; `keyed` runs it
   * again with the same `callId`, which the tool must honour; `never` gives the model `outcome_unknown`.
   */
  readonly replay: Replay;
  /** May run beside other calls of the same message. */
  readonly parallel: boolean;
  /** Capabilities that every call needs: without one of them the tool is not even listed. The risks `exec` and `network` add `shell` and `network`. */
  readonly capabilities?: readonly string[];
  /**
   * What this call needs, and which of it: what validates go by. A pure function; or data, in whose targets `{name}` stands for that argument,
   * which can be validated without the code of the tool.
   */
  readonly needs?: ((args: Static<P>) => readonly Need[]) | readonly Need[];
  /** What a person sees who has to approve the call. It changes nothing. Without it, and where it throws, they see the arguments. */
  readonly preview?: (args: Static<P>, call: CallFacts) => ToolPreview | Promise<ToolPreview>;
  /**
   * Which files of its working folder a call changes, from there; `unknown` for a tool that starts a program. A checkpoint is taken
   * before it. A pure function of checked arguments. Left out: none.
   */
  readonly writes?: ((args: Static<P>) => readonly string[]) | 'unknown';
  /**
   * Whether its results may hold text that others wrote: pages, messages, rows of a service. Default true, as `openWorldHint` of MCP.
   * Such text is not trusted: an address in it reaches no other call without a person's consent. A call can say more by `origin` of its output.
   */
  readonly openWorld?: boolean;
  /** Who brought it, for tools that come and go: `GET /api/tools` shows it, and manifests may give all tools of one source. */
  readonly source?: ToolSource;
  /** Default 120 s. */
  readonly timeoutMs?: number;
  readonly run: (args: Static<P>, call: ToolCall) => Promise<ToolOutput | string>;
}

/** A declaration whose parameter type is no longer known: what registries hold. */
export type AnyTool = ToolDecl<TObject>;

export const defineTool = <P extends TObject>(decl: ToolDecl<P>): AnyTool =>
  // `run` only ever gets arguments that `params` has validated.
  decl as unknown as AnyTool;
