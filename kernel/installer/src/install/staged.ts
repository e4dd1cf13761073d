/** A package that was fetched and validated, and of which nothing is visible yet. */
import type { Manifest } from '@svc/api/internal';
import type { AllContributions } from '../contributions.js';
import type { PackageIdentity } from '../package/read-package.js';
import type { Isolation } from '../signing/trust.js';
import type { InstalledRecord, PackageRecord } from '../store/records.js';
import { type AskedGrant, notKept } from './consent.js';

export interface StagedKey {
  readonly keyId: string;
  readonly publicKey: string;
  /** `unknown`: somebody has to say that it is trusted. `handed-on`: an earlier key of the extension vouches for it. */
  readonly standing: 'known' | 'handed-on' | 'unknown';
  /** As trust.toml calls its owner; empty where nobody named it. */
  readonly name: string;
}

export interface Staged {
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  /** As the person wrote it, without secrets. */
  readonly source: string;
  readonly package: PackageIdentity;
  readonly manifest: Manifest;
  readonly contributions: AllContributions;
  /** The folder of the package. */
  readonly dir: string;
  /** What goes when it is committed or discarded; undefined for a package that lies in the store already. */
  readonly stage: string | undefined;
  readonly trust: PackageRecord['trust'];
  /** Undefined for what is not signed. */
  readonly key: StagedKey | undefined;
  readonly isolation: Isolation;
  readonly isolationWhy: string;
  readonly grants: readonly AskedGrant[];
  /** The version that it takes the place of. */
  readonly replaces: InstalledRecord | undefined;
}

/** What to know before you agree, as data. */
export const consentFor = (staged: Staged) => ({
  id: staged.id,
  version: staged.version,
  description: staged.package.description,
  digest: staged.digest,
  source: staged.source,
  trust: staged.trust,
  key: staged.key ? { id: staged.key.keyId, public: staged.key.publicKey, name: staged.key.name, standing: staged.key.standing } : null,
  isolation: staged.isolation,
  isolation_why: staged.isolationWhy,
  not_kept: notKept(staged.isolation),
  grants: staged.grants.map(({ isNew, ...grant }) => ({ ...grant, new: isNew })),
  replaces: staged.replaces ? { version: staged.replaces.version, digest: staged.replaces.digest } : null,
});
export type Consent = ReturnType<typeof consentFor>;
