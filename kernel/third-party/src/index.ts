/** @svc/third-party: third-party extensions of a running daemon. */
export type { InstallationParts } from './installation.js';
export { type OpenThirdParties, openThirdParties, watchTrust } from './open-third-party.js';
export type { ThirdParties, ThirdParty } from './third-party.js';
