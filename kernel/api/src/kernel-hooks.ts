/** The hooks of the kernel itself, each with what crosses it, its kind, policy and budget. */
import { Actor } from './actor.js';
import { defineAsk, defineGather, definePipe, defineStep, defineVeto } from './declare/hook.js';
import type { Plain } from './declare/plain.js';
import { SendingPage } from './http/sending-page.js';
import { PurgeSubject } from './purge.js';
import { Nullable, OneOf, Type } from './schema/schema.js';
import { SecurityFinding } from './security.js';
import { CallFacts, Capabilities, Need, ToolFacts, ToolOutput } from './tools.js';

const V = '1.0.0';
const Nothing = Type.Undefined();

/** A request before its caller is known. */
export const Admission = Type.Object({
  ip: Type.String(),
  network: Type.String({ description: 'By what callers are counted: an IPv4 address, or the /64 around an IPv6 one, all of which one customer usually has' }),
  method: Type.String(),
  path: Type.String(),
  routeId: Type.String(),
  cost: Type.Number(),
  isLoopback: Type.Boolean(),
  isSecure: Type.Boolean({ description: 'It left its client over https, by the word of a trusted proxy' }),
  page: SendingPage,
  headers: Type.Record(Type.String(), Type.Union([Type.String(), Type.Undefined()])),
});
export type Admission = Plain<typeof Admission>;

export const HttpAdmit = defineVeto('http.admit', V, { policy: 'closed', budgetMs: 50, subject: Admission });
export const HttpAuthenticate = defineAsk('http.authenticate', V, { policy: 'closed', budgetMs: 2_000, subject: Admission, answer: Actor });
/** Whether a caller has a permission. Extensions with entry points other than routes call it too. */
export const HttpAuthorize = defineVeto('http.authorize', V, {
  policy: 'closed',
  budgetMs: 200,
  callable: true,
  subject: Type.Object({ actor: Actor, method: Type.String(), routeId: Type.String(), permission: Type.String() }),
});
export const SocketUpgrade = defineVeto('socket.upgrade', V, {
  policy: 'closed',
  budgetMs: 2_000,
  subject: Type.Object({
    actor: Actor,
    ip: Type.String(),
    routeId: Type.String(),
    openFromIp: Type.Integer({ description: 'Open sockets of the same network' }),
    openOfPerson: Type.Integer({ description: 'Open sockets of the same person' }),
  }),
});

const EarlierCall = Type.Object({ digest: Type.String(), status: Type.String(), missed: Type.Optional(Type.Boolean({ description: 'True where it reached no tool' })) });

/** A tool call that waits for decision. */
export const ToolRequest = Type.Object({
  tool: ToolFacts,
  args: Type.Record(Type.String(), Type.Unknown()),
  needs: Type.Array(Need, { description: 'The capabilities that this call needs' }),
  call: CallFacts,
  digest: Type.String({ description: "Hex SHA-256 of the tool's name and the canonical JSON of its arguments" }),
  earlier: Type.Array(EarlierCall, { description: 'Earlier calls of this run, oldest first: what loop guards count' }),
  isProvisional: Type.Optional(
    Type.Boolean({
      description: 'True while the call is not stored yet: after a crash now, the model answers anew. Store nothing about it: a call that is to be suspended is decided again once it is stored',
    }),
  ),
});
export type ToolRequest = Plain<typeof ToolRequest>;

/** A tap may remove tools; added tools are ignored. `capabilities` and `ownerId` are set if the list is for one agent. */
export const ToolList = definePipe('tool.list', V, {
  policy: 'closed',
  budgetMs: 500,
  callable: true,
  value: Type.Array(ToolFacts),
  context: Type.Object({ agentId: Type.String(), ownerId: Type.Optional(Type.String()), capabilities: Type.Optional(Capabilities) }),
});
/** What a call may use while it runs: a tap takes away what the owner's role may not grant. */
export const ToolGrants = definePipe('tool.grants', V, { policy: 'closed', budgetMs: 500, callable: true, value: Capabilities, context: Type.Object({ ownerId: Type.String() }) });
export const ToolBefore = defineVeto('tool.before', V, { policy: 'closed', budgetMs: 2_000, remote: true, callable: true, subject: ToolRequest });
/** A call that reaches no tool: there is none of its name, or its arguments cannot be used. It is refused whatever a tap says, with the reason of the tap where one has one. */
export const ToolMissed = defineVeto('tool.missed', V, {
  policy: 'closed',
  budgetMs: 2_000,
  callable: true,
  subject: Type.Object({ name: Type.String(), digest: Type.String(), reason: Type.String(), earlier: Type.Array(EarlierCall) }),
});
/** The last moment before the effect, for what was decided on may have changed meanwhile. A `suspend` is a refusal here: nothing waits any more. */
export const ToolStart = defineVeto('tool.start', V, { policy: 'closed', budgetMs: 2_000, callable: true, subject: ToolRequest });
export const ToolAfter = definePipe('tool.after', V, { policy: 'closed', budgetMs: 500, remote: true, callable: true, value: ToolOutput, context: ToolRequest });

/**
 * A tool is about to change files of a working folder, or has done so: what is needed to undo it is stored. Best effort: a listener
 * that fails or is late stops no call. `paths` is null for a program, which may change any file.
 */
export const CheckpointTake = defineStep('checkpoint.take', V, {
  policy: 'open',
  budgetMs: 10_000,
  callable: true,
  subject: Type.Object({
    moment: OneOf(['before', 'after']),
    folder: Type.String({ description: 'Absolute path of the working folder; it may not exist yet' }),
    paths: Nullable(Type.Array(Type.String(), { description: 'From the working folder' })),
    tool: Type.String(),
    call: CallFacts,
  }),
});

