/** @svc/daemon: composes and runs a daemon. */
export type { InstalledFiles } from '@svc/core';
export type { ThirdParty } from '@svc/third-party';
export { type BootOptions, bootDaemon, type Daemon } from './boot.js';
export { type PartFactories, standardFactories } from './boot/part-factories.js';
export { restoreDaemon } from './backup/restore-daemon.js';
export type { Release } from './release.js';
