/** From a source to an installed extension, in files alone. */
export { agreedGrants, type AskedGrant, askedGrants, notKept } from './consent.js';
export type { GivenConsent, Installer, InstallerOptions, StageOptions } from './contract.js';
export { createInstaller } from './installer.js';
export type { Refused, StoredPackage } from './validate-at-boot.js';
export type { Policy } from './validate-package.js';
export type { Candidate, Neighbour } from './validate-place.js';
export { installFrom, upgradeFrom } from './one-step.js';
export { type Consent, consentFor, type Staged, type StagedKey } from './staged.js';
export { installErrors } from '../errors.js';
export type { Progress } from '../sources/fetching.js';
export { withoutSecrets } from '../sources/source.js';
export { type InstalledRecord, type PackageRecord, type PendingRecord, readStoreFiles, writeTrust } from '../store/records.js';