/** Asked by the secrets adapter alone. */
export const SecretResolve = defineAsk('secret.resolve', V, { policy: 'closed', budgetMs: 2_000, subject: Type.Object({ name: Type.String() }), answer: Type.Object({ value: Type.String() }) });
export const SecretChange = defineAsk('secret.change', V, {
  policy: 'closed',
  budgetMs: 5_000,
  subject: Type.Object({ op: OneOf(['put', 'delete', 'list']), name: Type.String(), value: Type.Optional(Type.String()) }),
  answer: Type.Object({ changed: Type.Boolean(), names: Type.Optional(Type.Array(Type.String())) }),
});

/**
 * An owner, an agent or a session goes, and with it what an area holds of it elsewhere than in its declared tables:
 * files, running work, what it keeps in memory. The kernel alone calls it (`ctx.purge`), perhaps more than once, and
 * before this generation is seen by anybody when the area was off meanwhile.
 */
export const StoragePurge = defineStep('storage.purge', V, {
  policy: 'closed',
  budgetMs: 30_000,
  remote: true,
  subject: PurgeSubject,
});
/** Rows of an agent or a session were put into the bin or came back from it (`ctx.trash`): what an area holds of them in memory is stale. */
export const StorageMoved = defineStep('storage.moved', V, {
  policy: 'open',
  budgetMs: 5_000,
  remote: true,
  subject: Type.Object({ agentId: Type.Optional(Type.String()), sessionId: Type.Optional(Type.String()) }),
});
/** A backup is about to read the folders of areas (`ctx.files`): an area writes to its own what it holds only in memory. The snapshot of the database follows. */
export const BackupCollect = defineStep('backup.collect', V, { policy: 'closed', budgetMs: 30_000, remote: true, subject: Type.Object({ cause: OneOf(['manual', 'scheduled']) }) });
/** The daemon has started with the data of a backup, and took up no work yet. Who refuses sends it back to the data of before. */
export const BackupRestore = defineStep('backup.restore', V, { policy: 'closed', budgetMs: 30_000, remote: true, subject: Type.Object({ filename: Type.String() }) });
export const KernelReady = defineStep('kernel.ready', V, { policy: 'open', budgetMs: 5_000, remote: true, subject: Nothing });

export const GreetingLine = Type.Object({
  label: Type.String({ description: 'One short word, e.g. `model`' }),
  value: Type.String(),
  note: Type.Optional(Type.String({ description: 'Why, or what to do; shown after the value, quieter' })),
});
export type GreetingLine = Plain<typeof GreetingLine>;
/** Lines for the person who starts the daemon in the foreground. */
export const KernelGreet = defineGather('kernel.greet', V, { policy: 'observe', budgetMs: 1_000, subject: Nothing, answer: Type.Array(GreetingLine) });

export const DoctorFinding = Type.Object({
  check: Type.String(),
  result: OneOf(['pass', 'warn', 'fail']),
  message: Type.String(),
  fix: Type.Optional(Type.String({ description: 'The command or setting that fixes it' })),
});
export type DoctorFinding = Plain<typeof DoctorFinding>;
export const DoctorCheck = defineGather('doctor.check', V, { policy: 'observe', budgetMs: 3_000, remote: true, callable: true, subject: Nothing, answer: Type.Array(DoctorFinding) });

export const Probe = Type.Object({ name: Type.String(), status: OneOf(['ok', 'warn', 'error']), detail: Type.Optional(Type.String()) });
export type Probe = Plain<typeof Probe>;
export const HealthProbe = defineGather('health.probe', V, { policy: 'observe', budgetMs: 3_000, remote: true, callable: true, subject: Nothing, answer: Probe });

const MetricHead = {
  name: Type.String(),
  help: Type.String({ description: 'For a person who reads it on a dashboard' }),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  personal: Type.Optional(Type.Boolean({ description: 'Mentions agents or people: shown only to owners and admins' })),
};
export const Histogram = Type.Object({
  ...MetricHead,
  type: Type.Literal('histogram'),
  buckets: Type.Array(Type.Object({ le: Type.Number(), count: Type.Number() }), { description: 'Rising upper ends, each with how many there were up to it' }),
  sum: Type.Number(),
  count: Type.Number(),
});
export type Histogram = Plain<typeof Histogram>;
export const Metric = Type.Union([Type.Object({ ...MetricHead, type: OneOf(['gauge', 'counter']), value: Type.Number() }), Histogram]);
export type Metric = Plain<typeof Metric>;
export const MetricsCollect = defineGather('metrics.collect', V, { policy: 'observe', budgetMs: 3_000, remote: true, callable: true, subject: Nothing, answer: Type.Array(Metric) });

/** Not `remote`: another process could say of a system that it is active. Tap it with `securityProbe`. */
export const SecurityReport = defineGather('security.report', V, { policy: 'observe', budgetMs: 3_000, callable: true, subject: Nothing, answer: SecurityFinding });

export const kernelHooks = [
  HttpAdmit,
  HttpAuthenticate,
  HttpAuthorize,
  SocketUpgrade,
  ToolList,
  ToolGrants,
  ToolBefore,
  ToolMissed,
  ToolStart,
  ToolAfter,
  CheckpointTake,
  SecretResolve,
  SecretChange,
  StoragePurge,
  StorageMoved,
  BackupCollect,
  BackupRestore,
  KernelReady,
  KernelGreet,
  DoctorCheck,
  HealthProbe,
  MetricsCollect,
  SecurityReport,
] as const;
