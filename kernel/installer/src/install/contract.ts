/** What an installer is told, and what it does. */
import type { Progress } from '../sources/fetching.js';
import type { TrustedKey } from '../signing/trust.js';
import type { InstalledRecord } from '../store/records.js';
import type { Refused, StoredPackage } from './validate-at-boot.js';
import type { Policy } from './validate-package.js';
import type { Candidate, Neighbour } from './validate-place.js';
import type { Staged } from './staged.js';

export interface InstallerOptions {
  /** Of the store: `<data>/extensions`. */
  readonly dir: string;
  readonly apiVersion: string;
  /** All that is installed now, what comes with the daemon included. */
  installed(): readonly Neighbour[];
  policy(): Policy;
  readonly clock: { iso(): string };
  /** What of it cannot be had in a process of its own, one sentence each. */
  isolationFaults?(candidate: Candidate): readonly string[];
}

export interface StageOptions {
  /** Uses the folder in place, for development. */
  readonly link?: boolean;
  /** `new`: it must not be installed yet; an id: it must be that one. */
  readonly expect?: 'new' | { readonly id: string };
  onProgress?(progress: Progress): void;
  readonly signal?: AbortSignal;
}

export interface GivenConsent {
  /** Of the package that the person was shown: another one is refused. */
  readonly digest?: string;
  readonly grants: readonly string[] | 'all';
  /** The key is trusted for this extension from now on. */
  readonly trustKey?: boolean;
  /** Whether a person saw what they agree to. False keeps out also what asks for nothing. Default true. */
  readonly isShown?: boolean;
}

export interface Installer {
  /** Fetched and validated; rejects with the named error of the first check that fails, and leaves nothing then. */
  stage(source: string, options?: StageOptions): Promise<Staged>;
  /** The upgrade that waits for consent, validated anew. Rejects with `install_none_pending`. */
  stagePending(id: string): Promise<Staged>;
  /** Rejects with `install_needs_consent` (an upgrade is kept as pending then), `install_unknown_key`, `install_changed` or `install_busy`. */
  commit(staged: Staged, consent: GivenConsent): Promise<InstalledRecord>;
  discard(staged: Staged): Promise<void>;
  /** As last read or written. */
  records(): readonly InstalledRecord[];
  validateAtBoot(): Promise<{ readonly usable: readonly StoredPackage[]; readonly refused: readonly Refused[] }>;
  /** What a record names, validated as at a start. */
  stored(id: string): Promise<StoredPackage>;
  /** Whether the files of a record are those that were installed; answers with the SHA-256 of its bundle. Rejects with `install_modified`, `install_revoked` and the like. */
  verify(record: InstalledRecord): Promise<string>;
  /** To the version before. Rejects with `install_none_before`, `install_modified`, `install_revoked` and the like. */
  rollback(id: string): Promise<InstalledRecord>;
  /** `purge` forgets also which key it belonged to. */
  remove(id: string, options: { readonly purge: boolean }): Promise<void>;
  /** The daemon begins to run a version that took the place of another. From here on a daemon that ends finds that out. */
  beginTrial(id: string): Promise<void>;
  /** It runs: it counts. */
  confirmTrial(id: string): Promise<void>;
  /** Makes the version of before the installed one again. */
  undoTrial(id: string): Promise<void>;
  /** Puts an earlier record back, when the daemon could not run the new one. */
  restore(record: InstalledRecord): Promise<void>;
  keys(): readonly TrustedKey[];
  /** Changes trust.toml. */
  trust(change: (keys: readonly TrustedKey[]) => readonly TrustedKey[]): Promise<void>;
}
