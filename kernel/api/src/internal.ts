/** @svc/api/internal: what of the API only packages of the kernel, tools and tests use. No bundle of an extension can load it, and it may change with any build. */

// Actors.
export { actorOf, systemActor, ownerScope } from './actor.js';

// The manifest and contributions of an extension, as the installer, the build and the daemon read them.
export { Manifest, type Contributions } from './manifest/manifest.js';
export { MANIFEST_VERSION, inNewestForm } from './manifest/manifest-versions.js';
export { DEPRECATIONS } from './manifest/deprecations.js';
export { API_VERSION } from './manifest/api-version.js';
export { GRANT_PATTERN, type Grant, type GrantName, grantFaults, grantOfHook, grantsOf, isGranted } from './manifest/grants.js';
export { isAddressGranted } from './manifest/host-pattern.js';
export { pathFault } from './manifest/own-paths.js';
export { type FrameRoute, Panel } from './manifest/panel.js';
export { marksCallerKey } from './manifest/api-keys.js';
export { faultOfSlashCommand } from './slash-command.js';
export { isCapability } from './declare/capability.js';

// Declarations, taken apart.
export { type Declared, declaredAs, majorOf, frozen } from './declare/plain.js';
export { type AnyMethodDecl, isOptional } from './declare/service.js';
export type { HookKind, HookPolicy } from './declare/hook.js';
export type { AnswerCode, StreamCode } from './declare/frames.js';
export { kernelHooks } from './kernel-hooks.js';
export { collectionErrors } from './resource/errors.js';
export { AT_ONCE } from './at-once.js';

// What the kernel hands out, in its parts.
export type { KernelFacts, OpenApiParts } from './extension.js';
export type { ExtensionOrigin, ExtensionProcess, ExtensionStorage } from './extension-status.js';
export type { Installation, IsolationReport, RefusedExtension } from './installation.js';
export type { SettingShown, SettingsShown } from './settings.js';
export { type Bounds, MIGRATION_STEPS, type TextSearch } from './storage.js';
export type { Finish, OnceRequest, OpenRun, OpenedRun, RunInterval, RunSummary, WorkOptions } from './journal.js';
export type { AuthRule } from './http/http.js';
export { SendingPage } from './http/sending-page.js';
export type { FrameStream, TopicHere, TopicOptions, TopicState } from './http/streams.js';
export type { SandboxMount } from './adapters/child.js';
export type { DialOptions, ListenOptions } from './adapters/tcp.js';

// Schemas and texts.
export { schemaOf, withDefaults } from './schema/schema-walk.js';
export { labelOf } from './schema/document-check.js';
export { type InlineMember, type TomlEntry, inlineMembers } from './text/toml-lines.js';
export { isWord } from './text/words.js';
