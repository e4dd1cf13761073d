/** @svc/daemon: composes and runs a daemon. */
export { type BootOptions, bootDaemon, type Daemon } from './boot.js';
export { type PartFactories, standardFactories } from './platform-parts.js';
export type { InstalledFiles, Release } from './process/release.js';
export type { ThirdParty } from './third-party/third-party.js';
export { API_VERSION } from './wiring.js';
