/** @svc/testing: a kernel for tests. */
export * from './contract-suite.js';
export { contractWorlds } from './contract-worlds.js';
export * from './fixture-area.js';
export * from './fixture-extension.js';
export * from './postgres/engines.js';
export * from './rough-bus.js';
export * from './small-disk.js';
export * from './third-party.js';
export * from './test-http.js';
export * from './test-kernel.js';
export * from './release-file.js';
