/** @svc/api: the only thing an extension imports at run time. What only the kernel, tools and tests need is in internal.ts. */

// The extension: its definition, and the context that its code gets.
export { defineExtension, type ExtensionSource } from './define-extension.js';
export { type ExtensionContext, type ExtensionDefinition, type ConfigHandle, type Timers, type Hold, type StopReason, NotReady, type DeclaredCapabilities } from './extension.js';
export type { Disposable } from './disposable.js';
export type { Logger, Clock, Ids } from './adapters.js';
export { Actor, type Actors, actorFrom, Role, seesAll } from './actor.js';

// Backups: what the grant `kernel:backup` shows.
export type { Backups, BackupState, BackupSummary, StagedRestore } from './backups.js';

// Errors: declared once, with status, text and what to do.
export { defineErrors, isSvcError, SvcError, type ErrorSpec, type ErrorTable } from './errors.js';

// Schemas: a value of TypeBox is validation, type and documentation in one.
export { Type, OneOf, Nullable, Uuid, UuidText, IdempotencyKey, ErrorBody, type Static, type TObject, type TSchema } from './schema/schema.js';
export {
  ABSOLUTE_PATH,
  anyOfFields,
  BACKUP_NAME,
  COMMIT_ID,
  DAY_OR_TIME,
  documented,
  NOT_BLANK,
  notAll,
  notBothFields,
  ONE_LINE,
  Refused,
  REQUEST_KEY,
  SETTING_PATH,
  type TextForm,
  textForm,
  TextOf,
  timeOfText,
  whereFits,
  wordForm,
} from './schema/text-forms.js';
export type { Schemas, Checked } from './schema/check.js';
export type { Plain } from './declare/plain.js';

// Routes and sockets: HTTP requests, answers, streams and files.
export {
  defineRoute,
  defineSocket,
  reply,
  bytes,
  stream,
  follow,
  waitFor,
  type Method,
  type Req,
  type Responses,
  type RouteDecl,
  type RouteReply,
  type RouteSpec,
  type MediaAnswer,
  type ErrorShape,
  type SocketDecl,
  type Connection,
} from './http/http.js';
export { routeGroup, type GroupedRoute } from './http/route-group.js';
export type { Headers, Reply, JsonReply, MediaReply, LateReply } from './http/reply.js';
export { sse } from './http/sse.js';
export { pageOf, PageQuery } from './http/pages.js';
export { sendFile, fileRev, servedErrors } from './http/http-file.js';
export { sendAsset } from './http/http-asset.js';

// Resources: what is listed, changed and acted on, with routes, commands and a page from one declaration. A collection is one with a table.
export { defineCollection, type Collection } from './resource/collection.js';
export { defineResource, type AnyResource, type Resource } from './resource/resource.js';
export { openCollection, openResource, type OpenCollection, type OpenResource } from './resource/open-resource.js';
export type { AnyResourceSpec, CollectionSpec, OperationSpec, ResourceSpec, UnderSpec, WhenGone } from './resource/spec.js';
export type { ActionSpec, ActionSpecs } from './resource/actions.js';
export type { ActionCall, ActionsOf, Call, DraftOf, ItemOf, SourceOf } from './resource/calls.js';
export { Field, FIELD_KINDS, Optionally, type DurationUnit, type FieldKind } from './resource/kinds.js';
export { itemOf, type Item, type Draft, type Change } from './resource/fields.js';
export type { CollectionRows, CollectionRules, ChangeOf, Beside, Ruled } from './resource/open-collection.js';
export { defineList, type ListDecl, type ListSpec, type ListQuery, type Found } from './resource/list.js';
export { readList, type ListSource } from './resource/read-list.js';
export type { ActionButton, CollectionView, ViewColumn, ViewWords } from './declare/collection-view.js';
export { ownedRows, type OwnedRows, type OwnedRowsSpec } from './http/owned-rows.js';

