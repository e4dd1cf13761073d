/** What is shown of an extension, and of a change before it happens. */

/** Only for installed extensions. */
export interface ExtensionOrigin {
  /** As the person named it who installed it; without secrets. */
  readonly source: string;
  /** The key that signed it, by its first 16 hex digits, and whom the operator knows it as; null where nobody signed. */
  readonly publisher: { readonly keyId: string; readonly name: string | null } | null;
  readonly trust: 'signed' | 'unsigned' | 'linked';
  readonly isolation: 'isolated' | 'walled';
  /** Who or what decided that, as a sentence without its full stop. */
  readonly isolationWhy?: string;
  readonly installedAt: string;
}

/** The process of an isolated extension, while there is one. */
export interface ExtensionProcess {
  readonly pid: number | null;
  readonly memoryBytes: number | null;
  /** Crashes within ten minutes. */
  readonly crashes: number;
}

/** What a third-party extension has stored, in bytes; null until it was measured. */
export interface ExtensionStorage {
  /** In its data and cache folders, by blocks of 4 KiB. */
  readonly filesBytes: number | null;
  readonly filesLimit: number;
  /** In its tables and their indexes. */
  readonly rowsBytes: number | null;
  readonly rowsLimit: number;
}

/** What the admin area and `doctor` may ask and order of the kernel. Plain data in and out. */
export interface ExtensionStatus {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly bundled: boolean;
  /** Null for what came with the daemon. */
  readonly origin: ExtensionOrigin | null;
  /** Null for code that runs in the process of the daemon. */
  readonly process: ExtensionProcess | null;
  /** Null for built-in extensions and inactive ones. */
  readonly stored: ExtensionStorage | null;
  readonly state: 'inactive' | 'starting' | 'active' | 'stopping' | 'pending' | 'failed' | 'quarantined';
  readonly degraded: boolean;
  readonly phase: string | null;
  readonly reason: string | null;
  readonly recoverable: boolean;
  readonly generation: number;
  readonly essential: boolean;
  /** What decides whether it should be on. */
  readonly intent: { readonly enabled: boolean; readonly decidedBy: 'choice' | 'config' | 'preset' };
  readonly provides: Readonly<Record<string, string>>;
  readonly requires: readonly string[];
  readonly optional: readonly string[];
  /** What it may do, and why it wants that. */
  readonly grants: ReadonlyArray<{ readonly grant: string; readonly why: string }>;
  readonly contributes: Readonly<Record<string, readonly string[]>>;
  readonly holds: readonly string[];
  readonly strikes: number;
  readonly leaks: readonly string[];
  readonly startedAt: string | null;
  readonly startMs: number | null;
}

export interface ExtensionPlan {
  readonly id: string;
  readonly action: 'enable' | 'disable' | 'reset' | 'reload';
  readonly starts: readonly string[];
  readonly stops: readonly string[];
  readonly degrades: readonly string[];
  /** Set when a person should confirm: what becomes unsafe or unreachable. */
  readonly warning: string | null;
  /** How to undo it when something stops, in words that a person can follow even where the API no longer answers. */
  readonly back: string | null;
}
