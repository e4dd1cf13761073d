/** Installing and upgrading in one step, as a person asks for it: what is fetched is taken, or nothing of it is left. */
import lt from 'semver/functions/lt.js';
import { installErrors } from '../errors.js';
import type { InstalledRecord } from '../store/records.js';
import type { GivenConsent, Installer, StageOptions } from './contract.js';
import { type Consent, consentFor, type Staged } from './staged.js';

/** Rejects with what `stage` and `commit` reject with. */
export const installFrom = async (installer: Installer, source: string, consent: GivenConsent, options: Omit<StageOptions, 'expect'>): Promise<InstalledRecord> =>
  taken(installer, await installer.stage(source, { ...options, expect: 'new' }), consent);

export interface UpgradeAsked {
  /** Default: where it came from. */
  readonly source?: string | undefined;
  /** An older version is taken too. */
  readonly downgrade?: boolean | undefined;
  /** Tells what would change, and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface FilesUpgraded {
  /** `same`: there is nothing newer. `offered`: nothing was changed, as `dryRun` asked. */
  readonly outcome: 'upgraded' | 'same' | 'offered';
  readonly offer: Consent;
  readonly before: InstalledRecord | undefined;
  /** The version that is there now. */
  readonly version: string;
}

/** The upgrade that was shown and waits is taken as it was shown. Rejects with what `stage` and `commit` reject with. */
export const upgradeFrom = async (
  installer: Installer,
  id: string,
  { downgrade, dryRun, source }: UpgradeAsked,
  consent: GivenConsent,
  options: Omit<StageOptions, 'expect'>,
): Promise<FilesUpgraded> => {
  const before = installer.records().find((one) => one.id === id);
  const isPending = before?.pending !== undefined && source === undefined && consent.digest === before.pending.digest;
  const staged = isPending ? await installer.stagePending(id) : await installer.stage(source ?? before?.source ?? id, { ...options, expect: { id } });
  const reported = { offer: consentFor(staged), before };
  if (staged.digest === before?.digest || dryRun === true) {
    await installer.discard(staged);
    return { ...reported, outcome: staged.digest === before?.digest ? 'same' : 'offered', version: before?.version ?? staged.version };
  }
  if (before && downgrade !== true && lt(staged.version, before.version)) {
    await installer.discard(staged);
    throw installErrors.downgrade(id, before.version, staged.version);
  }
  await taken(installer, staged, consent);
  return { ...reported, outcome: 'upgraded', version: staged.version };
};

const taken = async (installer: Installer, staged: Staged, consent: GivenConsent): Promise<InstalledRecord> => {
  try {
    return await installer.commit(staged, consent);
  } catch (error) {
    await installer.discard(staged);
    throw error;
  }
};