// Tables: migrations, reads and writes.
export { defineTable, createTables, type TableDecl, type RowOf } from './declare/table.js';
export {
  type Db,
  type Reader,
  type Row,
  type Scalar,
  type Where,
  type OrderBy,
  type Select,
  type Page,
  type Write,
  SealedWrites,
  type CommitResult,
  type Migration,
  type MigrationBuilder,
  type ColumnSpec,
  idGroups,
} from './storage.js';
export { cacheRows, readOneCached, type RowCache } from './row-cache.js';
export { createTurns, type Turns } from './turns.js';
export { PurgeSubject, type Purged } from './purge.js';
export type { Trash, TrashItem, TrashKind } from './trash.js';

// Services, events and hooks: what extensions do for each other and tell each other.
export {
  defineService,
  method,
  streamMethod,
  named,
  type Service,
  type ServiceDecl,
  type ServiceMethods,
  type MethodDecl,
  type StreamMethodDecl,
  type CallOptions,
  type CallControl,
  type OptionalHandle,
  type Services,
} from './declare/service.js';
export { defineEvent, type EventDecl, type LiveSpec, type Events, ConfigChanged, ExtensionChanged, AuthChanged, EventsGap, PageChanged } from './declare/event.js';
export {
  defineAsk,
  defineGather,
  definePipe,
  defineStep,
  defineVeto,
  type Hooks,
  type HookDecl,
  type HookHandle,
  type OwnHook,
  type AskHook,
  type GatherHook,
  type PipeHook,
  type StepHook,
  type VetoHook,
  type Verdict,
  type Gathered,
  type TapOf,
  type CallOf,
  type TapControl,
  type TapOptions,
  type Stage,
} from './declare/hook.js';
export { defineConfig, defineWork, defineWorker, type ConfigDecl, type WorkDecl, type WorkerDecl } from './declare/work.js';
export { atOnce, allKnown, isThenable, whenKnown, type AtOnce, type AtOnceService } from './at-once.js';

// Audit log: facts that are stored in the commit that they describe.
export { AuditRecorded, auditFact, toolCallNote, AUDIT_CATEGORIES, AuditCategory, type AuditFact, type AuditNote } from './declare/audit.js';

// Hooks of the kernel: requests, tools, secrets, health and reports.
export {
  HttpAdmit,
  HttpAuthenticate,
  HttpAuthorize,
  SocketUpgrade,
  Admission,
  ToolList,
  ToolStart,
  ToolGrants,
  ToolBefore,
  ToolMissed,
  ToolAfter,
  ToolRequest,
  CheckpointTake,
  SecretResolve,
  SecretChange,
  StorageMoved,
  StoragePurge,
  BackupCollect,
  BackupRestore,
  KernelReady,
  KernelGreet,
  GreetingLine,
  DoctorCheck,
  DoctorFinding,
  HealthProbe,
  Probe,
  MetricsCollect,
  Metric,
  Histogram,
  SecurityReport,
} from './kernel-hooks.js';
export { securityProbe, SecurityFinding, type SecurityLook, SecurityState } from './security.js';

// Durable work: runs and steps that continue after a restart.
export type {
  Journal,
  JournalRun,
  JournalStep,
  LeasedRun,
  DurableWorker,
  RunStatus,
  RunFilter,
  RunError,
  RunSubject,
  StepSpec,
  StepOutcome,
  FirstStep,
  Advance,
  Replay,
  Pools,
  RunCause,
  RunRoot,
} from './journal.js';
export { RUN_CAUSES } from './journal.js';

// Time: the intervals of charts.
export { timelineOf, intervalSql, startOf, TimelinePeriod, type Timeline, type TimelineInterval } from './timeline.js';

// Streams: numbered frames that a client can resume.
export {
  defineFrames,
  defineStreamProjection,
  defineAnswerProjection,
  type FramesDecl,
  type Frame,
  type FrameData,
  type FrameOf,
  type ProjectionDecl,
  type StreamProjection,
  type AnswerProjection,
} from './declare/frames.js';
export type { Streams } from './http/streams.js';

