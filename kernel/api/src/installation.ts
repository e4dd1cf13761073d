/** Installing, upgrading and removing extensions of others while the daemon runs, as the admin area asks for it. */
import type { ExtensionStatus } from './extension-status.js';

export interface InstallRequest {
  /** `npm:name@range`, a path or https address of a .tgz with `#sha256=`, `git+https://…#ref`, a folder, or the id of a configured index. */
  readonly source: string;
  /** The permissions that a person agreed to. If some are missing, nothing is installed (`install_needs_consent`). */
  readonly grants?: readonly string[] | 'all';
  /** Of the package that the person was shown: another one is refused. */
  readonly digest?: string;
  /** The key that signed it is trusted for this extension from now on. */
  readonly trustKey?: boolean;
  /** False where nobody saw what the package is: then also one that asks for nothing waits for consent. Default true. */
  readonly isShown?: boolean;
  /** Starts it. */
  readonly enable?: boolean;
  /** Uses the folder in place, for development. */
  readonly link?: boolean;
}

export interface UpgradeRequest extends Omit<InstallRequest, 'source' | 'link' | 'enable' | 'isShown'> {
  /** Default: where it came from. */
  readonly source?: string;
  /** An older version is taken too; without it one is refused (`install_downgrade`). */
  readonly downgrade?: boolean;
  /** Tells what would change, and changes nothing. */
  readonly dryRun?: boolean;
}

/** A step of an installation. `done` and `total` are bytes; `total` is left out where it is not known. */
export interface InstallProgress {
  readonly step: string;
  readonly what?: string;
  readonly done?: number;
  readonly total?: number;
}

export interface InstallOptions {
  onProgress?(progress: InstallProgress): void;
  readonly signal?: AbortSignal;
}

/** What to know before you agree. */
export interface PackageOffer {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly digest: string;
  readonly source: string;
  readonly trust: 'signed' | 'unsigned' | 'linked';
  readonly key: { readonly id: string; readonly public: string; readonly name: string; readonly standing: 'known' | 'handed-on' | 'unknown' } | null;
  readonly isolation: 'isolated' | 'walled';
  /** Who or what decided that, as a sentence without its full stop. */
  readonly isolation_why: string;
  /** What isolation can't block, one sentence each. */
  readonly not_kept: readonly string[];
  readonly grants: ReadonlyArray<{ readonly grant: string; readonly what: string; readonly why: string; readonly optional: boolean; readonly new: boolean }>;
  readonly replaces: { readonly version: string; readonly digest: string } | null;
}

export interface Upgraded {
  /** `same`: there is nothing newer. `offered`: nothing was changed, as `dryRun` asked. */
  readonly outcome: 'upgraded' | 'same' | 'offered';
  readonly offer: PackageOffer;
  readonly extension: ExtensionStatus;
}

/** An installed extension that does not run, and never will as it is. */
export interface RefusedExtension {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

export interface KeptVersion {
  readonly version: string;
  readonly digest: string;
  readonly installedAt: string;
}

/** What came of trying to get out of one isolation, with the process that extensions get. */
export interface IsolationReport {
  readonly isolation: 'isolated' | 'walled';
  /** Why it does not work on this machine; null where it does. */
  readonly fault: string | null;
  /** `not sure`: nothing in plain sight, and no wall of the system that keeps it so. */
  readonly proofs: ReadonlyArray<{ readonly what: string; readonly outcome: 'kept' | 'not sure' | 'open'; readonly saw: string }>;
}

export interface TrustedPublisher {
  readonly keyId: string;
  readonly name: string;
  /** Ids that belong to this key. */
  readonly extensions: readonly string[];
  readonly isolation: 'isolated' | 'walled' | null;
  /** trust.toml asks for `in-process`, which no longer exists: what it signs runs as if nothing was said. */
  readonly wasInProcess: boolean;
  readonly revoked: string | null;
}

/** Part of `ctx.kernel`. Everything rejects with errors of the table `install_…`. */
export interface Installation {
  install(request: InstallRequest, options?: InstallOptions): Promise<ExtensionStatus>;
  /** Whatever fails, the version of before serves on, with its rows. */
  upgrade(id: string, request: UpgradeRequest, options?: InstallOptions): Promise<Upgraded>;
  /** To the version before; two are kept. */
  rollback(id: string): Promise<ExtensionStatus>;
  /** `purge` takes its tables, files and secrets along. */
  uninstall(id: string, options: { readonly purge: boolean }): Promise<void>;
  /** Newest first; undefined if it is not installed. */
  previous(id: string): readonly KeptVersion[] | undefined;
  /** An upgrade that waits for somebody to agree to these. */
  waiting(id: string): { readonly version: string; readonly newGrants: readonly string[] } | undefined;
  refused(): readonly RefusedExtension[];
  publishers(): readonly TrustedPublisher[];
  /** Tries to escape from each isolation. Takes a second or so. */
  prove(): Promise<readonly IsolationReport[]>;
}
