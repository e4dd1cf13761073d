/** @svc/daemon: composes and runs a daemon. */
export { API_VERSION, type BootOptions, bootDaemon, type Daemon } from './boot.js';
export { type PartFactories, standardFactories } from './platform-parts.js';
export type { InstalledFiles, Release } from './release.js';
