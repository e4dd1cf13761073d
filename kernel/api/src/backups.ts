/** Backups of the home folder, as an area with the grant `kernel:backups` has them. */

export interface BackupSummary {
  readonly filename: string;
  /** Absolute. */
  readonly path: string;
  readonly sizeBytes: number;
  /** ISO 8601. */
  readonly modifiedAt: string;
  /** ISO 8601: when the snapshot of the database began. The time of the file where the manifest cannot be read. */
  readonly createdAt: string;
  readonly components: readonly string[];
  /** Null where the manifest cannot be read. */
  readonly svcVersion: string | null;
  /** Why it cannot be restored; null where its manifest can be read. */
  readonly problem: string | null;
}

export interface BackupState {
  /** What runs now; null when nothing does. */
  readonly running: { readonly kind: 'backup' | 'restore'; readonly step: 'database' | 'files' | 'writing' | 'validating'; readonly startedAt: string } | null;
  readonly lastRestore: {
    readonly filename: string;
    readonly status: 'restored' | 'reverted';
    readonly at: string;
    readonly reason: string | null;
    readonly safetyBackup: string | null;
  } | null;
}

export interface StagedRestore {
  readonly files: number;
  readonly manifest: { readonly version: number; readonly created_at: string; readonly hostname: string; readonly svc_version: string; readonly components: readonly string[] };
}

export interface Backups {
  /** Of all that was committed when it began. Rejects with the errors `backup_…` of the kernel: busy, no_space, unwritable, upgrade_open. */
  create(cause: 'manual' | 'scheduled'): Promise<BackupSummary>;
  /** Newest first. */
  list(): Promise<BackupSummary[]>;
  /** Rejects with `backup_bad_name` and `backup_not_found`. */
  remove(filename: string): Promise<void>;
  /**
   * Validates the archive and unpacks it beside the home. When this resolves the daemon is about to stop; it starts again with
   * the restored data, or with that of before if it does not start. `actorId` is noted in the audit trail of the restored data.
   */
  restore(filename: string, actorId: string): Promise<StagedRestore>;
  state(): Promise<BackupState>;
}
