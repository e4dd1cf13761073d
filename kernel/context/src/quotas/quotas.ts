/**
 * What each third-party extension may store: files (data and cache), rows, secrets, and how often it may publish.
 *
 * Q1  The limits are settings, read with each use: `[extensions] quota_files_mb`, `quota_rows_mb`, and `[extensions.quotas.<id>]` for one.
 * Q2  Areas that come with the daemon have none.
 * Q3  What is counted is what is there: after a restart, and after somebody else took files away, the figure is right again.
 */
import type { Clock, Dir } from '@svc/api';
import type { ExtensionStorage } from '@svc/api/internal';
import { settingsOf } from '@svc/platform/config/kernel-sections';
import type { TableOwner } from '@svc/platform/storage/contract/table-names';
import { contextErrors } from '../errors.js';
import { sizeOf } from './counted-dir.js';
import { Meter } from './meter.js';

const MB = 1_048_576;

export interface QuotaDeps {
  readonly config: { get(section: string): unknown };
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
  /** Its folders, opened anew. */
  folders(id: string): readonly Dir[];
  rowBytes(owner: TableOwner): Promise<number>;
}

export interface Quota {
  readonly files: Meter;
  readonly rows: Meter;
}

export interface Quotas {
  /** One for all generations of an extension. */
  of(owner: TableOwner): Quota;
  /** Undefined where nothing is limited. */
  stored(id: string): ExtensionStorage | undefined;
}

export const createQuotas = (deps: QuotaDeps): Quotas => {
  const all = new Map<string, Quota>();
  return {
    of: (owner) => {
      const known = all.get(owner.id) ?? quotaOf(deps, owner);
      all.set(owner.id, known);
      // While it was off, somebody may have purged it or put its files back from a backup.
      known.files.changed();
      known.rows.changed();
      return known;
    },
    stored: (id) => {
      const quota = all.get(id);
      return quota && { filesBytes: quota.files.used ?? null, filesLimit: quota.files.limit, rowsBytes: quota.rows.used ?? null, rowsLimit: quota.rows.limit };
    },
  };
};

const quotaOf = ({ clock, config, folders, rowBytes }: QuotaDeps, owner: TableOwner): Quota => {
  const { id } = owner;
  const limits = (): { files: number; rows: number } => {
    const { quota_files_mb, quota_rows_mb, quotas } = settingsOf(config, 'extensions');
    const own = Object.hasOwn(quotas, id) ? quotas[id] : undefined;
    return { files: (own?.files_mb ?? quota_files_mb) * MB, rows: (own?.rows_mb ?? quota_rows_mb) * MB };
  };
  return {
    files: new Meter({
      clock,
      isIndexed: false,
      limit: () => limits().files,
      measure: () => sizeOf(folders(id)),
      refuse: (used, limit) => contextErrors.quota_files(id, used, limit),
    }),
    rows: new Meter({
      clock,
      isIndexed: true,
      limit: () => limits().rows,
      measure: async () => ({ bytes: await rowBytes(owner), unfinished: 0 }),
      refuse: (used, limit) => contextErrors.quota_rows(id, used, limit),
    }),
  };
};