// Tools and capabilities: what agents can do, and what they are allowed to do.
export {
  defineTool,
  factsOf,
  needsOf,
  type AnyTool,
  type ToolDecl,
  type ToolCall,
  ToolOutput,
  Origin,
  TaintLabel,
  ToolStatus,
  ToolFacts,
  ToolPreview,
  FileChange,
  type ToolRisk,
  CallFacts,
  Capabilities,
  ExecLimits,
  Need,
  ToolFile,
  ToolSource,
} from './tools.js';
export { toolNames, type NamedTool } from './text/tool-names.js';
export {
  defineCapability,
  grantOf,
  needOf,
  coversGrant,
  coversName,
  patternFault,
  capabilityNameFault,
  CAPABILITY_NAME,
  type CapabilityDecl,
  type CapabilityOf,
  type FlagCapability,
  type ListCapability,
  type GrantForm,
  type GrantOf,
} from './declare/capability.js';
export { mayUseShell, parseCommandLine, type CommandLine } from './command-line.js';

// Commands: in a conversation and in the terminal.
export { defineSlashCommand, namesOfSlashCommand, type SlashCommand, type SlashCommandFacts, type SlashCall, SlashAnswer } from './slash-command.js';
export type { CommandDecl, CommandWordDecl, CommandColumn, CommandOutput, CommandSynonym, CompletionDecl } from './declare/command.js';

// Adapters: HTTP requests, programs, files and secrets.
export type {
  Egress,
  FetchInit,
  FetchPurpose,
  FetchResponse,
  ExecOptions,
  ExecResult,
  Files,
  FileRoot,
  Dir,
  DirEntry,
  ForeignDatabase,
  ForeignDir,
  ForeignValue,
  Assets,
  Secrets,
  Signature,
  HmacOptions,
  Workers,
} from './adapters.js';
export { FILE_ROOTS } from './adapters.js';
export type { Pty, PtyHandle, PtyOptions, PtyState, TerminalSize } from './adapters/pty.js';
export type { SpawnOptions, ChildHandle, ChildEnd, AgentReach, SandboxState } from './adapters/child.js';
export type { SecretRef } from './adapters/secret-ref.js';
export type { Tcp, TcpConnection, TcpListener } from './adapters/tcp.js';
export type { WebSocketConnection, WebSocketEnd, WebSocketOptions } from './adapters/web-socket.js';

// Text and small functions.
export { isTable, isTextTable, schemaAt, tableOf, splitUnknown, type UnknownKey, type JsonSchema } from './schema/schema-walk.js';
export { violations, didYouMean, type Finding } from './schema/document-check.js';
export { ARCHIVE_LIMITS, archivePolicy, inMegabytes, archivePathFault, type ArchiveEntry, type ArchiveLimits, type ArchiveRefusals } from './text/archive-rules.js';
export { cronFault, timeZoneFault } from './text/cron.js';
export { CHARS_PER_TOKEN, tokensOfChars } from './text/tokens.js';
export { nearest } from './text/nearest.js';
export { KEY_BEGINNING } from './text/known-keys.js';
export { matchesPattern, matchesAny } from './text/pattern.js';
export { scanToml, lineOfPath } from './text/toml-lines.js';
export { UNSEEN } from './text/unseen.js';
export { parsedUrl } from './text/url.js';
export { decodeText, encodeText, encodingOf, type TextEncodingName } from './text/encoding.js';
export { isUuid, uuidOfDigest, uuidOfHex } from './text/uuid.js';
export { wordsOf, wordsAsked, wordList, foldedText } from './text/words.js';
export { coversHost, isHostGranted, isPrivatePattern, targetOf } from './manifest/host-pattern.js';

// Administration: for extensions with the grant `kernel`, which manage svc itself.
export type { KernelView, ReplicasView, ToolsView, LogView, LoggedLine } from './extension.js';
export type { ExtensionStatus, ExtensionPlan } from './extension-status.js';
export type { InstallRequest, InstallOptions, InstallProgress, UpgradeRequest, PackageOffer } from './installation.js';
export type { SettingsView, SettingsApplied, SettingChanged } from './settings.js';
export { GRANT_KINDS, parseGrant } from './manifest/grants.js';
export { PANEL_HUBS, type PanelView } from './manifest/panel.js';
export { textThatIsSet, isKeyHash, holdsCallerKey } from './manifest/api-keys.js';
